// y = W x, W n x n: the product of a decode step, in which each weight is used once. The weights are whole numbers of
// -127 to 127 times a scale a row, x whole numbers of -63 to 63 times 1/64: the same matrix lies in a as floats and
// then as bytes, and all versions compute the same product. The work counts a byte a weight.
//
// cpu-gemv:
//   fp32     4 bytes a weight, multiplied as they are
//   dequant  1 byte a weight, made a float before it is multiplied
//   maddubs  bytes times bytes: AVX2 multiplies 32 pairs with one instruction and adds them in twos
//   vnni     bytes times bytes: AVX-512 VNNI multiplies 64 pairs and adds them in fours
//
//   ridgeline kernels run cpu-gemv --size 4096
//   ridgeline kernels run cpu-gemv --size 4096 --warm       the trap: only the bytes fit into the last cache
#include <cmath>
#include <cstring>

#include "kernels/cpu/operation.h"
#include "models/base/counter_random.h"

namespace kernels::cpu {
namespace {

/// Bytes of a row of whole numbers: zeros after the last fill the vector.
constexpr std::int64_t row_bytes(std::int64_t n) { return (n + 63) / 64 * 64; }
constexpr std::int64_t whole_lines(std::int64_t floats) { return (floats + 15) / 16 * 16; }
constexpr int middle = 64;  // what is added to x's whole numbers, since the instructions want one side unsigned
constexpr float x_scale = 1.0f / 64;

/// Where the parts of the operands lie.
struct Weights {
  std::int64_t n;
  const float* a;
  const float* as_floats() const { return a; }
  const std::int8_t* as_bytes() const { return reinterpret_cast<const std::int8_t*>(a + whole_lines(n * n)); }
  const float* scales() const { return a + whole_lines(n * n) + n * row_bytes(n) / 4; }
  const float* row_sums() const { return scales() + n; }
};
struct Input {
  std::int64_t n;
  const float* b;
  const float* as_floats() const { return b; }
  const std::uint8_t* as_bytes() const { return reinterpret_cast<const std::uint8_t*>(b + row_bytes(n)); }
};

// rung: fp32
#if RIDGELINE_X86
AVX2 inline float sum_lanes(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

AVX2 void fp32(std::int64_t n, const float* a, const float* b, float* c, float*) {
  for (std::int64_t row = 0; row < n; ++row, a += n) {
    __m256 sum[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    std::int64_t k = 0;
    for (; k + 32 <= n; k += 32) {  // 128 bytes of weights for 32 multiply-adds
      UNROLLED
      for (int j = 0; j < 4; ++j)
        sum[j] = _mm256_fmadd_ps(_mm256_loadu_ps(a + k + 8 * j), _mm256_loadu_ps(b + k + 8 * j), sum[j]);
    }
    float rest = 0;
    for (; k < n; ++k) rest += a[k] * b[k];
    c[row] = sum_lanes(_mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3]))) + rest;
  }
}
#else
void fp32(std::int64_t n, const float* a, const float* b, float* c, float*) {
  for (std::int64_t row = 0; row < n; ++row, a += n) {
    float sum[8] = {};
    for (std::int64_t k = 0; k < n; ++k) sum[k % 8] += a[k] * b[k];
    c[row] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}
#endif
// end rung

#if RIDGELINE_X86
// rung: dequant
AVX2 void dequant(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const Weights w{n, a};
  const std::int8_t* bytes = w.as_bytes();
  for (std::int64_t row = 0; row < n; ++row, bytes += row_bytes(n)) {
    __m256 sum[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    for (std::int64_t k = 0; k < n; k += 32) {  // 32 bytes of weights for 32 multiply-adds
      UNROLLED
      for (int j = 0; j < 4; ++j) {
        const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + k + 8 * j));
        const __m256 value = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));  // two instructions a vector more
        sum[j] = _mm256_fmadd_ps(value, _mm256_loadu_ps(b + k + 8 * j), sum[j]);
      }
    }
    c[row] = w.scales()[row] * sum_lanes(_mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3])));
  }
}
// end rung

AVX2 inline std::int32_t sum_lanes(__m256i v) {
  const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  const __m128i two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 1)));
}

// rung: maddubs
AVX2 void maddubs(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const Weights w{n, a};
  const std::uint8_t* x = Input{n, b}.as_bytes();
  const std::int8_t* bytes = w.as_bytes();
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::int64_t row = 0; row < n; ++row, bytes += row_bytes(n)) {
    __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (std::int64_t k = 0; k < row_bytes(n); k += 64) {
      UNROLLED
      for (int j = 0; j < 2; ++j) {
        const __m256i vx = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + k + 32 * j));
        const __m256i vw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + k + 32 * j));
        // Sums of two products in 16 bits: 2 x 127 x 127 is 32258, just below their end. With all 8 bits of x they
        // would be cut off without a word.
        const __m256i twos = _mm256_maddubs_epi16(vx, vw);
        sum[j] = _mm256_add_epi32(sum[j], _mm256_madd_epi16(twos, ones));
      }
    }
    const auto dot = static_cast<float>(sum_lanes(_mm256_add_epi32(sum[0], sum[1])));
    c[row] = w.scales()[row] * x_scale * (dot - middle * w.row_sums()[row]);
  }
}
// end rung

