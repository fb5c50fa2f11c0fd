// Peak rate: each of 384 numbers goes n times through x = x m + d. The numbers do not depend on each other, so how many
// are under way at once is the kernel's choice: with k chains in flight, a unit that starts two multiply-adds a cycle
// of 4 cycles each needs k >= 8. a holds the starting values, b[0] = m and b[1] = d, c the results.
//
// cpu-fma:
//   scalar     one float, a multiply and an add that waits for it
//   chains-1   AVX2 with a fused multiply-add: eight lanes, one chain
//   chains-2   two independent chains
//   chains-4   four: one unit of four cycles' latency is full
//   chains-8   eight: both units can be full
//   chains-12  a few more, so that neither unit waits: the peak of AVX2
//   avx512     twice the lanes
//
//   ridgeline kernels run cpu-fma
#include "kernels/cpu/operation.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t numbers = 384;  // 24 vectors of 16 floats, 48 of 8

// rung: scalar
void scalar(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const float m = b[0], d = b[1];
  for (int i = 0; i < numbers; ++i) {
    float x = a[i];
    for (std::int64_t step = 0; step < n; ++step) x = x * m + d;  // a multiply, then an add that waits for it
    c[i] = x;
  }
}
// end rung

#if RIDGELINE_X86
// rung: avx2
template <int chains>
AVX2 void avx2(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const __m256 m = _mm256_set1_ps(b[0]), d = _mm256_set1_ps(b[1]);
  for (int group = 0; group < numbers; group += 8 * chains) {
    __m256 x[chains];
    UNROLLED
    for (int j = 0; j < chains; ++j) x[j] = _mm256_loadu_ps(a + group + 8 * j);
    for (std::int64_t step = 0; step < n; ++step) {
      UNROLLED
      for (int j = 0; j < chains; ++j) x[j] = _mm256_fmadd_ps(x[j], m, d);
    }
    UNROLLED
    for (int j = 0; j < chains; ++j) _mm256_storeu_ps(c + group + 8 * j, x[j]);
  }
}
// end rung

// rung: avx512
AVX512 void avx512(std::int64_t n, const float* a, const float* b, float* c, float*) {
  constexpr int chains = 24;
  const __m512 m = _mm512_set1_ps(b[0]), d = _mm512_set1_ps(b[1]);
  __m512 x[chains];
  UNROLLED
  for (int j = 0; j < chains; ++j) x[j] = _mm512_loadu_ps(a + 16 * j);
  for (std::int64_t step = 0; step < n; ++step) {
    UNROLLED
    for (int j = 0; j < chains; ++j) x[j] = _mm512_fmadd_ps(x[j], m, d);
  }
  UNROLLED
  for (int j = 0; j < chains; ++j) _mm512_storeu_ps(c + 16 * j, x[j]);
}
// end rung
#endif

constexpr Version fma_versions[] = {
    make_version("scalar", "one float, one chain",
                 "A multiply and an add that waits for it: the units idle through both latencies.",
                 "cpu/fma.cpp:scalar", "fma", scalar),
    make_version("chains-1", "8 lanes, 1 chain",
                 "AVX2 with a fused multiply-add: eight lanes, one instruction under way.", "cpu/fma.cpp:avx2",
                 "fma_avx2", X86_ONLY(avx2<1>), Isa::avx2),
    make_version("chains-2", "8 lanes, 2 chains", "Two independent chains: twice the rate, for nothing.",
                 "cpu/fma.cpp:avx2", "fma_avx2", X86_ONLY(avx2<2>), Isa::avx2),
    make_version("chains-4", "8 lanes, 4 chains",
                 "Four chains fill one unit of four cycles' latency; the second unit still idles.", "cpu/fma.cpp:avx2",
                 "fma_avx2", X86_ONLY(avx2<4>), Isa::avx2),
    make_version("chains-8", "8 lanes, 8 chains", "Latency times units, 4 x 2 = 8: now both units can be full.",
                 "cpu/fma.cpp:avx2", "fma_avx2", X86_ONLY(avx2<8>), Isa::avx2),
    make_version("chains-12", "8 lanes, 12 chains",
                 "A few more, so that neither unit waits for the other: this is the peak of AVX2.", "cpu/fma.cpp:avx2",
                 "fma_avx2", X86_ONLY(avx2<12>), Isa::avx2),
    make_version("avx512", "16 lanes, 24 chains", "AVX-512: twice the lanes, at a clock that may be lower.",
                 "cpu/fma.cpp:avx512", "fma_avx512", X86_ONLY(avx512), Isa::avx512),
};

void fma_fill(const Shape& s, std::uint64_t seed, float* a, float* b) {
  fill_uniform(seed, 0.5f, 1.5f, a, numbers);
  // A decay over n steps, from one side of the fixed point to the other: the result depends on the start and on every
  // step, and rounding errors, which change sides too, do not add up.
  b[0] = 1 / static_cast<float>(s.n + 1) - 1;
  b[1] = 1;
}

double fma_error(const Shape& s, const float* a, const float* b, const float* c) {
  ErrorNorm norm;
  const auto m = static_cast<double>(b[0]), d = static_cast<double>(b[1]);
  // x -> m x + d taken n times: the fixed point plus what is left of the distance from it.
  const double fixed = d / (1 - m), left = std::pow(m, static_cast<double>(s.n));
  for (int i = 0; i < numbers; ++i)
    norm.add(static_cast<double>(c[i]), fixed + (static_cast<double>(a[i]) - fixed) * left);
  return norm.value();
}

}  // namespace

const Operation& fma_operation() {
  static const Operation operation = {
      .ladder =
          {
              .id = "cpu-fma",
              .title = "Peak multiply-adds",
              .device = Device::cpu,
              .measure = Measure::flops_per_s,
              .size_label = "Steps",
              .size_unit = "",
              .size_lo = 1,
              .size_default = 200000,
              .size_hi = 2000000,
              .cost =
                  [](std::int64_t size) {
                    return models::elementwise(static_cast<double>(numbers * size), 0, 0, 2, 4);
                  },
          },
      .versions = fma_versions,
      .shape =
          [](std::int64_t size) {
            return Shape{
                .n = size,
                .a = numbers,
                .b = 2,
                .c = numbers,
            };
          },
      .fill = fma_fill,
      .error = fma_error,
      .error_bound = [](const Shape& s) { return 16 * float_epsilon * std::sqrt(static_cast<double>(s.n)); },
  };
  return operation;
}

}  // namespace kernels::cpu
