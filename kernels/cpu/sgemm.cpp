// C = A B, all n x n and row-major, in single precision.
//
// cpu-sgemm:
//   naive    the definition: the inner loop walks down a column of B
//   ikj      the inner loop walks along rows of B and C
//   simd     AVX2 with a fused multiply-add, 8 floats at a time
//   blocked  a block of B stays in the first cache
//   tile     6 x 16 results stay in registers over the whole sum
//   spill    a trap: 8 x 16 results, which do not stay in registers
//   packed   blocks of A and B are copied into the order in which a tile of 4 x 24 reads them (sgemm_packed.cpp)
//   avx512   the same with 12 x 32 results in registers of 16 floats (sgemm_packed.cpp)
//
//   ridgeline kernels run cpu-sgemm --size 1024
//   ridgeline kernels run cpu-sgemm --rung tile --rung spill --warm
#include <vector>

#include "kernels/cpu/operation.h"
#include "kernels/cpu/sgemm_packed.h"

namespace kernels::cpu {
namespace {

// rung: naive
void naive(std::int64_t n, const float* a, const float* b, float* c, float*) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += a[i * n + k] * b[k * n + j];  // b by column: a new line for every float
      c[i * n + j] = sum;
    }
}
// end rung

// rung: ikj
void ikj(std::int64_t n, const float* a, const float* b, float* c, float*) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];  // b and c by row
  }
}
// end rung

#if RIDGELINE_X86
// rung: simd
AVX2 void simd(std::int64_t n, const float* a, const float* b, float* c, float*) {
  for (std::int64_t i = 0; i < n; ++i) {
    float* out = c + i * n;
    for (std::int64_t j = 0; j < n; ++j) out[j] = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const __m256 value = _mm256_set1_ps(a[i * n + k]);
      const float* row = b + k * n;
      std::int64_t j = 0;
      for (; j + 8 <= n; j += 8)
        _mm256_storeu_ps(out + j, _mm256_fmadd_ps(value, _mm256_loadu_ps(row + j), _mm256_loadu_ps(out + j)));
      for (; j < n; ++j) out[j] += a[i * n + k] * row[j];
    }
  }
}
// end rung

// rung: blocked
AVX2 void blocked(std::int64_t n, const float* a, const float* b, float* c, float*) {
  constexpr std::int64_t block_k = 32, block_j = 256;  // 32 KiB of b stay in the first cache while all of a passes by
  for (std::int64_t i = 0; i < n * n; ++i) c[i] = 0;
  for (std::int64_t j0 = 0; j0 < n; j0 += block_j)
    for (std::int64_t k0 = 0; k0 < n; k0 += block_k) {
      const std::int64_t j1 = j0 + block_j < n ? j0 + block_j : n, k1 = k0 + block_k < n ? k0 + block_k : n;
      for (std::int64_t i = 0; i < n; ++i) {
        float* out = c + i * n;
        for (std::int64_t k = k0; k < k1; ++k) {
          const __m256 value = _mm256_set1_ps(a[i * n + k]);
          const float* row = b + k * n;
          std::int64_t j = j0;
          for (; j + 8 <= j1; j += 8)
            _mm256_storeu_ps(out + j, _mm256_fmadd_ps(value, _mm256_loadu_ps(row + j), _mm256_loadu_ps(out + j)));
          for (; j < j1; ++j) out[j] += a[i * n + k] * row[j];
        }
      }
    }
}
// end rung

