// LayerNorm, then GELU, of 1024 rows of n floats: c = gelu(weight (a - mean) / deviation + bias), where
// gelu(x) = x / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3). b holds the weights, then the biases.
//
// cpu-layernorm:
//   passes      four operations one after the other, each over all rows: what each writes, the next one reads
//   fused       all of it row by row: a row stays in the first cache
//   simd        the four operations again, 8 floats at a time
//   simd-fused  row by row, 8 floats at a time
//
//   ridgeline kernels run cpu-layernorm --size 8192
#include <algorithm>
#include <cmath>

#include "kernels/cpu/exp8.h"
#include "kernels/cpu/operation.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t norm_rows = 1024;
constexpr float tiny = 1e-5f;        // added to the variance
constexpr float two_u = 1.5957691f;  // 2 sqrt(2 / pi)

float gelu(float x) { return x / (1 + std::exp(-two_u * (x + 0.044715f * x * x * x))); }

float mean_of(std::int64_t n, const float* row) {
  float sum[4] = {};
  for (std::int64_t i = 0; i < n; ++i) sum[i % 4] += row[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) / static_cast<float>(n);
}

/// One over the deviation of a row from `mean`.
float scale_of(std::int64_t n, const float* row, float mean) {
  float sum[4] = {};
  for (std::int64_t i = 0; i < n; ++i) sum[i % 4] += (row[i] - mean) * (row[i] - mean);
  return 1 / std::sqrt(((sum[0] + sum[1]) + (sum[2] + sum[3])) / static_cast<float>(n) + tiny);
}

// rung: passes
void passes(std::int64_t n, const float* a, const float* b, float* c, float* work) {
  // As a program runs that calls one operation after the other. Eight times each number crosses to the memory or back.
  for (std::int64_t row = 0; row < norm_rows; ++row) {
    const float mean = mean_of(n, a + row * n);
    for (std::int64_t i = 0; i < n; ++i) work[row * n + i] = a[row * n + i] - mean;
  }
  for (std::int64_t row = 0; row < norm_rows; ++row) {
    const float scale = scale_of(n, work + row * n, 0);
    for (std::int64_t i = 0; i < n; ++i) c[row * n + i] = work[row * n + i] * scale;
  }
  for (std::int64_t row = 0; row < norm_rows; ++row)
    for (std::int64_t i = 0; i < n; ++i) work[row * n + i] = c[row * n + i] * b[i] + b[n + i];
  for (std::int64_t i = 0; i < norm_rows * n; ++i) c[i] = gelu(work[i]);
}
// end rung

// rung: fused
void fused(std::int64_t n, const float* a, const float* b, float* c, float*) {
  for (std::int64_t row = 0; row < norm_rows; ++row, a += n, c += n) {  // a row is read from the memory once
    const float mean = mean_of(n, a), scale = scale_of(n, a, mean);
    for (std::int64_t i = 0; i < n; ++i) c[i] = gelu((a[i] - mean) * scale * b[i] + b[n + i]);
  }
}
// end rung

#if RIDGELINE_X86
/// The first min(count, 8) floats, the other lanes zero.
AVX2 inline __m256 load_first(const float* at, std::int64_t count) {
  if (count >= 8) return _mm256_loadu_ps(at);
  alignas(32) float lanes[8] = {};
  std::copy_n(at, count, lanes);
  return _mm256_load_ps(lanes);
}

AVX2 inline void store_first(float* at, std::int64_t count, __m256 v) {
  if (count >= 8) return _mm256_storeu_ps(at, v);
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, v);
  std::copy_n(lanes, count, at);
}

AVX2 inline float total(__m256 v) {
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, v);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

/// x / (1 + exp(-2u)), with the exponential of a number that is not positive: where u < 0 both sides of the fraction
/// are multiplied by exp(2u).
AVX2 inline __m256 gelu8(__m256 x) {
  const __m256 cubic = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(0.044715f), _mm256_set1_ps(1));
  const __m256 u = _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(two_u)), cubic);
  const __m256 e = exp8(_mm256_or_ps(u, _mm256_set1_ps(-0.0f)));  // of -|2u|
  const __m256 over = _mm256_blendv_ps(_mm256_set1_ps(1), e, u);  // u < 0: e
  return _mm256_div_ps(_mm256_mul_ps(x, over), _mm256_add_ps(e, _mm256_set1_ps(1)));
}

AVX2 inline float mean8(std::int64_t n, const float* row) {
  __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    sum[0] = _mm256_add_ps(sum[0], _mm256_loadu_ps(row + i));
    sum[1] = _mm256_add_ps(sum[1], _mm256_loadu_ps(row + i + 8));
  }
  for (; i < n; i += 8) sum[0] = _mm256_add_ps(sum[0], load_first(row + i, n - i));
  return total(_mm256_add_ps(sum[0], sum[1])) / static_cast<float>(n);
}

AVX2 inline float scale8(std::int64_t n, const float* row, float mean) {
  __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  const __m256 middle = _mm256_set1_ps(mean);
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256 x0 = _mm256_sub_ps(_mm256_loadu_ps(row + i), middle);
    const __m256 x1 = _mm256_sub_ps(_mm256_loadu_ps(row + i + 8), middle);
    sum[0] = _mm256_fmadd_ps(x0, x0, sum[0]);
    sum[1] = _mm256_fmadd_ps(x1, x1, sum[1]);
  }
  float squares = total(_mm256_add_ps(sum[0], sum[1]));
  for (; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
  return 1 / std::sqrt(squares / static_cast<float>(n) + tiny);
}

