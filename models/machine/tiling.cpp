#include "models/machine/tiling.h"

#include "models/base/integer_math.h"
#include "models/machine/op_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace models {
namespace {

constexpr double max_exact = 9007199254740992.0;  // 2^53: counts stay exact in double
constexpr double partial_bytes = 4;               // partial sums are FP32

std::string fault(const TilingInputs& in) {
  struct Count {
    const char* name;
    std::int64_t value;
  };
  for (const Count& count : {Count{"m", in.m},
                             {"n", in.n},
                             {"k", in.k},
                             {"tile_m", in.tile_m},
                             {"tile_n", in.tile_n},
                             {"tile_k", in.tile_k},
                             {"sm_count", in.sm_count},
                             {"tiles_per_sm", in.tiles_per_sm},
                             {"split", in.split}})
    if (count.value < 1 || count.value > 1000000000)
      return std::string(count.name) + " is " + std::to_string(count.value) + ", but must be from 1 to 1,000,000,000.";
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  if (!positive(in.element_bytes) || !positive(in.peak_flops_per_s) || !positive(in.vector_flops_per_s) ||
      !positive(in.bandwidth_bytes_per_s))
    return "Element bytes, peaks and bandwidth must be above 0.";
  if (!(in.sm_bandwidth_bytes_per_s >= 0 && std::isfinite(in.sm_bandwidth_bytes_per_s)))
    return "sm_bandwidth_bytes_per_s must be 0 or more.";
  if (!(in.misaligned_rate > 0 && in.misaligned_rate <= 1)) return "misaligned_rate must be above 0 and at most 1.";
  if (!(in.partly_aligned_rate > 0 && in.partly_aligned_rate <= 1))
    return "partly_aligned_rate must be above 0 and at most 1.";
  const double tiles =
      std::ceil(as_double(in.m) / as_double(in.tile_m)) * std::ceil(as_double(in.n) / as_double(in.tile_n));
  if (!(tiles * std::ceil(as_double(in.k) / as_double(in.tile_k)) * as_double(in.split) <= max_exact))
    return "The matmul has more tile steps than can be counted; make it smaller or its tiles larger.";
  if (!(as_double(in.sm_count) * as_double(in.tiles_per_sm) <= 1e12))
    return "sm_count times tiles_per_sm must be at most 1e12.";
  if (in.schedule == Schedule::split_k && in.split > ceil_div(in.k, in.tile_k))
    return "split is " + std::to_string(in.split) + ", but k has only " + std::to_string(ceil_div(in.k, in.tile_k)) +
           " steps of tile_k to share.";
  return {};
}

}  // namespace

std::int64_t alignment_of(std::int64_t m, std::int64_t n, std::int64_t k, double element_bytes) {
  for (std::int64_t bytes = 128; bytes > 1; bytes /= 2) {
    const auto divides = [&](std::int64_t size) {
      return std::fmod(as_double(size) * element_bytes, as_double(bytes)) == 0;
    };
    if (divides(m) && divides(n) && divides(k)) return bytes;
  }
  return 1;
}

std::int64_t alignment_under(const TilingInputs& in, AlignmentRule rule) {
  return alignment_of(rule == AlignmentRule::required ? in.m : in.n, in.n, in.k, in.element_bytes);
}

double alignment_efficiency(const TilingInputs& in, std::int64_t alignment_bytes) {
  if (alignment_bytes >= 16) return 1;
  if (in.alignment_rule == AlignmentRule::required) return std::min(1.0, in.vector_flops_per_s / in.peak_flops_per_s);
  return alignment_bytes >= 4 ? in.partly_aligned_rate : in.misaligned_rate;
}

std::int64_t padded_size(std::int64_t size, double element_bytes, std::int64_t bytes) {
  for (std::int64_t padded = size; padded < size + 8 * bytes; ++padded)
    if (std::fmod(as_double(padded) * element_bytes, as_double(bytes)) == 0) return padded;
  return size;
}