/// What does not fill a tile: rows [i0, i1) and columns [j0, j1) of c.
void plain_edge(std::int64_t n, const float* a, const float* b, float* c, std::int64_t i0, std::int64_t i1,
                std::int64_t j0, std::int64_t j1) {
  for (std::int64_t i = i0; i < i1; ++i) {
    for (std::int64_t j = j0; j < j1; ++j) c[i * n + j] = 0;
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t j = j0; j < j1; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

// rung: tile
AVX2 void tile(std::int64_t n, const float* a, const float* b, float* c, float*) {
  // 6 x 16 results in 12 of the 16 registers, for the whole sum over k: c is written once and never read. Two registers
  // hold a row piece of b, one a value of a: 12 multiply-adds for 8 loads.
  const std::int64_t whole_i = n / 6 * 6, whole_j = n / 16 * 16;
  for (std::int64_t j = 0; j < whole_j; j += 16)
    for (std::int64_t i = 0; i < whole_i; i += 6) {
      __m256 sum[6][2];
      UNROLLED
      for (int r = 0; r < 6; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_ps();
      for (std::int64_t k = 0; k < n; ++k) {
        const __m256 b0 = _mm256_loadu_ps(b + k * n + j), b1 = _mm256_loadu_ps(b + k * n + j + 8);
        UNROLLED
        for (int r = 0; r < 6; ++r) {
          const __m256 value = _mm256_broadcast_ss(a + (i + r) * n + k);
          sum[r][0] = _mm256_fmadd_ps(value, b0, sum[r][0]);
          sum[r][1] = _mm256_fmadd_ps(value, b1, sum[r][1]);
        }
      }
      UNROLLED
      for (int r = 0; r < 6; ++r) {
        _mm256_storeu_ps(c + (i + r) * n + j, sum[r][0]);
        _mm256_storeu_ps(c + (i + r) * n + j + 8, sum[r][1]);
      }
    }
  plain_edge(n, a, b, c, 0, whole_i, whole_j, n);
  plain_edge(n, a, b, c, whole_i, n, 0, n);
}
// end rung

// rung: spill
AVX2 void spill(std::int64_t n, const float* a, const float* b, float* c, float*) {
  // A larger tile ought to be better: 16 multiply-adds for 10 loads. But 8 x 16 results fill all 16 registers, and the
  // loop over r is not unrolled, so that sum[r] has no constant place. The results live on the stack: a load and a
  // store for each multiply-add.
  const std::int64_t whole_i = n / 8 * 8, whole_j = n / 16 * 16;
  for (std::int64_t j = 0; j < whole_j; j += 16)
    for (std::int64_t i = 0; i < whole_i; i += 8) {
      __m256 sum[8][2];
      NOT_UNROLLED
      for (int r = 0; r < 8; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_ps();
      for (std::int64_t k = 0; k < n; ++k) {
        const __m256 b0 = _mm256_loadu_ps(b + k * n + j), b1 = _mm256_loadu_ps(b + k * n + j + 8);
        NOT_UNROLLED
        for (int r = 0; r < 8; ++r) {
          const __m256 value = _mm256_broadcast_ss(a + (i + r) * n + k);
          sum[r][0] = _mm256_fmadd_ps(value, b0, sum[r][0]);
          sum[r][1] = _mm256_fmadd_ps(value, b1, sum[r][1]);
        }
      }
      NOT_UNROLLED
      for (int r = 0; r < 8; ++r) {
        _mm256_storeu_ps(c + (i + r) * n + j, sum[r][0]);
        _mm256_storeu_ps(c + (i + r) * n + j + 8, sum[r][1]);
      }
    }
  plain_edge(n, a, b, c, 0, whole_i, whole_j, n);
  plain_edge(n, a, b, c, whole_i, n, 0, n);
}
// end rung
#endif

// Three seconds a call. Beyond, a Xeon reached 0.5 GFLOP/s at 1536 (15 s) and 0.4 at 2048 (44 s), where columns of B
// lie a power of two apart.
constexpr std::int64_t naive_hi = 1280;
constexpr double naive_beyond_flops_per_s = 0.5e9;
constexpr Version sgemm_versions[] = {
    {
        .rung =
            {
                .id = "naive",
                .title = "three loops, ijk",
                .change = "The definition. The inner loop walks down a column of B: a cache line for every float.",
                .source = "cpu/sgemm.cpp:naive",
                .roof = "fma",
            },
        .call = naive,
        .size_hi = naive_hi,
        .flops_per_s = naive_beyond_flops_per_s,
    },
    make_version("ikj", "loops in the order ikj",
                 "The inner loop walks along rows of B and C: every line is used whole.", "cpu/sgemm.cpp:ikj", "fma",
                 ikj),
    make_version("simd", "8 floats at a time",
                 "AVX2 with a fused multiply-add; now two loads and a store for each are the limit.",
                 "cpu/sgemm.cpp:simd", "fma_avx2", X86_ONLY(simd), Isa::avx2),
    make_version("blocked", "cache blocks",
                 "A block of B stays in the first cache, which helps a little: the loads and stores of C are "
                 "still the limit.",
                 "cpu/sgemm.cpp:blocked", "fma_avx2", X86_ONLY(blocked), Isa::avx2),
    make_version("tile", "6 x 16 register tile",
                 "96 results stay in registers over the whole sum: 12 multiply-adds for 8 loads, no stores.",
                 "cpu/sgemm.cpp:tile", "fma_avx2", X86_ONLY(tile), Isa::avx2),
    make_version("spill", "8 x 16 tile that spills",
                 "A trap: a larger tile whose results do not stay in registers. They go through the stack, at "
                 "half the rate or less.",
                 "cpu/sgemm.cpp:spill", "fma_avx2", X86_ONLY(spill), Isa::avx2),
    make_version("packed", "packed panels",
                 "A and B are copied block by block into the order in which the tile, 4 x 24 now, reads them. Worth "
                 "most at N = 1024, where rows fall on the same few sets of the cache.",
                 "cpu/sgemm_packed.cpp:packed", "fma_avx2", X86_ONLY(sgemm_packed), Isa::avx2),
    make_version("avx512", "12 x 32 tile, AVX-512",
                 "32 registers of 16 floats: 24 hold results. Twice the lanes, the same packing.",
                 "cpu/sgemm_packed.cpp:avx512", "fma_avx512", X86_ONLY(sgemm_avx512), Isa::avx512),
};

Shape sgemm_shape(std::int64_t n) {
  return {
      .n = n,
      .a = n * n,
      .b = n * n,
      .c = n * n,
      .work = sgemm_work_floats(n),
  };
}

/// Freivalds' check: C x against A (B x) for random vectors x, in float64. For x of independent entries E|D x|^2 is
/// proportional to the sum of squares of D, so that the ratio estimates |C - AB| / |AB| of the whole product in n^2
/// steps, and a single wrong result weighs as much in it as in the norm itself.
double sgemm_error(const Shape& s, const float* a, const float* b, const float* c) {
  const std::int64_t n = s.n;
  const auto times = [n](const float* m, const std::vector<double>& v) {
    std::vector<double> out(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        out[static_cast<std::size_t>(i)] += static_cast<double>(m[i * n + j]) * v[static_cast<std::size_t>(j)];
    return out;
  };
  ErrorNorm norm;
  std::vector<float> random(static_cast<std::size_t>(n));
  for (std::uint64_t probe = 0; probe < 4; ++probe) {
    fill_uniform(0x5eed + probe, -1, 1, random.data(), n);
    const std::vector<double> x(random.begin(), random.end());
    const std::vector<double> out = times(c, x), reference = times(a, times(b, x));
    for (std::size_t i = 0; i < x.size(); ++i) norm.add(out[i], reference[i]);
  }
  return norm.value();
}

}  // namespace

const Operation& sgemm_operation() {
  static const Operation operation = {
      .ladder =
          {
              .id = "cpu-sgemm",
              .title = "Matmul (SGEMM)",
              .device = Device::cpu,
              .measure = Measure::flops_per_s,
              .size_label = "Size N",
              .size_unit = "",
              .size_lo = 1,
              .size_default = 768,
              .size_hi = 2048,
              .cost =
                  [](std::int64_t size) {
                    const auto n = static_cast<double>(size);
                    return models::gemm(n, n, n, 4, 4, 4);
                  },
          },
      .versions = sgemm_versions,
      .shape = sgemm_shape,
      .fill =
          [](const Shape& s, std::uint64_t seed, float* a, float* b) {
            fill_uniform(seed, -1, 1, a, s.a);
            fill_uniform(seed + 1, -1, 1, b, s.b);
          },
      .error = sgemm_error,
      .error_bound = [](const Shape& s) { return 2 * float_epsilon * std::sqrt(static_cast<double>(s.n)); },
  };  // rounding errors of a sum of n add like a random walk
  return operation;
}

}  // namespace kernels::cpu
