// The ladder of matmuls on the tensor cores: C = A B^T, n x n in bf16, as a linear layer holds its weights: B has a row
// for each column of C. Each version is a file of rungs/, bf16_gemm_NAME.cu.
//
// cuda-bf16-gemm:
//   wmma      16 x 16 a warp, fragments straight from global memory
//   mma       128 x 128 tiles in shared memory, fragments put together by hand
//   async     the tiles copied by cp.async
//   ldmatrix  four matrices of 8 x 8 in one load
//   swizzle   chunks of a row XORed with it: no bank conflicts
//   pipeline  a ring of three buffers
//   wgmma     warpgroups, operands by descriptor: sm_90a alone
//
//   ridgeline kernels run cuda-bf16-gemm --size 8192
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cuda/operation.h"
#include "kernels/error_norm.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

std::int64_t bf16_gemm_elements(std::int64_t n) { return n * n; }
std::int64_t bf16_gemm_bytes(std::int64_t n) { return 2 * n * n; }

models::OpCost bf16_gemm_cost(std::int64_t n) {
  const auto d = static_cast<double>(n);
  return models::gemm(d, d, d, 2, 2, 2);
}

std::vector<Launch> bf16_gemm_launches(std::string_view rung, std::int64_t n, int) {
  struct Geometry {
    std::int64_t rows = 128, columns = 128;
    unsigned shared_bytes = 0;
  };
  const Geometry g = rung == "wmma"       ? Geometry{32, 64}
                     : rung == "pipeline" ? Geometry{128, 128, 3 * (128 + 128) * 64 * 2}
                     : rung == "wgmma"    ? Geometry{256, 128, 4 * (256 + 128) * 64 * 2}
                                          : Geometry{};
  return {{
      .grid_x = static_cast<unsigned>((n + g.columns - 1) / g.columns),
      .grid_y = static_cast<unsigned>((n + g.rows - 1) / g.rows),
      .block_x = 256,
      .n = static_cast<unsigned>(n),
      .shared_bytes = g.shared_bytes,
  }};
}

/// `count` numbers below n, one from each of as many equal parts.
std::vector<std::int64_t> bf16_gemm_lines(std::int64_t n, std::int64_t count, std::uint32_t seed) {
  std::vector<std::int64_t> lines;
  count = std::min(n, count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = i * n / count, width = (i + 1) * n / count - first;
    seed = seed * 1664525u + 1013904223u;
    lines.push_back(first + static_cast<std::int64_t>(seed >> 8) % width);
  }
  return lines;
}

/// The elements where 64 rows and 64 columns cross are compared; all of C is searched for NaN. The products of two bf16
/// are exact in float32. Bound: sums of K terms grow rounding errors by sqrt(K) 2 eps, and the nearest bf16 is at most
/// 2^-8 of a number away from it.
Deviation bf16_gemm_compare(const Outcome& outcome) {
  const std::int64_t n = outcome.size;
  Deviation d;
  for (std::int64_t i = 0; i < n * n; ++i) d.never_written += std::isnan(bf16_at(outcome, i)) ? 1 : 0;
  const auto rows = bf16_gemm_lines(n, 64, outcome.seed), columns = bf16_gemm_lines(n, 64, outcome.seed + 1);
  const auto k_count = static_cast<std::size_t>(n);
  std::vector<double> a(rows.size() * k_count), b(columns.size() * k_count);
  const auto take = [&](std::vector<double>& to, const std::vector<std::int64_t>& lines, int which) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      for (std::size_t k = 0; k < k_count; ++k)
        to[i * k_count + k] =
            input_value(outcome.operation, outcome.seed, which, lines[i] * n + static_cast<std::int64_t>(k));
  };
  take(a, rows, 0);
  take(b, columns, 1);
  ErrorNorm norm;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < columns.size(); ++j) {
      double expected = 0;
      for (std::size_t k = 0; k < k_count; ++k) expected += a[i * k_count + k] * b[j * k_count + k];
      norm.add(bf16_at(outcome, rows[i] * n + columns[j]), expected);
    }
  d.error = norm.value();
  d.bound = std::sqrt(static_cast<double>(n)) * 2 * 0x1p-23 + 0x1p-8;
  return d;
}

