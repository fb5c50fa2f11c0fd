// The ladder of softmax on the GPU: each row of an n x n matrix of floats. Each version is a file of rungs/,
// softmax_NAME.cu.
//
// cuda-softmax:
//   three   maximum, exponentials with their sum, division: a kernel each
//   fused   one kernel, three loops over a row
//   online  maximum and sum in one loop
//   vector  16 bytes a load, and the row stays in registers
//
//   ridgeline kernels run cuda-softmax --size 8192
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cuda/deviation.h"
#include "kernels/cuda/operation.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

models::OpCost softmax_cost(std::int64_t n) {
  return models::softmax(static_cast<double>(n), static_cast<double>(n), 4);
}

std::vector<Launch> softmax_launches(std::string_view rung, std::int64_t n, int) {
  const auto rows = static_cast<unsigned>(n);
  if (rung == "three")
    return {
        {.grid_x = rows, .block_x = 256, .entry = "softmax_three_max", .arguments = {input(0), scratch(), whole(n)}},
        {.grid_x = rows,
         .block_x = 256,
         .entry = "softmax_three_exp",
         .arguments = {input(0), scratch(), output(), whole(n)}},
        {.grid_x = rows, .block_x = 256, .arguments = {scratch(), output(), whole(n)}}};
  // 16 floats a thread or more, so that there is something in flight, and 64 at most.
  const std::int64_t threads = rung == "vector" ? std::clamp<std::int64_t>((n / 16 + 31) / 32 * 32, 64, 256) : 256;
  return {{.grid_x = rows, .block_x = static_cast<unsigned>(threads), .n = rows}};
}

/// The largest relative error of an element, over 2,048 rows at most; all of the output is searched for NaN. Accepted:
/// 32 eps for the exponential, and 2 sqrt(n) eps, the growth of independent rounding errors in the sum.
Deviation softmax_compare(const Outcome& outcome) {
  const std::int64_t n = outcome.size;
  const auto out = floats_of(outcome);
  Deviation d;
  d.never_written = std::count_if(out.begin(), out.end(), [](float v) { return !(v == v); });
  d.bound = (32 + 2 * std::sqrt(static_cast<double>(n))) * 0x1p-23;
  std::vector<double> row(static_cast<std::size_t>(n));
  for (const std::int64_t r : chosen_lines(n, 2048, outcome.seed)) {
    for (std::int64_t i = 0; i < n; ++i)
      row[static_cast<std::size_t>(i)] = input_value(outcome.operation, outcome.seed, 0, r * n + i);
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& x : row) {
      x = std::exp(x - largest);
      sum += x;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double expected = row[static_cast<std::size_t>(i)] / sum;
      const double error =
          std::abs(static_cast<double>(out[static_cast<std::size_t>(r * n + i)]) - expected) / expected;
      if (!(error <= d.error)) d.error = error;
    }
  }
  return d;
}

const Ladder& softmax_ladder() {
  static const std::array rungs{
      Rung{"three", "three kernels",
           "Maximum, exponentials with their sum, division: the matrix is read three times and written twice.",
           embedded_source("cuda/rungs/softmax_three.cu"), "softmax_three", "gpu_copy"},
      Rung{"fused", "one kernel, three loops",
           "One block does all of a row: only its first loop reads from memory, the others from a cache.",
           embedded_source("cuda/rungs/softmax_fused.cu"), "softmax_fused", "gpu_copy"},
      Rung{
          "online", "online maximum",
          "Maximum and sum in one loop, rescaled when the maximum grows: a loop less, worth most when rows do not stay "
          "in a cache.",
          embedded_source("cuda/rungs/softmax_online.cu"), "softmax_online", "gpu_copy"},
      Rung{"vector", "vectors, row in registers",
           "16 bytes a load, many in flight, and the row stays in registers: read once, written once.",
           embedded_source("cuda/rungs/softmax_vector.cu"), "softmax_vector", "gpu_copy"},
  };
  static const Ladder ladder = matrix_ladder("cuda-softmax", "GPU softmax", Measure::bytes_per_s,
                                             {.lo = 128, .usual = 8192, .hi = 16384}, rungs, softmax_cost);
  return ladder;
}

}  // namespace

/// All values lie near -130: exp() of them is 0 in float, so that a maximum that is not subtracted shows.
const Operation& softmax_operation() {
  static const Operation operation{
      .ladder = &softmax_ladder(),
      .granule = 4,
      .edge_size = 1028,
      .inputs = {{.count = [](std::int64_t n) { return n * n; }, .lo = -140, .scale = 20}},
      .output_bytes = [](std::int64_t n) { return 4 * n * n; },
      .scratch_bytes = [](std::int64_t n) { return 8 * n; },
      .launches = softmax_launches,
      .compare = softmax_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