// rung: vnni
AVX512_VNNI void vnni(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const Weights w{n, a};
  const std::uint8_t* x = Input{n, b}.as_bytes();
  const std::int8_t* bytes = w.as_bytes();
  for (std::int64_t row = 0; row < n; ++row, bytes += row_bytes(n)) {
    __m512i sum = _mm512_setzero_si512();
    for (std::int64_t k = 0; k < row_bytes(n); k += 64)  // multiplied, and added in fours in 32 bits, at once
      sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(x + k), _mm512_loadu_si512(bytes + k));
    alignas(64) std::int32_t lanes[16];
    _mm512_store_si512(lanes, sum);
    std::int32_t dot = 0;
    for (const std::int32_t lane : lanes) dot += lane;
    c[row] = w.scales()[row] * x_scale * (static_cast<float>(dot) - middle * w.row_sums()[row]);
  }
}
// end rung
#endif

constexpr Version gemv_versions[] = {
    make_version(
        "fp32", "4 bytes a weight",
        "Each weight is read once and multiplied once: two operations for 4 bytes, and the memory is the limit.",
        "cpu/gemv.cpp:fp32", "dram_read", fp32, RIDGELINE_X86 ? Isa::avx2 : Isa::any),
    make_version(
        "dequant", "1 byte, made a float",
        "A quarter of the bytes. They are widened and converted before they are multiplied: more instructions, "
        "and less time while the memory is the limit.",
        "cpu/gemv.cpp:dequant", "dram_read", X86_ONLY(dequant), Isa::avx2),
    make_version("maddubs", "1 byte, multiplied as bytes",
                 "x is bytes too: 32 products an instruction, added in twos. The conversions go; where the bytes come "
                 "from a cache that counts.",
                 "cpu/gemv.cpp:maddubs", "dram_read", X86_ONLY(maddubs), Isa::avx2),
    make_version("vnni", "1 byte, VNNI",
                 "One instruction multiplies 64 pairs and adds them in fours to 32 bits: no step in 16 bits that "
                 "could be cut off.",
                 "cpu/gemv.cpp:vnni", "dram_read", X86_ONLY(vnni), Isa::avx512_vnni),
};

Shape gemv_shape(std::int64_t n) {
  return {
      .n = n,
      .a = whole_lines(n * n) + n * row_bytes(n) / 4 + 2 * n,
      .b = row_bytes(n) + row_bytes(n) / 4,
      .c = n,
  };
}

void gemv_fill(const Shape& s, std::uint64_t seed, float* a, float* b) {
  const std::int64_t n = s.n;
  const Weights w{n, a};
  const auto whole = [](std::uint64_t from, std::int64_t at, int most) {  // of -most to most
    const std::uint64_t bits = models::counter_hash(from, static_cast<std::uint64_t>(at)) >> 40;
    return static_cast<int>(bits * static_cast<std::uint64_t>(2 * most + 1) >> 24) - most;
  };
  auto* bytes = const_cast<std::int8_t*>(w.as_bytes());
  auto *scales = const_cast<float*>(w.scales()), *sums = const_cast<float*>(w.row_sums());
  for (std::int64_t row = 0; row < n; ++row) {
    scales[row] = static_cast<float>(8 + row % 8) / 1024;  // few bits: scale times number is exact
    int sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const int q = whole(seed, row * n + k, 127);
      a[row * n + k] = scales[row] * static_cast<float>(q);
      bytes[row * row_bytes(n) + k] = static_cast<std::int8_t>(q);
      sum += q;
    }
    std::memset(bytes + row * row_bytes(n) + n, 0, static_cast<std::size_t>(row_bytes(n) - n));
    sums[row] = static_cast<float>(sum);
  }
  auto* x = const_cast<std::uint8_t*>(Input{n, b}.as_bytes());
  for (std::int64_t k = 0; k < row_bytes(n); ++k) {
    const int q = k < n ? whole(seed + 1, k, 63) : 0;
    b[k] = x_scale * static_cast<float>(q);
    x[k] = static_cast<std::uint8_t>(q + middle);
  }
}

double gemv_error(const Shape& s, const float* a, const float* b, const float* c) {
  ErrorNorm norm;
  for (std::int64_t row = 0; row < s.n; ++row, a += s.n) {
    double sum = 0;
    for (std::int64_t k = 0; k < s.n; ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    norm.add(static_cast<double>(c[row]), sum);
  }
  return norm.value();
}

}  // namespace

const Operation& gemv_operation() {
  static const Operation operation = {
      .ladder =
          {
              .id = "cpu-gemv",
              .title = "Decode GEMV, int8",
              .device = Device::cpu,
              .measure = Measure::flops_per_s,
              .size_label = "Size N",
              .size_unit = "",
              .size_lo = 1,
              .size_default = 4096,
              .size_hi = 8192,
              .cost =
                  [](std::int64_t size) {
                    const auto n = static_cast<double>(size);
                    return models::gemm(n, 1, n, 1, 4, 4);
                  },
          },
      .versions = gemv_versions,
      .shape = gemv_shape,
      .fill = gemv_fill,
      .error = gemv_error,
      // Sums of rows are exact up to 2^24; products and sums in floats round like a random walk.
      .error_bound = [](const Shape& s) { return 2 * float_epsilon * std::sqrt(static_cast<double>(s.n)); },
  };
  return operation;
}

}  // namespace kernels::cpu
