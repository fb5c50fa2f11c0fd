#include "models/fleet/checkpoint_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/base/counter_random.h"

namespace models::fleet {
namespace {

/// 1 + W0(-exp(-1 - x)) for x >= 0: the root u of u = 1 - exp(-(x + u)) in [0, 1), which is what 1 + W0 solves.
/// Newton's rule comes from above, where the function is convex and rising, so that it never steps across the root.
double one_plus_lambert(double x) {
  if (!(x > 0)) return 0;
  double u = 1;
  for (int step = 0; step < 100; ++step) {
    const double fails = -std::expm1(-(x + u));
    const double next = u - (u - fails) / fails;
    if (!(next < u)) return u;
    u = next;
  }
  return u;
}

}  // namespace

double young_interval_s(const RunReliability& run) { return std::sqrt(2 * run.save_s * run.mtbf_s); }

double daly_first_interval_s(const RunReliability& run) { return std::max(0.0, young_interval_s(run) - run.save_s); }

double daly_higher_interval_s(const RunReliability& run) {
  const double part = run.save_s / (2 * run.mtbf_s);
  if (part >= 1) return run.mtbf_s;
  return young_interval_s(run) * (1 + std::sqrt(part) / 3 + part / 9) - run.save_s;
}

double exact_interval_s(const RunReliability& run) { return run.mtbf_s * one_plus_lambert(run.save_s / run.mtbf_s); }

double expected_segment_s(const RunReliability& run, double interval_s) {
  return run.mtbf_s * std::exp(run.restart_s / run.mtbf_s) * std::expm1((interval_s + run.save_s) / run.mtbf_s);
}

double checkpoint_efficiency(const RunReliability& run, double interval_s) {
  if (interval_s > 0) return interval_s / expected_segment_s(run, interval_s);
  // Without a pause between saves all of the clock goes to saves, unless they are free.
  return run.save_s > 0 ? 0 : std::exp(-run.restart_s / run.mtbf_s);
}

double first_order_waste(const RunReliability& run, double interval_s) {
  return run.save_s / interval_s + (interval_s / 2 + run.restart_s) / run.mtbf_s;
}

double mean_lost_work_s(double interval_s, double mtbf_s) {
  return interval_s * (1 / -std::expm1(interval_s / mtbf_s) + mtbf_s / interval_s);
}

ClockShares clock_shares(const RunReliability& run, double interval_s) {
  const double segment = expected_segment_s(run, interval_s);
  if (!(segment > 0) || !std::isfinite(segment)) return {.redone = 1};
  // Attempts at a segment last M (exp((T + C) / M) - 1) in all; what is neither its work nor its save was undone.
  const double attempts = run.mtbf_s * std::expm1((interval_s + run.save_s) / run.mtbf_s);
  ClockShares shares{.kept = interval_s / segment, .saving = run.save_s / segment};
  shares.redone = std::max(0.0, (attempts - interval_s - run.save_s) / segment);
  shares.restarting = std::max(0.0, (segment - attempts) / segment);
  return shares;
}

std::vector<double> failure_times_s(double mtbf_s, double until_s, std::int64_t seed) {
  constexpr std::size_t max_failures = 100'000;
  std::vector<double> times;
  const std::uint64_t stream = random_stream(seed, 0);
  double now = 0;
  while (times.size() < max_failures) {
    now -= mtbf_s * std::log(open_draw(stream, times.size()));
    if (!(now < until_s)) break;
    times.push_back(now);
  }
  return times;
}

namespace {

/// A run on the clock, one stretch after the other.
class Played {
 public:
  Played(const RunReliability& run, double interval_s, double until_s)
      : run_(run), interval_s_(interval_s), until_s_(until_s) {}

  /// Whole cycles of work and save, all before `stop_s`, as one stretch.
  void join_cycles(double stop_s) {
    const double cycle = interval_s_ + run_.save_s;
    const double whole = std::floor((std::min(stop_s, until_s_) - now_) / cycle) - 1;
    if (doing_ != RunStretch::Kind::work || work_ != saved_ || !(whole >= 2)) return;
    out_.stretches.push_back(
        {RunStretch::Kind::cycles, now_, now_ + whole * cycle, work_, work_ + whole * interval_s_});
    out_.saving_s += whole * run_.save_s;
    now_ += whole * cycle;
    work_ += whole * interval_s_;
    saved_ = work_;
  }

