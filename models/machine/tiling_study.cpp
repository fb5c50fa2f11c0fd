#include "models/machine/tiling_study.h"

#include "models/base/integer_math.h"
#include "models/machine/op_cost.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace models {
namespace {

std::int64_t slots_of(const TilingInputs& in) { return in.sm_count * in.tiles_per_sm; }
std::int64_t parts_of(const TilingInputs& in) { return in.schedule == Schedule::split_k ? in.split : 1; }
std::int64_t steps_per_slot(const TilingInputs& in, const TilingResult& r) {
  return ceil_div(r.tiles * ceil_div(in.k, in.tile_k), slots_of(in));
}

/// Share of the peak if the Tensor Cores ran at `rate` of it; `aligned` was computed at the full rate.
double share_at(const TilingInputs& in, const TilingResult& aligned, double rate) {
  const double time_s = std::max(aligned.compute_s / rate, aligned.memory_s) + aligned.reduction_s;
  return aligned.effective_flops_per_s * aligned.time_s / (time_s * in.peak_flops_per_s);
}

TilingInputs at_full_rate(TilingInputs in) {
  in.alignment_rule = AlignmentRule::preferred;
  in.misaligned_rate = in.partly_aligned_rate = 1;
  return in;
}

double rate_under(TilingInputs in, AlignmentRule rule, std::int64_t alignment_bytes) {
  in.alignment_rule = rule;
  return alignment_efficiency(in, alignment_bytes);
}

}  // namespace

Result<TilingInputs> tiling_on(const Chip& chip, Format format, std::int64_t units_taken, double l2_bytes_per_clock) {
  using R = Result<TilingInputs>;
  const std::string name = chip.short_name.empty() ? chip.name : chip.short_name;
  const auto peak = chip.peak_flops_per_s(format);
  if (!peak)
    return R::fail(name + " states no dense " + std::string(format_label(format)) +
                   " peak; choose another format or chip.");
  const std::int64_t units = chip.compute_units.value_or(0);
  if (units < 1) return R::fail(name + " does not state how many compute units it has; choose another chip.");
  if (units_taken < 0 || units_taken >= units)
    return R::fail(name + " has " + std::to_string(units) + " compute units, so at most " + std::to_string(units - 1) +
                   " can be taken away.");
  TilingInputs in;
  in.sm_count = units - units_taken;
  const double left = as_double(in.sm_count) / as_double(units);
  const bool on_vector_units = format == Format::fp64 || format == Format::fp32;
  const auto vector =
      on_vector_units ? peak : chip.peak_flops_per_s(format == Format::fp64_matrix ? Format::fp64 : Format::fp32);
  in.element_bytes = format_bytes(format);
  in.peak_flops_per_s = *peak * left;
  in.vector_flops_per_s = std::min(*peak, vector.value_or(*peak)) * left;
  if (on_vector_units) in.misaligned_rate = in.partly_aligned_rate = 1;
  in.bandwidth_bytes_per_s = chip.memory_bandwidth_bytes_per_s;
  in.sm_bandwidth_bytes_per_s = l2_bytes_per_clock * chip.boost_clock_hz.value_or(0);
  return R::ok(in);
}

TilingLosses losses_of(const TilingResult& r) {
  const double both_s = std::max(r.compute_s, r.memory_s);
  return {r.tile_efficiency,      r.depth_efficiency,   r.wave_efficiency,
          r.alignment_efficiency, r.compute_s / both_s, both_s / r.time_s};
}

FreeRange free_range(const TilingInputs& in, const TilingResult& r) {
  const auto last_n = [&](std::int64_t rounds) {
    const std::int64_t tiles = in.schedule == Schedule::stream_k ? rounds * slots_of(in) / ceil_div(in.k, in.tile_k)
                                                                 : rounds * slots_of(in) / parts_of(in);
    return tiles / r.tiles_m * in.tile_n;
  };
  const std::int64_t rounds = in.schedule == Schedule::stream_k ? steps_per_slot(in, r) : r.waves;
  return {last_n(rounds - 1), last_n(rounds)};
}

std::vector<SawPoint> sawtooth(TilingInputs inputs, std::int64_t last, std::size_t most) {
  std::vector<SawPoint> out;
  TilingInputs in = at_full_rate(inputs);
  const double preferred = rate_under(inputs, AlignmentRule::preferred, 1),
               required = rate_under(inputs, AlignmentRule::required, 1);
  const auto add = [&](std::int64_t n) {
    if (n < 1 || n > last || (!out.empty() && n <= out.back().n)) return;
    in.n = n;
    const auto r = tile_matmul(in);
    if (r) out.push_back({n, r->waves, share_at(in, *r, 1), share_at(in, *r, preferred), share_at(in, *r, required)});
  };
  if (inputs.tile_n < 1 || inputs.tile_m < 1) return out;
  const std::int64_t columns = ceil_div(last, inputs.tile_n), tiles_m = ceil_div(inputs.m, inputs.tile_m);
  const std::int64_t fold = ceil_div(columns, static_cast<std::int64_t>(std::max<std::size_t>(most, 1)));
  // Where memory is the limit the share bends between corners.
  const std::int64_t between = columns <= 64 ? 8 : columns <= 256 ? 2 : 1;
  for (std::int64_t first = 0; first < columns; first += fold) {
    const std::int64_t end = std::min(first + fold, columns);
    add(first * inputs.tile_n + 1);
    if (fold > 1) {
      const std::int64_t tiles_a_wave = std::max<std::int64_t>(1, slots_of(inputs) / parts_of(inputs));
      const std::int64_t edge =
          end * tiles_m / tiles_a_wave * tiles_a_wave / tiles_m;  // last column that a whole number of waves covers
      if (edge > first && edge < end) {
        add(edge * inputs.tile_n);
        add(edge * inputs.tile_n + 1);
      }
    } else {
      for (std::int64_t i = 1; i < between; ++i) add(first * inputs.tile_n + inputs.tile_n * i / between);
    }
    add(std::min(end * inputs.tile_n, last));
  }
  return out;
}

