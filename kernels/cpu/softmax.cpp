// Softmax of each of 64 rows of n floats: c = exp(a - max) / sum exp(a - max).
//
// cpu-softmax:
//   expf    maximum, exponentials and sum, scaling: three passes, one element at a time
//   simd    the same passes with an exponential of eight lanes
//   online  maximum and sum in one pass: fewer bytes, three exponentials an element
//
//   ridgeline kernels run cpu-softmax --size 65536
#include <algorithm>
#include <limits>

#include "kernels/cpu/exp8.h"
#include "kernels/cpu/operation.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t rows = 64;

// rung: expf
void three_passes_expf(std::int64_t n, const float* a, const float*, float* c, float*) {
  for (std::int64_t row = 0; row < rows; ++row, a += n, c += n) {
    float most = a[0];
    for (std::int64_t i = 1; i < n; ++i) most = std::max(most, a[i]);
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += c[i] = std::exp(a[i] - most);
    for (std::int64_t i = 0; i < n; ++i) c[i] *= 1 / sum;
  }
}
// end rung

#if RIDGELINE_X86
/// The first min(count, 8) floats; the other lanes are very negative, so that they add nothing to a softmax.
AVX2 inline __m256 load_some(const float* at, std::int64_t count) {
  if (count >= 8) return _mm256_loadu_ps(at);
  alignas(32) float lanes[8];
  std::fill_n(lanes, 8, std::numeric_limits<float>::lowest());
  std::copy_n(at, count, lanes);
  return _mm256_load_ps(lanes);
}

AVX2 inline void store_some(float* at, std::int64_t count, __m256 v) {
  if (count >= 8) return _mm256_storeu_ps(at, v);
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, v);
  std::copy_n(lanes, count, at);
}

AVX2 inline float largest_lane(__m256 v) {
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, v);
  return *std::max_element(lanes, lanes + 8);
}

AVX2 inline float sum_of_lanes(__m256 v) {
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, v);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// rung: simd
// exp8 (kernels/cpu/exp8.h): 2^k from the exponent's bits times a polynomial of the rest.
AVX2 void three_passes_simd(std::int64_t n, const float* a, const float*, float* c, float*) {
  for (std::int64_t row = 0; row < rows; ++row, a += n, c += n) {
    __m256 most8 = load_some(a, n);
    for (std::int64_t i = 8; i < n; i += 8) most8 = _mm256_max_ps(most8, load_some(a + i, n - i));
    const __m256 most = _mm256_set1_ps(largest_lane(most8));
    __m256 sum = _mm256_setzero_ps();
    for (std::int64_t i = 0; i < n; i += 8) {
      const __m256 x = load_some(a + i, n - i);
      const __m256 e =
          _mm256_and_ps(exp8(_mm256_sub_ps(x, most)),
                        _mm256_cmp_ps(x, _mm256_set1_ps(std::numeric_limits<float>::lowest()), _CMP_GT_OQ));
      store_some(c + i, n - i, e);
      sum = _mm256_add_ps(sum, e);
    }
    const __m256 scale = _mm256_set1_ps(1 / sum_of_lanes(sum));
    for (std::int64_t i = 0; i < n; i += 8) store_some(c + i, n - i, _mm256_mul_ps(load_some(c + i, n - i), scale));
  }
}
// end rung

// rung: online
AVX2 void online(std::int64_t n, const float* a, const float*, float* c, float*) {
  const __m256 nothing = _mm256_set1_ps(std::numeric_limits<float>::lowest());
  for (std::int64_t row = 0; row < rows; ++row, a += n, c += n) {
    // One pass for maximum and sum: when the maximum grows, the sum so far shrinks by exp(old - new). Eight lanes, each
    // its own.
    __m256 most8 = nothing, sum8 = _mm256_setzero_ps();
    for (std::int64_t i = 0; i < n; i += 8) {
      const __m256 x = load_some(a + i, n - i);
      const __m256 grown = _mm256_max_ps(most8, x);
      const __m256 e = _mm256_and_ps(exp8(_mm256_sub_ps(x, grown)), _mm256_cmp_ps(x, nothing, _CMP_GT_OQ));
      sum8 = _mm256_fmadd_ps(sum8, exp8(_mm256_sub_ps(most8, grown)), e);
      most8 = grown;
    }
    const __m256 most = _mm256_set1_ps(largest_lane(most8));
    const __m256 scale = _mm256_set1_ps(1 / sum_of_lanes(_mm256_mul_ps(sum8, exp8(_mm256_sub_ps(most8, most)))));
    for (std::int64_t i = 0; i < n; i += 8)
      store_some(c + i, n - i, _mm256_mul_ps(exp8(_mm256_sub_ps(load_some(a + i, n - i), most)), scale));
  }
}
// end rung
#endif

constexpr Version softmax_versions[] = {
    make_version("expf", "three passes with expf",
                 "Maximum, exponentials and sum, scaling: one element at a time, with the library's exponential.",
                 "cpu/softmax.cpp:expf", "dram_copy", three_passes_expf),
    make_version("simd", "three passes, 8 floats at a time",
                 "The same passes with an exponential of eight lanes: a polynomial and a shift into the exponent.",
                 "cpu/softmax.cpp:simd", "dram_copy", X86_ONLY(three_passes_simd), Isa::avx2),
    make_version("online", "online",
                 "Maximum and sum in one pass: fewer bytes, but three exponentials an element for one. Here "
                 "arithmetic is the limit, so it is slower.",
                 "cpu/softmax.cpp:online", "dram_copy", X86_ONLY(online), Isa::avx2),
};

double softmax_error(const Shape& s, const float* a, const float*, const float* c) {
  ErrorNorm norm;
  for (std::int64_t row = 0; row < rows; ++row, a += s.n, c += s.n) {
    const auto most = static_cast<double>(*std::max_element(a, a + s.n));
    double sum = 0;
    for (std::int64_t i = 0; i < s.n; ++i) sum += std::exp(static_cast<double>(a[i]) - most);
    for (std::int64_t i = 0; i < s.n; ++i)
      norm.add(static_cast<double>(c[i]), std::exp(static_cast<double>(a[i]) - most) / sum);
  }
  return norm.value();
}

}  // namespace

const Operation& softmax_operation() {
  static const Operation operation = {
      .ladder =
          {
              .id = "cpu-softmax",
              .title = "Softmax",
              .device = Device::cpu,
              .measure = Measure::bytes_per_s,
              .size_label = "Columns (of 64 rows)",
              .size_unit = "",
              .size_lo = 1,
              .size_default = 65536,
              .size_hi = 1 << 18,
              .cost = [](std::int64_t size) { return models::softmax(rows, static_cast<double>(size), 4); },
          },
      .versions = softmax_versions,
      .shape = [](std::int64_t size) { return Shape{.n = size, .a = rows * size, .c = rows * size}; },
      .fill = [](const Shape& s, std::uint64_t seed, float* a, float*) { fill_uniform(seed, -8, 8, a, s.a); },
      .error = softmax_error,
      .error_bound = [](const Shape& s) { return 8 * float_epsilon * (1 + std::sqrt(static_cast<double>(s.n))); },
  };
  return operation;
}

}  // namespace kernels::cpu
