// The ladder of LayerNorm and GELU on the GPU: rows of an n x n matrix of floats, normalized, times weight plus bias,
// through GELU (with erf). Each version is a file of rungs/, layernorm_gelu_NAME.cu.
//
// cuda-layernorm-gelu:
//   passes   a kernel for each formula: six passes over the matrix
//   unfused  LayerNorm, then GELU: four passes
//   fused    both in one kernel: two passes
//   vector   16 bytes a load, and the row stays in registers
//
//   ridgeline kernels run cuda-layernorm-gelu --size 8192
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/cuda/deviation.h"
#include "kernels/cuda/operation.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

/// Fused: the matrix is read once and written once.
models::OpCost layernorm_gelu_cost(std::int64_t n) {
  const auto d = static_cast<double>(n);
  models::OpCost cost = models::layer_norm(d, d, 4, 4);
  cost.flops += models::gelu(d * d, 4).flops;
  return cost;
}

std::vector<Launch> layernorm_gelu_launches(std::string_view rung, std::int64_t n, int) {
  const auto rows = static_cast<unsigned>(n);
  const auto launch = [rows](std::string_view entry, std::vector<Argument> arguments) {
    return Launch{.grid_x = rows, .block_x = 256, .entry = entry, .arguments = std::move(arguments)};
  };
  if (rung == "passes")
    return {launch("layernorm_gelu_mean", {input(0), scratch(), whole(n)}),
            launch("layernorm_gelu_deviation", {input(0), scratch(), whole(n)}),
            launch("layernorm_gelu_normalize", {input(0), input(1), input(2), scratch(), output(), whole(n)}),
            launch({}, {output(), whole(n)})};
  std::vector<Launch> launches{launch({}, {input(0), input(1), input(2), output(), whole(n)})};
  if (rung == "unfused") launches.push_back(launch("layernorm_gelu_unfused_gelu", {output(), whole(n)}));
  if (rung == "vector")  // 16 floats a thread or more, so that there is something in flight, and 64 at most
    launches[0].block_x = static_cast<unsigned>(std::clamp<std::int64_t>((n / 16 + 31) / 32 * 32, 64, 256));
  return launches;
}

/// One row in float64.
void layernorm_gelu_row(const Outcome& outcome, std::int64_t r, std::vector<double>& row) {
  const std::int64_t n = outcome.size;
  double mean = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    row[static_cast<std::size_t>(i)] = input_value(outcome.operation, outcome.seed, 0, r * n + i);
    mean += row[static_cast<std::size_t>(i)] / static_cast<double>(n);
  }
  for (const double x : row) squares += (x - mean) * (x - mean);
  const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
  for (std::int64_t i = 0; i < n; ++i) {
    double& x = row[static_cast<std::size_t>(i)];
    const double y = (x - mean) * scale * input_value(outcome.operation, outcome.seed, 1, i) +
                     input_value(outcome.operation, outcome.seed, 2, i);
    x = 0.5 * y * (1 + std::erf(y / std::sqrt(2.0)));
  }
}

/// The largest error of an element over 2,048 rows at most; all of the output is searched for NaN. The mean, near 100,
/// is a float whose last bit is 2.6e-5 of the deviation; 16 of them are accepted.
Deviation layernorm_gelu_compare(const Outcome& outcome) {
  const std::int64_t n = outcome.size;
  const auto out = floats_of(outcome);
  Deviation d;
  d.never_written = std::count_if(out.begin(), out.end(), [](float v) { return !(v == v); });
  PeakError peak;
  std::vector<double> row(static_cast<std::size_t>(n));
  for (const std::int64_t r : chosen_lines(n, 2048, outcome.seed)) {
    layernorm_gelu_row(outcome, r, row);
    for (std::int64_t i = 0; i < n; ++i)
      peak.add(static_cast<double>(out[static_cast<std::size_t>(r * n + i)]), row[static_cast<std::size_t>(i)]);
  }
  d.error = peak.value();
  d.bound = 4e-4;
  return d;
}

const Ladder& layernorm_gelu_ladder() {
  static const std::array rungs{
      Rung{"passes", "a kernel for each formula",
           "Mean, deviation, normalized row, GELU: the matrix is read four times and written twice.",
           embedded_source("cuda/rungs/layernorm_gelu_passes.cu"), "layernorm_gelu_passes", "gpu_copy"},
      Rung{"unfused", "LayerNorm, then GELU",
           "LayerNorm reads a row from memory once and keeps it in a cache: four passes instead of six.",
           embedded_source("cuda/rungs/layernorm_gelu_unfused.cu"), "layernorm_gelu_unfused", "gpu_copy"},
      Rung{"fused", "both in one kernel",
           "GELU works on the result in a register: one read and one write, half of the passes.",
           embedded_source("cuda/rungs/layernorm_gelu_fused.cu"), "layernorm_gelu_fused", "gpu_copy"},
      Rung{"vector", "vectors, row in registers",
           "16 bytes a load, many in flight, and the row stays in registers until it is written.",
           embedded_source("cuda/rungs/layernorm_gelu_vector.cu"), "layernorm_gelu_vector", "gpu_copy"},
  };
  static const Ladder ladder = matrix_ladder("cuda-layernorm-gelu", "GPU LayerNorm and GELU", Measure::bytes_per_s,
                                             {.lo = 128, .usual = 8192, .hi = 16384}, rungs, layernorm_gelu_cost);
  return ladder;
}

}  // namespace

/// The mean is 350 times the deviation, so that a variance from the mean of the squares shows.
const Operation& layernorm_gelu_operation() {
  static const Operation operation{
      .ladder = &layernorm_gelu_ladder(),
      .granule = 4,
      .edge_size = 1028,
      .inputs = {{.count = [](std::int64_t n) { return n * n; }, .lo = 100, .scale = 1},
                 {.count = [](std::int64_t n) { return n; }, .lo = 0.5f, .scale = 1},
                 {.count = [](std::int64_t n) { return n; }, .lo = -0.5f, .scale = 1}},
      .output_bytes = [](std::int64_t n) { return 4 * n * n; },
      .scratch_bytes = [](std::int64_t n) { return 8 * n; },
      .launches = layernorm_gelu_launches,
      .compare = layernorm_gelu_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