std::vector<Neighbour> neighbours(TilingInputs inputs, std::int64_t radius) {
  std::vector<Neighbour> out;
  TilingInputs in = at_full_rate(inputs);
  for (std::int64_t n = std::max<std::int64_t>(1, inputs.n - radius); n <= inputs.n + radius; ++n) {
    in.n = n;
    const auto r = tile_matmul(in);
    if (!r) continue;
    out.push_back(
        {n, r->alignment_bytes, share_at(in, *r, rate_under(inputs, AlignmentRule::preferred, r->alignment_bytes)),
         share_at(in, *r, rate_under(inputs, AlignmentRule::required, alignment_under(in, AlignmentRule::required)))});
  }
  return out;
}

TileWork tile_work(const TilingInputs& in, const TilingResult& r, std::int64_t row, std::int64_t col) {
  TileWork out;
  const std::int64_t index = col * r.tiles_m + row, slots = slots_of(in);
  const auto used = [](std::int64_t at, std::int64_t tile, std::int64_t size) {
    return as_double(std::min(tile, size - at * tile)) / as_double(tile);
  };
  out.used_m = used(row, in.tile_m, in.m);
  out.used_n = used(col, in.tile_n, in.n);
  if (in.schedule == Schedule::stream_k) {
    const std::int64_t steps = ceil_div(in.k, in.tile_k), share = steps_per_slot(in, r);
    out.first_block = index * steps / share;
    out.blocks = ((index + 1) * steps - 1) / share - out.first_block + 1;
  } else {
    out.blocks = parts_of(in);
    out.first_block = index % slots;
    out.wave =
        ((out.blocks - 1) * r.tiles + index) / slots;  // the parts of one depth range run before those of the next
  }
  return out;
}

std::vector<WaveSpan> wave_spans(const TilingInputs& in, const TilingResult& r, std::size_t most) {
  std::vector<WaveSpan> out;
  const double all_s = std::max(r.compute_s, r.memory_s);
  const std::int64_t slots = slots_of(in);
  if (in.schedule == Schedule::stream_k) {
    const std::int64_t share = steps_per_slot(in, r), total = r.tiles * ceil_div(in.k, in.tile_k);
    const std::int64_t rest = total - (r.work_units - 1) * share;  // steps of the last block
    const double end_s = all_s * as_double(rest) / as_double(share);
    out.push_back({0, end_s, 0, 1, r.work_units});
    if (rest < share && r.work_units > 1) out.push_back({end_s, all_s, 0, 1, r.work_units - 1});
    return out;
  }
  const std::int64_t full = r.work_units / slots, tail = r.work_units % slots;
  const std::int64_t fold =
      std::max<std::int64_t>(1, ceil_div(full, static_cast<std::int64_t>(std::max<std::size_t>(most, 1))));
  const double wave_s = all_s / as_double(r.waves);
  for (std::int64_t wave = 0; wave < full; wave += fold) {
    const std::int64_t count = std::min(fold, full - wave);
    out.push_back({as_double(wave) * wave_s, as_double(wave + count) * wave_s, wave, count, slots});
  }
  if (tail > 0) out.push_back({as_double(full) * wave_s, all_s, full, 1, tail});
  return out;
}

Result<ScheduleResult> best_split(TilingInputs in, std::int64_t most) {
  using R = Result<ScheduleResult>;
  in.schedule = Schedule::split_k;
  in.split = 1;
  const auto first = tile_matmul(in);
  if (!first) return R::fail(first.error);
  ScheduleResult best{Schedule::split_k, 1, *first};
  for (in.split = 2; in.split <= std::min(most, ceil_div(in.k, in.tile_k)); ++in.split)
    if (const auto r = tile_matmul(in); r && r->time_s < best.result.time_s) best = {Schedule::split_k, in.split, *r};
  return R::ok(best);
}

Result<std::array<ScheduleResult, 3>> compare_schedules(TilingInputs in) {
  using R = Result<std::array<ScheduleResult, 3>>;
  const auto split = best_split(in);
  in.schedule = Schedule::data_parallel;
  const auto data = tile_matmul(in);
  in.schedule = Schedule::stream_k;
  const auto stream = tile_matmul(in);
  if (!split || !data || !stream) return R::fail(!data ? data.error : !split ? split.error : stream.error);
  return R::ok({{{Schedule::data_parallel, 1, *data}, *split, {Schedule::stream_k, 1, *stream}}});
}

}  // namespace models
