#include "models/measure/bench_runs.h"

#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"

namespace models::measure {
namespace {

enum class Use : std::uint64_t { coins = 1, noise, interruptions, lengths, phases };

std::uint64_t stream_of(std::uint64_t seed, Use use) {
  return random_stream(static_cast<std::int64_t>(seed), static_cast<std::uint64_t>(use));
}

bool is_b_at(Order order, std::size_t k, std::size_t runs, std::uint64_t coins) {
  const std::size_t first_half = (runs + 1) / 2, pair = k / 2;
  const bool second = k % 2 == 1;
  switch (order) {
    case Order::new_first:
      return k < first_half;
    case Order::old_first:
      return k >= first_half;
    case Order::alternate:
      return second;
    case Order::mirrored:
      return second != (pair % 2 == 1);
    case Order::random:
      return second != (unit_draw(coins, pair) < 0.5);
  }
  return second;
}

}  // namespace

double heat_factor(const Bench& bench, double runs_before) {
  return 1 + bench.drift * (1 - std::exp(-runs_before / bench.heat_runs));
}

std::vector<Slot> slots_of(const Bench& bench, std::uint64_t seed) {
  const std::uint64_t coins = stream_of(seed, Use::coins);
  std::vector<Slot> slots(static_cast<std::size_t>(std::max<std::int64_t>(0, bench.runs)));
  std::int64_t a = 0, b = 0;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    Slot& s = slots[k];
    s.is_b = is_b_at(bench.order, k, slots.size(), coins);
    s.of_its_kind = s.is_b ? b++ : a++;
    s.kept = s.of_its_kind >= bench.discard;
    s.factor = heat_factor(bench, static_cast<double>(k)) *
               (1 + bench.cold * std::exp2(-2 * static_cast<double>(s.of_its_kind)));
  }
  return slots;
}

void draw_noise(const Bench& bench, std::uint64_t seed, std::vector<double>& out) {
  const std::uint64_t noise = stream_of(seed, Use::noise), cuts = stream_of(seed, Use::interruptions),
                      lengths = stream_of(seed, Use::lengths);
  const double fresh = std::sqrt(1 - bench.correlation * bench.correlation);
  double now = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double z = normal_draw(noise, k);
    now = k == 0 ? z : bench.correlation * now + fresh * z;
    double factor = 1 + bench.noise * now;
    if (bench.outlier_share > 0 && unit_draw(cuts, k) < bench.outlier_share)
      factor -= bench.outlier * std::log(open_draw(lengths, k));
    out[k] = std::max(0.05, factor);
  }
}

std::vector<double> times_of(const Bench& bench, const std::vector<Slot>& slots, std::uint64_t seed) {
  std::vector<double> times(slots.size());
  draw_noise(bench, seed, times);
  for (std::size_t k = 0; k < slots.size(); ++k) {
    times[k] *= bench.base_s * slots[k].factor * (slots[k].is_b ? 1 - bench.gain : 1);
    if (bench.tick > 0) times[k] = on_the_clock(times[k], bench.tick * bench.base_s, clock_phase(seed, k));
  }
  return times;
}

double on_the_clock(double time, double tick, double phase) {
  return tick > 0 ? tick * std::max(1.0, std::floor(time / tick + phase)) : time;
}

double clock_phase(std::uint64_t seed, std::size_t slot) { return unit_draw(stream_of(seed, Use::phases), slot); }

double clock_variance(const Bench& bench, double factor) {
  if (!(bench.tick > 0)) return 0;
  // A time of n + f ticks is n or n + 1 of them, which spreads by f (1 - f): its Fourier series, over normal noise.
  constexpr double pi = 3.14159265358979323846;
  constexpr int terms = 12;
  const double ticks = factor / bench.tick, spread = bench.noise * ticks;
  double sum = 1.0 / 6;
  for (int k = 1; k <= terms; ++k) {
    const double damped = 2 * pi * pi * k * k * spread * spread;
    if (damped > 40) break;
    sum -= std::cos(2 * pi * k * ticks) * std::exp(-damped) / (pi * pi * k * k);
  }
  return std::max(0.0, sum) * bench.tick * bench.tick;
}

// An interruption takes an exponential time: its mean is `outlier`, its mean square twice the square of that.
double outlier_mean(const Bench& bench) { return 1 + bench.outlier_share * bench.outlier; }
double outlier_variance(const Bench& bench) {
  const double p = bench.outlier_share;
  return bench.outlier * bench.outlier * (2 * p - p * p);
}

double run_spread(const Bench& bench) {
  return std::sqrt(bench.noise * bench.noise + outlier_variance(bench) + clock_variance(bench, 1)) /
         outlier_mean(bench);
}

KeptRuns kept_of(const std::vector<Slot>& slots) {
  KeptRuns out;
  for (std::size_t k = 0; k < slots.size(); ++k)
    if (slots[k].kept) (slots[k].is_b ? out.b : out.a).push_back(k);
  return out;
}

ExpectedGain expected_gain(const Bench& bench, const std::vector<Slot>& slots) {
  double a = 0, b = 0, of_a = 0, of_b = 0;
  for (const Slot& s : slots) {
    if (!s.kept) continue;
    (s.is_b ? b : a) += s.factor;
    (s.is_b ? of_b : of_a) += 1;
  }
  if (!(of_a > 0) || !(of_b > 0)) return {};
  const double ratio = (b / of_b) / (a / of_a);
  return {.of_equals = 1 - ratio, .of_these = 1 - (1 - bench.gain) * ratio};
}

}  // namespace models::measure
