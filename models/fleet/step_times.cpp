#include "models/fleet/step_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "models/base/counter_random.h"

namespace models::fleet {
namespace {

constexpr std::size_t quantile_bins = 4096;

/// The standard normal quantile at the edges of equal parts of probability; the outermost two parts are left out.
const std::array<float, quantile_bins + 1>& quantiles() {
  static const std::array<float, quantile_bins + 1> all = [] {
    std::array<float, quantile_bins + 1> q{};
    for (std::size_t i = 1; i < quantile_bins; ++i)
      q[i] = static_cast<float>(-upper_normal_quantile(static_cast<double>(i) / quantile_bins));
    return q;
  }();
  return all;
}

/// A standard normal number of 64 random bits: exact in the tails, and between them linear in each 4,096th.
double normal_of(std::uint64_t bits) {
  const std::size_t bin = bits >> 52;
  if (bin < 8 || bin >= quantile_bins - 8)
    return -upper_normal_quantile((static_cast<double>(bits >> 12) + 0.5) * 0x1p-52);
  const auto& q = quantiles();
  const double within = static_cast<double>((bits >> 20) & 0xFFFFFFFF) * 0x1p-32;
  return static_cast<double>(q[bin]) + within * static_cast<double>(q[bin + 1] - q[bin]);
}

double normal_above(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

/// How a fleet's draws are numbered: rank after rank, and what each draw is for.
struct Streams {
  std::uint64_t noise, pause, pause_size, fault;
  explicit Streams(std::int64_t seed)
      : noise(random_stream(seed, 1)),
        pause(random_stream(seed, 2)),
        pause_size(random_stream(seed, 3)),
        fault(random_stream(seed, 4)) {}
};

constexpr std::int64_t max_steps = 1 << 20;
std::uint64_t draw_number(std::int64_t rank, std::int64_t step) {
  return static_cast<std::uint64_t>(rank * max_steps + step);
}

double healthy_time(const Noise& noise, const Streams& s, std::int64_t rank, std::int64_t step) {
  const std::uint64_t i = draw_number(rank, step);
  double time = 1 + noise.spread * normal_of(counter_hash(s.noise, i));
  if (noise.pause_share > 0 && unit_draw(s.pause, i) < noise.pause_share)
    time -= noise.pause_size * std::log(open_draw(s.pause_size, i));
  return std::max(0.0, time);
}

/// What the fault adds to a rank's step.
double added(const Fleet& f, const Guilt& guilt, const Streams& s, std::int64_t rank, std::int64_t step) {
  if (f.fault == Fault::uneven_data) return unit_draw(s.fault, draw_number(rank, step)) < 0.005 ? f.slower : 0;
  if (!guilt.holds(rank) || step < guilt.onset) return 0;
  switch (f.fault) {
    case Fault::throttle:
      return (step - guilt.onset) % 50 < 20 ? f.slower : 0;
    case Fault::bad_link:
      return unit_draw(s.fault, draw_number(rank, step)) < 0.2 ? f.slower : 0;
    default:
      return f.slower;
  }
}

struct Latest {
  double first = -1, second = -1;
  std::int64_t rank = 0;
};

}  // namespace

Guilt guilt_of(const Fleet& f) {
  Guilt g;
  g.onset = f.steps / 4;
  if (f.fault == Fault::none || f.fault == Fault::uneven_data || !(f.slower > 0)) return g;
  const std::uint64_t pick = counter_hash(random_stream(f.seed, 5), 0);
  g.ranks = f.fault == Fault::bad_node ? std::min<std::int64_t>(8, f.ranks) : 1;
  const auto places = static_cast<std::uint64_t>(std::max<std::int64_t>(1, f.ranks / g.ranks));
  g.first_rank = static_cast<std::int64_t>(pick % places) * g.ranks;
  return g;
}

double step_time(const Fleet& f, std::int64_t rank, std::int64_t step) {
  const Streams s(f.seed);
  return healthy_time(f.noise, s, rank, step) + added(f, guilt_of(f), s, rank, step);
}

double exceeds(const Noise& noise, double above) {
  const double s = std::max(noise.spread, 1e-12), plain = normal_above(above / s);
  if (!(noise.pause_share > 0)) return plain;
  if (!(noise.pause_size > 0)) return plain;
  // Sum of a normal and an exponential number: Grushka, "Characterization of exponentially modified Gaussian peaks",
  // 1972.
  const double rate = 1 / noise.pause_size;
  const double paused =
      plain + std::exp(std::min(0.0, -rate * above + rate * rate * s * s / 2)) * normal_above(rate * s - above / s);
  return (1 - noise.pause_share) * plain + noise.pause_share * std::min(1.0, paused);
}

FleetRun run_fleet(const Fleet& f) {
  FleetRun run;
  const Streams s(f.seed);
  const Guilt guilt = guilt_of(f);
  const auto ranks = static_cast<std::size_t>(f.ranks), steps = static_cast<std::size_t>(f.steps);
  run.time.resize(ranks * steps);
  run.caused.assign(ranks, 0);
  std::vector<Latest> latest(steps);
  std::vector<double> healthy(steps, 0), sum(steps, 0);
  for (std::size_t i = 0; i < steps; ++i)
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::int64_t>(r), step = static_cast<std::int64_t>(i);
      const double plain = healthy_time(f.noise, s, rank, step), time = plain + added(f, guilt, s, rank, step);
      run.time[i * ranks + r] = static_cast<float>(time);
      healthy[i] = std::max(healthy[i], plain);
      sum[i] += time;
      Latest& l = latest[i];
      if (time > l.first) {
        l.second = l.first;
        l.first = time;
        l.rank = rank;
      } else {
        l.second = std::max(l.second, time);
      }
    }
  double total = 0, healthy_total = 0;
  const auto onset = static_cast<std::size_t>(guilt.onset);
  for (std::size_t i = 0; i < steps; ++i) {
    run.step.push_back(latest[i].first);
    run.last.push_back(latest[i].rank);
    if (i < onset) continue;
    const double waited = latest[i].first * static_cast<double>(ranks) - sum[i];
    run.caused[static_cast<std::size_t>(latest[i].rank)] += waited;
    run.waits += waited;
    total += latest[i].first;
    healthy_total += healthy[i];
  }
  const auto counted = static_cast<double>(std::max<std::size_t>(1, steps - std::min(steps, onset)));
  run.mean_step = total / counted;
  run.healthy_step = healthy_total / counted;
  if (run.waits <= 0) return run;
  run.culprit = std::max_element(run.caused.begin(), run.caused.end()) - run.caused.begin();
  for (std::size_t i = onset; i < steps; ++i)
    if (latest[i].rank == run.culprit) run.late += latest[i].first - latest[i].second;
  return run;
}

}  // namespace models::fleet