// rung: simd
AVX2 void simd_passes(std::int64_t n, const float* a, const float* b, float* c, float* work) {
  for (std::int64_t row = 0; row < norm_rows; ++row) {
    const __m256 mean = _mm256_set1_ps(mean8(n, a + row * n));
    for (std::int64_t i = 0; i < n; i += 8)
      store_first(work + row * n + i, n - i, _mm256_sub_ps(load_first(a + row * n + i, n - i), mean));
  }
  for (std::int64_t row = 0; row < norm_rows; ++row) {
    const __m256 scale = _mm256_set1_ps(scale8(n, work + row * n, 0));
    for (std::int64_t i = 0; i < n; i += 8)
      store_first(c + row * n + i, n - i, _mm256_mul_ps(load_first(work + row * n + i, n - i), scale));
  }
  for (std::int64_t row = 0; row < norm_rows; ++row)
    for (std::int64_t i = 0; i < n; i += 8)
      store_first(
          work + row * n + i, n - i,
          _mm256_fmadd_ps(load_first(c + row * n + i, n - i), load_first(b + i, n - i), load_first(b + n + i, n - i)));
  for (std::int64_t i = 0; i < norm_rows * n; i += 8) {
    const std::int64_t left = norm_rows * n - i;
    store_first(c + i, left, gelu8(load_first(work + i, left)));
  }
}
// end rung

// rung: simd-fused
AVX2 void simd_fused(std::int64_t n, const float* a, const float* b, float* c, float*) {
  for (std::int64_t row = 0; row < norm_rows; ++row, a += n, c += n) {
    const float mean = mean8(n, a);
    const __m256 middle = _mm256_set1_ps(mean), scale = _mm256_set1_ps(scale8(n, a, mean));
    for (std::int64_t i = 0; i < n; i += 8) {
      const std::int64_t left = n - i;
      const __m256 x = _mm256_mul_ps(_mm256_sub_ps(load_first(a + i, left), middle), scale);
      store_first(c + i, left, gelu8(_mm256_fmadd_ps(x, load_first(b + i, left), load_first(b + n + i, left))));
    }
  }
}
// end rung
#endif

constexpr Version layer_norm_versions[] = {
    make_version("passes", "four passes",
                 "Centre, scale, weight and bias, GELU: each operation goes over all rows and writes an array that the "
                 "next one reads.",
                 "cpu/layer_norm.cpp:passes", "dram_copy", passes),
    make_version("fused", "fused",
                 "All of it row by row, so that a row comes from memory once. That saves little here: the exponential "
                 "of GELU, one at a time, is the limit.",
                 "cpu/layer_norm.cpp:fused", "dram_copy", fused),
    make_version(
        "simd", "four passes, 8 floats at a time",
        "The passes again with AVX2: the arithmetic is a fraction of what it was, and the bytes are the limit.",
        "cpu/layer_norm.cpp:simd", "dram_copy", X86_ONLY(simd_passes), Isa::avx2),
    make_version("simd-fused", "fused, 8 floats at a time",
                 "Now that the bytes are the limit, fusing saves what it promises: one read and one write of each "
                 "number where there were eight.",
                 "cpu/layer_norm.cpp:simd-fused", "dram_copy", X86_ONLY(simd_fused), Isa::avx2),
};

double layer_norm_error(const Shape& s, const float* a, const float* b, const float* c) {
  ErrorNorm norm;
  const auto width = static_cast<double>(s.n);
  for (std::int64_t row = 0; row < norm_rows; ++row, a += s.n, c += s.n) {
    double mean = 0, squares = 0;
    for (std::int64_t i = 0; i < s.n; ++i) mean += static_cast<double>(a[i]) / width;
    for (std::int64_t i = 0; i < s.n; ++i) squares += std::pow(static_cast<double>(a[i]) - mean, 2);
    const double scale = 1 / std::sqrt(squares / width + static_cast<double>(tiny));
    for (std::int64_t i = 0; i < s.n; ++i) {
      const double x =
          (static_cast<double>(a[i]) - mean) * scale * static_cast<double>(b[i]) + static_cast<double>(b[s.n + i]);
      const double u = std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
      norm.add(static_cast<double>(c[i]), 0.5 * x * (1 + std::tanh(u)));
    }
  }
  return norm.value();
}

}  // namespace

const Operation& layer_norm_operation() {
  static const Operation operation = {
      .ladder =
          {
              .id = "cpu-layernorm",
              .title = "LayerNorm and GELU, fused",
              .device = Device::cpu,
              .measure = Measure::bytes_per_s,
              .size_label = "Columns (of 1024 rows)",
              .size_unit = "",
              .size_lo = 1,
              .size_default = 8192,
              .size_hi = 1 << 15,
              .cost =
                  [](std::int64_t size) {
                    const auto n = static_cast<double>(size), rows = static_cast<double>(norm_rows);
                    models::OpCost cost = models::layer_norm(rows, n, 4, 4);
                    cost.flops += models::gelu(rows * n, 4).flops;  // no bytes: its operand is in a register
                    return cost;
                  },
          },
      .versions = layer_norm_versions,
      .shape =
          [](std::int64_t n) {
            return Shape{.n = n, .a = norm_rows * n, .b = 2 * n, .c = norm_rows * n, .work = norm_rows * n};
          },
      .fill =
          [](const Shape& s, std::uint64_t seed, float* a, float* b) {
            fill_uniform(seed, -2, 3, a, s.a);
            fill_uniform(seed + 1, 0.5f, 1.5f, b, s.n);
            fill_uniform(seed + 2, -1, 1, b + s.n, s.n);
          },
      .error = layer_norm_error,
      .error_bound = [](const Shape& s) { return 8 * float_epsilon * (1 + std::sqrt(static_cast<double>(s.n))); },
  };
  return operation;
}

}  // namespace kernels::cpu
