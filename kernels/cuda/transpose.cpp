// The ladder of transposes on the GPU: out = in turned, n x n floats. Each version is a file of rungs/,
// transpose_NAME.cu.
//
// cuda-transpose:
//   naive     reads along rows, writes down columns
//   tile      a tile is turned in shared memory: 32-way bank conflicts
//   padded    one unused word a row of the tile: no conflicts
//   swizzled  column xor row instead of padding
//   vector    4 x 4 squares turned in registers, float4 everywhere
//
//   ridgeline kernels run cuda-transpose --size 8192
#include <array>
#include <cmath>

#include "kernels/cuda/operation.h"
#include "kernels/error_norm.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

std::int64_t transpose_floats(std::int64_t n) { return n * n; }
std::int64_t transpose_bytes(std::int64_t n) { return 4 * n * n; }

models::OpCost transpose_cost(std::int64_t n) {
  return models::copy(static_cast<double>(n) * static_cast<double>(n), 4);
}

std::vector<Launch> transpose_launches(std::string_view rung, std::int64_t n, int) {
  const bool vector = rung == "vector";
  const auto tiles = static_cast<unsigned>(n / (vector ? 64 : 32));
  return {{
      .grid_x = tiles,
      .grid_y = tiles,
      .block_x = vector ? 16u : 32u,
      .block_y = vector ? 16u : 8u,
      .n = static_cast<unsigned>(n),
  }};
}

/// A transpose is exact or wrong.
Deviation transpose_compare(const Outcome& outcome) {
  const std::span<const float> out = floats_of(outcome);
  const std::int64_t n = outcome.size;
  Deviation d;
  ErrorNorm norm;
  for (std::int64_t c = 0; c < n; ++c)
    for (std::int64_t r = 0; r < n; ++r) {
      const auto expected = input_value(outcome.operation, outcome.seed, 0, r * n + c);
      const float moved = out[static_cast<std::size_t>(c * n + r)];
      if (std::isnan(moved)) ++d.never_written;
      norm.add(static_cast<double>(moved), expected);
    }
  d.error = norm.value();
  return d;
}

const Ladder& transpose_ladder() {
  static const std::array rungs{
      Rung{"naive", "naive", "Reads along rows, writes down columns: each store of a warp touches 32 sectors.",
           embedded_source("cuda/rungs/transpose_naive.cu"), "transpose_naive", "gpu_copy"},
      Rung{"tile", "shared tile",
           "A tile is turned in shared memory, so both global accesses go along rows; reading its columns is a 32-way "
           "bank conflict.",
           embedded_source("cuda/rungs/transpose_tile.cu"), "transpose_tile", "gpu_copy"},
      Rung{"padded", "padded tile", "One unused word a row: a column now lies in 32 different banks.",
           embedded_source("cuda/rungs/transpose_padded.cu"), "transpose_padded", "gpu_copy"},
      Rung{"swizzled", "swizzled tile", "Column xor row instead of padding: no conflict and no memory lost.",
           embedded_source("cuda/rungs/transpose_swizzled.cu"), "transpose_swizzled", "gpu_copy"},
      Rung{"vector", "float4 and registers",
           "4 x 4 squares turned in registers, float4 everywhere: four loads in flight a thread.",
           embedded_source("cuda/rungs/transpose_vector.cu"), "transpose_vector", "gpu_copy"},
  };
  static const Ladder ladder = matrix_ladder("cuda-transpose", "GPU transpose", Measure::bytes_per_s,
                                             {.lo = 256, .usual = 8192, .hi = 16384}, rungs, transpose_cost);
  return ladder;
}

}  // namespace

const Operation& transpose_operation() {
  static const Operation operation{
      .ladder = &transpose_ladder(),
      .granule = 64,
      .edge_size = 192,
      .inputs = {{.count = transpose_floats}},
      .output_bytes = transpose_bytes,
      .launches = transpose_launches,
      .compare = transpose_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