const Ladder& bf16_gemm_ladder() {
  constexpr std::string_view roof = "gpu_bf16";
  static const std::array rungs{
      Rung{.id = "wmma",
           .title = "WMMA",
           .change =
               "A warp asks the tensor cores for 16 x 16 of C. Fragments come straight from global memory, and each "
               "element serves 16 multiply-adds.",
           .source = embedded_source("cuda/rungs/bf16_gemm_wmma.cu"),
           .entry = "bf16_gemm_wmma",
           .roof = roof,
           .capability_lo = 80},
      Rung{.id = "mma",
           .title = "mma.sync, tiles",
           .change =
               "128 x 128 tiles in shared memory: an element that comes from global memory serves 128 multiply-adds. "
               "The lanes of a warp put the fragments of its 64 x 32 together, a word at a time.",
           .source = embedded_source("cuda/rungs/bf16_gemm_mma.cu"),
           .entry = "bf16_gemm_mma",
           .roof = roof,
           .capability_lo = 80},
      Rung{.id = "async",
           .title = "cp.async",
           .change = "Tiles are copied into shared memory past the registers, all of a thread's copies at once. They "
                     "are still waited for before anything is multiplied.",
           .source = embedded_source("cuda/rungs/bf16_gemm_async.cu"),
           .entry = "bf16_gemm_async",
           .roof = roof,
           .capability_lo = 80},
      Rung{.id = "ldmatrix",
           .title = "ldmatrix",
           .change =
               "One ldmatrix in the place of four loads of words. The eight rows of a matrix lie in the same four "
               "banks and are read one after the other.",
           .source = embedded_source("cuda/rungs/bf16_gemm_ldmatrix.cu"),
           .entry = "bf16_gemm_ldmatrix",
           .roof = roof,
           .capability_lo = 80},
      Rung{.id = "swizzle",
           .title = "swizzle",
           .change = "Each row's chunks of 16 bytes are XORed with the row: the eight rows of a matrix are in all 32 "
                     "banks, and one wavefront reads them.",
           .source = embedded_source("cuda/rungs/bf16_gemm_swizzle.cu"),
           .entry = "bf16_gemm_swizzle",
           .roof = roof,
           .capability_lo = 80},
      Rung{.id = "pipeline",
           .title = "three buffers",
           .change = "A ring of three buffers, 96 KiB: two tiles are copied while the third is multiplied, with one "
                     "barrier a tile.",
           .source = embedded_source("cuda/rungs/bf16_gemm_pipeline.cu"),
           .entry = "bf16_gemm_pipeline",
           .roof = roof,
           .capability_lo = 80},
      Rung{.id = "wgmma",
           .title = "wgmma",
           .change = "Four warps multiply together, straight from shared memory and while they copy: no fragment of A "
                     "or B passes through registers. sm_90a alone: sm_100 has tcgen05 in its place, and elsewhere it "
                     "is mma.sync.",
           .source = embedded_source("cuda/rungs/bf16_gemm_wgmma.cu"),
           .entry = "bf16_gemm_wgmma",
           .roof = roof,
           .capability_lo = 90,
           .capability_hi = 90,
           .architecture_specific = true},
  };
  static const Ladder ladder = matrix_ladder("cuda-bf16-gemm", "GPU bf16 GEMM", Measure::flops_per_s,
                                             {.lo = 256, .usual = 8192, .hi = 16384}, rungs, bf16_gemm_cost);
  return ladder;
}

}  // namespace

const Operation& bf16_gemm_operation() {
  constexpr Array matrix{.element = Element::bf16, .count = bf16_gemm_elements, .lo = -1, .scale = 2};
  static const Operation operation{
      .ladder = &bf16_gemm_ladder(),
      .granule = 16,
      .edge_size = 208,
      .inputs = {matrix, matrix},
      .output_bytes = bf16_gemm_bytes,
      .launches = bf16_gemm_launches,
      .compare = bf16_gemm_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
