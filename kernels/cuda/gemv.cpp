// The ladder of a decode step's product on the GPU: y = W x, an n x n matrix of weights times one vector in FP16. Each
// version is a file of rungs/, gemv_NAME.cu, and is held against the weights that it stores.
//
// cuda-gemv:
//   fp16  a warp a row, two weights a load
//   wide  eight weights a load
//   int8  one byte a weight, and a scale a row
//   int4  four bits a weight, and a scale for every 128
//
//   ridgeline kernels run cuda-gemv --size 16384
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/cuda/deviation.h"
#include "kernels/cuda/operation.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

enum GemvInput : std::uint8_t { gemv_x, gemv_f16, gemv_i8, gemv_i8_scales, gemv_u4, gemv_u4_scales };
constexpr std::int64_t gemv_group = 128;

/// 2 n^2 operations; every weight is read once, with what belongs to it.
models::OpCost gemv_cost_of(std::int64_t n, double weight_bytes, double scale_bytes) {
  const auto d = static_cast<double>(n);
  return {2 * d * d, d * d * weight_bytes + scale_bytes + 2 * d, 4 * d};
}
models::OpCost gemv_cost(std::int64_t n) { return gemv_cost_of(n, 2, 0); }
models::OpCost gemv_int8_cost(std::int64_t n) { return gemv_cost_of(n, 1, 4 * static_cast<double>(n)); }
models::OpCost gemv_int4_cost(std::int64_t n) {
  return gemv_cost_of(n, 0.5, 2 * static_cast<double>(n * (n / gemv_group)));
}

std::vector<Launch> gemv_launches(std::string_view rung, std::int64_t n, int) {
  std::vector<Argument> arguments{input(gemv_x), input(gemv_f16), output(), whole(n)};
  if (rung == "int8") arguments = {input(gemv_x), input(gemv_i8), input(gemv_i8_scales), output(), whole(n)};
  if (rung == "int4") arguments = {input(gemv_x), input(gemv_u4), input(gemv_u4_scales), output(), whole(n)};
  const std::int64_t rows_of_block = rung == "int8" ? 16 : rung == "int4" ? 32 : 8;
  return {{.grid_x = static_cast<unsigned>(n / rows_of_block), .block_x = 256, .arguments = std::move(arguments)}};
}

/// A weight as a rung stores it.
double gemv_weight(const Outcome& outcome, std::int64_t row, std::int64_t column) {
  const std::int64_t n = outcome.size, at = row * n + column;
  const auto value = [&](int which, std::int64_t index) {
    return input_value(outcome.operation, outcome.seed, which, index);
  };
  if (outcome.rung == "int8") return value(gemv_i8, at) * value(gemv_i8_scales, row);
  if (outcome.rung == "int4") return (value(gemv_u4, at) - 8) * value(gemv_u4_scales, at / gemv_group);
  return value(gemv_f16, at);
}

/// The largest error of a number of y, over 1,024 rows at most; all are searched for NaN. Bound: sqrt(K) 2 eps of
/// float, the growth of rounding errors that are independent.
Deviation gemv_compare(const Outcome& outcome) {
  const std::int64_t n = outcome.size;
  const auto out = floats_of(outcome);
  Deviation d;
  d.never_written = std::count_if(out.begin(), out.end(), [](float v) { return !(v == v); });
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    x[static_cast<std::size_t>(i)] = input_value(outcome.operation, outcome.seed, gemv_x, i);
  PeakError peak;
  for (const std::int64_t r : chosen_lines(n, 1024, outcome.seed)) {
    double expected = 0;
    for (std::int64_t i = 0; i < n; ++i) expected += gemv_weight(outcome, r, i) * x[static_cast<std::size_t>(i)];
    peak.add(static_cast<double>(out[static_cast<std::size_t>(r)]), expected);
  }
  d.error = peak.value();
  d.bound = std::sqrt(static_cast<double>(n)) * 2 * 0x1p-23;
  return d;
}

const Ladder& gemv_ladder() {
  static const std::array rungs{
      Rung{"fp16", "FP16, two a load", "A warp a row, two weights a lane and load: 128 bytes a warp for each load.",
           embedded_source("cuda/rungs/gemv_fp16.cu"), "gemv_fp16", "gpu_read"},
      Rung{"wide", "FP16, eight a load",
           "16 bytes a lane and load: a quarter of the loads keep four times the bytes in flight.",
           embedded_source("cuda/rungs/gemv_wide.cu"), "gemv_wide", "gpu_read"},
      Rung{"int8", "INT8, a scale a row",
           "Half of the bytes. Two rows a warp share each number of x that is made FP32.",
           embedded_source("cuda/rungs/gemv_int8.cu"), "gemv_int8", "gpu_read", gemv_int8_cost},
      Rung{"int4", "INT4, groups of 128",
           "4.125 bits a weight with its share of a scale: a quarter of FP16's bytes, more work for each.",
           embedded_source("cuda/rungs/gemv_int4.cu"), "gemv_int4", "gpu_read", gemv_int4_cost},
  };
  static const Ladder ladder = matrix_ladder("cuda-gemv", "GPU decode GEMV", Measure::bytes_per_s,
                                             {.lo = 1024, .usual = 16384, .hi = 32768}, rungs, gemv_cost);
  return ladder;
}

}  // namespace

const Operation& gemv_operation() {
  static const Operation operation{
      .ladder = &gemv_ladder(),
      .granule = gemv_group,
      .edge_size = 640,
      .inputs = {{.element = Element::f16, .count = [](std::int64_t n) { return n; }, .lo = -1, .scale = 2},
                 {.element = Element::f16, .count = [](std::int64_t n) { return n * n; }, .lo = -1, .scale = 2},
                 {.element = Element::i8, .count = [](std::int64_t n) { return n * n; }},
                 {.element = Element::f32, .count = [](std::int64_t n) { return n; }, .lo = 0.004f, .scale = 0.008f},
                 {.element = Element::u4, .count = [](std::int64_t n) { return n * n; }},
                 {.element = Element::f16,
                  .count = [](std::int64_t n) { return n * (n / gemv_group); },
                  .lo = 0.05f,
                  .scale = 0.1f}},
      .output_bytes = [](std::int64_t n) { return 4 * n; },
      .launches = gemv_launches,
      .compare = gemv_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