Result<TilingResult> tile_matmul(const TilingInputs& in) {
  if (std::string sentence = fault(in); !sentence.empty()) return Result<TilingResult>::fail(std::move(sentence));
  TilingResult out;
  out.tiles_m = ceil_div(in.m, in.tile_m);
  out.tiles_n = ceil_div(in.n, in.tile_n);
  out.tiles = out.tiles_m * out.tiles_n;
  const std::int64_t slots = in.sm_count * in.tiles_per_sm;
  const std::int64_t steps = ceil_div(in.k, in.tile_k);  // Steps of one tile.
  const OpCost cost =
      gemm(as_double(in.m), as_double(in.n), as_double(in.k), in.element_bytes, in.element_bytes, in.element_bytes);
  const double step_flops = 2 * as_double(in.tile_m) * as_double(in.tile_n) * as_double(in.tile_k);
  const double tile_bytes = as_double(in.tile_m) * as_double(in.tile_n) * partial_bytes;

  std::int64_t steps_per_slot = 0;  // Steps of the busiest slot, which is the time.
  out.work_units = out.tiles;
  if (in.schedule == Schedule::stream_k) {
    out.waves = 1;
    steps_per_slot = ceil_div(out.tiles * steps, slots);
    out.work_units = ceil_div(out.tiles * steps, steps_per_slot);
    // Where one share ends and the next begins inside a tile, that tile's partial sums are written once and read once.
    const std::int64_t borders = out.work_units - 1;
    const std::int64_t at_tile_edges = borders / (steps / std::gcd(steps_per_slot, steps));
    out.reduction_bytes = 2 * as_double(borders - at_tile_edges) * tile_bytes;
  } else {
    const std::int64_t parts = in.schedule == Schedule::split_k ? in.split : 1;
    out.work_units = out.tiles * parts;
    out.waves = ceil_div(out.work_units, slots);
    steps_per_slot = out.waves * ceil_div(steps, parts);
    if (parts > 1) out.reduction_bytes = 2 * as_double(parts) * as_double(in.m) * as_double(in.n) * partial_bytes;
  }

  out.tile_efficiency =
      as_double(in.m) * as_double(in.n) / (as_double(out.tiles) * as_double(in.tile_m) * as_double(in.tile_n));
  out.depth_efficiency = as_double(in.k) / (as_double(steps) * as_double(in.tile_k));
  out.wave_efficiency = as_double(out.tiles) * as_double(steps) / (as_double(slots) * as_double(steps_per_slot));
  out.alignment_bytes = alignment_under(in, in.alignment_rule);
  out.alignment_efficiency = alignment_efficiency(in, out.alignment_bytes);
  out.total_efficiency = out.tile_efficiency * out.depth_efficiency * out.wave_efficiency * out.alignment_efficiency;
  // All slots of an SM share its rate, so a slot works at peak / slots.
  out.compute_s =
      as_double(steps_per_slot) * step_flops * as_double(slots) / (in.peak_flops_per_s * out.alignment_efficiency);

  double bandwidth = in.bandwidth_bytes_per_s;
  if (in.sm_bandwidth_bytes_per_s > 0)
    bandwidth = std::min(bandwidth, as_double(std::min(out.work_units, in.sm_count)) * in.sm_bandwidth_bytes_per_s);
  out.memory_s = cost.bytes() / bandwidth;
  out.reduction_s = out.reduction_bytes / in.bandwidth_bytes_per_s;
  out.time_s = std::max(out.compute_s, out.memory_s) + out.reduction_s;
  out.effective_flops_per_s = cost.flops / out.time_s;
  if (!std::isfinite(out.time_s) || !(out.time_s > 0))
    return Result<TilingResult>::fail("Peak or bandwidth is too far from any machine to compute with.");
  return Result<TilingResult>::ok(out);
}

Result<PaddingStory> padding_story(TilingInputs inputs, AlignmentRule rule, std::int64_t bytes) {
  inputs.alignment_rule = rule;
  PaddingStory out;
  out.padded_n = padded_size(inputs.n, inputs.element_bytes, bytes);
  const auto before = tile_matmul(inputs);
  if (!before) return Result<PaddingStory>::fail(before.error);
  inputs.n = out.padded_n;
  const auto after = tile_matmul(inputs);
  if (!after) return Result<PaddingStory>::fail(after.error);
  out.before = *before;
  out.after = *after;
  out.speedup = before->time_s / after->time_s;
  return Result<PaddingStory>::ok(out);
}

}  // namespace models
