// The ladder of matmuls on the GPU: C = A B, n x n floats. Each version is a file of rungs/, sgemm_NAME.cu.
//
// cuda-sgemm:
//   uncoalesced  one thread an element, neighbouring lanes in neighbouring rows
//   coalesced    a warp reads and writes along rows
//   shared       32 x 32 tiles in shared memory
//   register     8 x 8 sums a thread in registers
//   vector       float4 loads everywhere, the tile of A stored turned
//   warp         a tile a warp, and the next tile fetched while this one is used
//
//   ridgeline kernels run cuda-sgemm --size 4096
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cuda/deviation.h"
#include "kernels/cuda/operation.h"
#include "kernels/error_norm.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

std::int64_t sgemm_floats(std::int64_t n) { return n * n; }
std::int64_t sgemm_bytes(std::int64_t n) { return 4 * n * n; }

models::OpCost sgemm_cost(std::int64_t n) {
  const auto d = static_cast<double>(n);
  return models::gemm(d, d, d, 4, 4, 4);
}

std::vector<Launch> sgemm_launches(std::string_view rung, std::int64_t n, int) {
  const bool by_element = rung == "uncoalesced" || rung == "coalesced" || rung == "shared";
  const auto tiles = static_cast<unsigned>(n / (by_element ? 32 : 128));
  return {{
      .grid_x = tiles,
      .grid_y = tiles,
      .block_x = by_element ? 32u : 256u,
      .block_y = by_element ? 32u : 1u,
      .n = static_cast<unsigned>(n),
  }};
}

/// The elements where 64 rows and 64 columns cross are compared, one of each in every 64th of the matrix; all of C is
/// searched for NaN. Bound: sqrt(K) 2 eps of float, the growth of rounding errors that are independent.
Deviation sgemm_compare(const Outcome& outcome) {
  const std::span<const float> out = floats_of(outcome);
  const std::int64_t n = outcome.size;
  const std::uint32_t seed = outcome.seed;
  Deviation d;
  d.never_written = std::count_if(out.begin(), out.end(), [](float v) { return !(v == v); });
  const auto rows = chosen_lines(n, 64, seed), columns = chosen_lines(n, 64, seed + 1);
  const auto k_count = static_cast<std::size_t>(n);
  std::vector<double> a(rows.size() * k_count), b(columns.size() * k_count);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < k_count; ++k)
      a[i * k_count + k] = input_value(outcome.operation, seed, 0, rows[i] * n + static_cast<std::int64_t>(k));
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t k = 0; k < k_count; ++k)
      b[j * k_count + k] = input_value(outcome.operation, seed, 1, static_cast<std::int64_t>(k) * n + columns[j]);
  ErrorNorm norm;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < columns.size(); ++j) {
      double expected = 0;
      for (std::size_t k = 0; k < k_count; ++k) expected += a[i * k_count + k] * b[j * k_count + k];
      norm.add(static_cast<double>(out[static_cast<std::size_t>(rows[i] * n + columns[j])]), expected);
    }
  d.error = norm.value();
  d.bound = std::sqrt(static_cast<double>(n)) * 2 * 0x1p-23;
  return d;
}

const Ladder& sgemm_ladder() {
  static const std::array rungs{
      Rung{"uncoalesced", "uncoalesced",
           "One thread an element, neighbouring lanes in neighbouring rows: every load of a warp touches 32 rows.",
           embedded_source("cuda/rungs/sgemm_uncoalesced.cu"), "sgemm_uncoalesced", "gpu_sgemm"},
      Rung{"coalesced", "coalesced", "x and y change roles: a warp reads and writes along rows.",
           embedded_source("cuda/rungs/sgemm_coalesced.cu"), "sgemm_coalesced", "gpu_sgemm"},
      Rung{"shared", "shared tile",
           "32 x 32 tiles in shared memory: 1/32 of the global loads, but two shared loads for each multiply-add.",
           embedded_source("cuda/rungs/sgemm_shared.cu"), "sgemm_shared", "gpu_sgemm"},
      Rung{"register", "8 x 8 a thread",
           "64 sums in registers: 16 shared loads feed 64 multiply-adds, at a quarter of the occupancy.",
           embedded_source("cuda/rungs/sgemm_register.cu"), "sgemm_register", "gpu_sgemm"},
      Rung{"vector", "float4, A turned",
           "float4 loads everywhere, and the tile of A stored turned so that they can be.",
           embedded_source("cuda/rungs/sgemm_vector.cu"), "sgemm_vector", "gpu_sgemm"},
      Rung{"warp", "warp tiles",
           "A tile a warp without bank conflicts, and the next tile fetched while this one is used.",
           embedded_source("cuda/rungs/sgemm_warp.cu"), "sgemm_warp", "gpu_sgemm"},
  };
  static const Ladder ladder = matrix_ladder("cuda-sgemm", "GPU SGEMM", Measure::flops_per_s,
                                             {.lo = 128, .usual = 4096, .hi = 8192}, rungs, sgemm_cost);
  return ladder;
}

}  // namespace

const Operation& sgemm_operation() {
  static const Operation operation{
      .ladder = &sgemm_ladder(),
      .granule = 128,
      .edge_size = 384,
      .inputs = {{.count = sgemm_floats, .lo = -1, .scale = 2}, {.count = sgemm_floats, .lo = -1, .scale = 2}},
      .output_bytes = sgemm_bytes,
      .launches = sgemm_launches,
      .compare = sgemm_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