  /// One stretch, cut short by a failure at `failure_s` or by the end. True where the failure struck.
  bool step(double failure_s) {
    const double lasts = doing_ == RunStretch::Kind::work   ? saved_ + interval_s_ - work_
                         : doing_ == RunStretch::Kind::save ? run_.save_s
                                                            : run_.restart_s;
    const double full = now_ + lasts, end = std::min({full, failure_s, until_s_});
    const double done = doing_ == RunStretch::Kind::work ? end - now_ : 0;
    if (end > now_) out_.stretches.push_back({doing_, now_, end, work_, work_ + done});
    if (doing_ == RunStretch::Kind::save) out_.saving_s += end - now_;
    if (doing_ == RunStretch::Kind::restart) out_.restarting_s += end - now_;
    work_ += done;
    now_ = end;
    const bool struck = failure_s <= end && failure_s < until_s_;
    if (struck) {
      out_.failures.push_back({now_, work_, saved_, doing_ == RunStretch::Kind::restart});
      out_.redone_s += work_ - saved_;
      work_ = saved_;
      doing_ = RunStretch::Kind::restart;
    } else if (end >= full) {
      const bool to_save = doing_ == RunStretch::Kind::work && run_.save_s > 0;
      if (doing_ == RunStretch::Kind::save || (doing_ == RunStretch::Kind::work && !to_save)) saved_ = work_;
      doing_ = to_save ? RunStretch::Kind::save : RunStretch::Kind::work;
    }
    return struck;
  }

  double now_s() const { return now_; }
  std::size_t stretches() const { return out_.stretches.size(); }
  SimulatedRun finish() {
    out_.end_s = now_;
    out_.kept_s = work_;
    return std::move(out_);
  }

 private:
  const RunReliability& run_;
  double interval_s_, until_s_;
  double now_ = 0, work_ = 0, saved_ = 0;
  RunStretch::Kind doing_ = RunStretch::Kind::work;
  SimulatedRun out_;
};

}  // namespace

SimulatedRun simulate_run(const RunReliability& run, double interval_s, std::span<const double> failures_s,
                          double until_s, bool join_cycles, std::size_t max_stretches) {
  if (!(interval_s > 0)) return {};
  Played played(run, interval_s, until_s);
  std::size_t next = 0;
  while (played.now_s() < until_s && played.stretches() < max_stretches) {
    const double failure = next < failures_s.size() ? failures_s[next] : std::numeric_limits<double>::infinity();
    if (join_cycles) played.join_cycles(failure);
    if (played.step(failure)) ++next;
  }
  return played.finish();
}

double effective_time_ratio(double failures_per_s, double restart_s, double save_s, double interval_s) {
  return (1 - failures_per_s * (restart_s + interval_s / 2)) / (1 + save_s / interval_s);
}

std::int64_t spare_machines(std::int64_t machines, double away, double shortage) {
  if (machines <= 0 || !(away > 0)) return 0;
  if (away >= 1) return machines;
  // The chance of exactly k, by its logarithm: (1 - p)^n alone may be below what a double holds.
  const double n = static_cast<double>(machines), odds = std::log(away) - std::log1p(-away);
  double log_chance = n * std::log1p(-away), sum = 0;
  for (std::int64_t k = 0; k < machines; ++k) {
    sum += std::exp(log_chance);
    if (sum >= 1 - shortage) return k;
    const auto done = static_cast<double>(k);
    log_chance += std::log((n - done) / (done + 1)) + odds;
  }
  return machines;
}

std::int64_t spare_machines_of_job(double mean_away, double shortage) {
  double log_chance = -mean_away, sum = 0;
  for (std::int64_t k = 0; mean_away > 0 && k < 10'000'000; ++k) {
    sum += std::exp(log_chance);
    if (sum >= 1 - shortage) return k;
    log_chance += std::log(mean_away / static_cast<double>(k + 1));
  }
  return 0;
}

}  // namespace models::fleet
