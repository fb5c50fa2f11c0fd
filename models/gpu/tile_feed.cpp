#include "models/gpu/tile_feed.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"

namespace models::gpu {
namespace {

/// Clocks for which a multiply-add of a warp keeps the pipe of its scheduler busy.
double fma_clocks(const FmaUnits& units) { return 32.0 * as_double(sm_schedulers) / as_double(units.lanes); }

/// A step of one warp that has a scheduler for itself.
struct StepTime {
  double busy = 0;   ///< clocks of its pipe that a warp fills in a step
  double whole = 0;  ///< from the start of a step to that of the next, alone on the scheduler
};
StepTime step_time(const FmaUnits& units, const TileStep& s) {
  StepTime t;
  t.busy = as_double(s.multiply_adds()) * fma_clocks(units);
  if (!s.from_shared) {
    t.whole = t.busy;
    return t;
  }
  const double issue = as_double(s.loads());
  t.whole = s.prefetch ? std::max(t.busy, s.load_latency_cycles + issue) : t.busy + s.load_latency_cycles + issue;
  return t;
}

/// The mean over the schedulers of min(1, warps on it x what one warp fills).
double over_schedulers(std::int64_t warps, double one) {
  double sum = 0;
  for (std::int64_t s = 0; s < sm_schedulers; ++s) {
    const std::int64_t mine = warps / sm_schedulers + (s < warps % sm_schedulers ? 1 : 0);
    sum += std::min(1.0, as_double(mine) * one);
  }
  return sum / as_double(sm_schedulers);
}

}  // namespace

FmaUnits fma_units(int capability) {
  FmaUnits units;
  if (capability <= 80) units.lanes = 64;
  if (capability == 75) units.shared_words_per_clock = 16;
  return units;
}

double TileStep::multiply_adds_per_value() const { return as_double(multiply_adds()) / as_double(values()); }

std::int64_t TileStep::loads() const {
  if (!from_shared) return 0;
  return ceil_div(rows, words_per_load) + ceil_div(columns, words_per_load);
}

TileFeed tile_feed(const FmaUnits& units, const TileStep& s, std::int64_t warps) {
  TileFeed out;
  const double words = as_double(units.shared_words_per_clock);
  out.shared_memory = s.from_shared ? std::min(1.0, words * s.multiply_adds_per_value() / as_double(units.lanes)) : 1.0;
  const double adds = as_double(s.multiply_adds());
  out.issue_slots = std::min(1.0, adds * fma_clocks(units) / (adds + as_double(s.loads())));
  out.in_flight_needed = s.fma_latency_cycles / fma_clocks(units);
  out.fma_latency = over_schedulers(warps, adds / out.in_flight_needed);
  const StepTime time = step_time(units, s);
  out.load_latency = s.from_shared ? over_schedulers(warps, time.busy / time.whole) : 1.0;
  out.rate = 1;
  const auto limited = [&](double share, FeedLimit limit) {
    if (!(share < out.rate)) return;
    out.rate = share;
    out.limit = limit;
  };
  limited(out.shared_memory, FeedLimit::shared_memory);
  limited(out.issue_slots, FeedLimit::issue_slots);
  limited(out.fma_latency, FeedLimit::fma_latency);
  limited(out.load_latency, FeedLimit::load_latency);
  return out;
}

std::int64_t warps_to_cover_latency(const FmaUnits& units, const TileStep& s) {
  const double adds = as_double(s.multiply_adds()), needed = s.fma_latency_cycles / fma_clocks(units);
  const StepTime time = step_time(units, s);
  constexpr double rounding = 1e-9;
  const double of_one = std::max({1.0, needed / adds, time.whole / time.busy});
  return sm_schedulers * static_cast<std::int64_t>(std::ceil(of_one - rounding));
}

std::array<CompiledTile, compiled_tile_count> compiled_tiles(int capability) {
  struct Row {
    int upto;
    std::array<std::int64_t, compiled_tile_count> registers;
    std::int64_t spill;
  };
  static constexpr std::array rows{Row{75, {48, 61, 64, 120, 255}, 3016},  Row{80, {32, 40, 64, 120, 255}, 3016},
                                   Row{89, {40, 40, 64, 128, 255}, 3016},  Row{90, {32, 40, 64, 128, 255}, 3008},
                                   Row{103, {32, 38, 60, 120, 255}, 2488}, Row{110, {40, 38, 60, 120, 255}, 2488},
                                   Row{999, {40, 38, 62, 124, 255}, 2488}};
  const Row* row = rows.data();
  while (row->upto < capability && row != &rows.back()) ++row;
  std::array<CompiledTile, compiled_tile_count> out;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = {.side = 1 << i,
              .capability = std::max(capability, 75),
              .registers = row->registers[i],
              .spill_store_bytes = i + 1 == out.size() ? row->spill : 0,
              .shared_bytes = std::int64_t{1024} << i};
  return out;
}

}  // namespace models::gpu
