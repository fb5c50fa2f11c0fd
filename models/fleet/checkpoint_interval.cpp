#include "models/fleet/checkpoint_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

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

std::vector<double> failure_times_s(double mtbf_s, double until_s, std::uint64_t seed) {
  std::vector<double> times;
  std::mt19937_64 random(seed);
  double now = 0;
  while (times.size() < 100'000) {
    // 53 random bits, never 0: the same on every machine, which std::exponential_distribution is not.
    const double uniform = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
    now -= mtbf_s * std::log(uniform);
    if (!(now < until_s)) break;
    times.push_back(now);
  }
  return times;
}

SimulatedRun simulate_run(const RunReliability& run, double interval_s, std::span<const double> failures_s,
                          double until_s, std::size_t max_stretches) {
  SimulatedRun out;
  if (!(interval_s > 0)) return out;
  double now = 0, work = 0, saved = 0;
  std::size_t next = 0;
  RunStretch::Kind doing = RunStretch::Kind::work;
  while (now < until_s && out.stretches.size() < max_stretches) {
    const double lasts = doing == RunStretch::Kind::work   ? saved + interval_s - work
                         : doing == RunStretch::Kind::save ? run.save_s
                                                           : run.restart_s;
    const double failure = next < failures_s.size() ? failures_s[next] : std::numeric_limits<double>::infinity();
    const double end = std::min({now + lasts, failure, until_s});
    const double done = doing == RunStretch::Kind::work ? end - now : 0;
    if (end > now || done > 0) out.stretches.push_back({doing, now, end, work, work + done});
    work += done;
    (doing == RunStretch::Kind::save      ? out.saving_s
     : doing == RunStretch::Kind::restart ? out.restarting_s
                                          : out.kept_s) += end - now;
    now = end;
    if (failure <= end && failure < until_s) {
      ++next;
      out.failures.push_back({now, work, saved, doing == RunStretch::Kind::restart});
      out.redone_s += work - saved;
      work = saved;
      doing = RunStretch::Kind::restart;
    } else if (now < until_s) {
      if (doing == RunStretch::Kind::save) saved = work;
      doing = doing == RunStretch::Kind::work && run.save_s > 0 ? RunStretch::Kind::save : RunStretch::Kind::work;
      if (doing == RunStretch::Kind::work && run.save_s <= 0) saved = work;
    }
  }
  out.end_s = now;
  out.kept_s = work;
  return out;
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

}  // namespace models::fleet
