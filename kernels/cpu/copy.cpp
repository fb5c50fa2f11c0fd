// Streams: c = a, and c = a + s b (the triad of McCalpin's STREAM). n is the number of floats.
//
// cpu-copy:
//   scalar     one float at a time
//   simd       AVX2, 32 bytes with each instruction
//   streaming  non-temporal stores, which do not read a line before they overwrite it
//   library    memcpy, which chooses among these by size
// cpu-triad:
//   scalar     one float at a time
//   simd       AVX2 with a fused multiply-add
//   streaming  the result bypasses the caches
//
//   ridgeline kernels run cpu-copy --size 64MiB
//   ridgeline kernels run cpu-triad --rung simd --rung streaming
#include <cstring>

#include "kernels/cpu/operation.h"

namespace kernels::cpu {
namespace {

// rung: copy-scalar
void copy_scalar(std::int64_t n, const float* a, const float*, float* c, float*) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i];
}
// end rung

#if RIDGELINE_X86
// rung: copy-simd
AVX2 void copy_simd(std::int64_t n, const float* a, const float*, float* c, float*) {
  std::int64_t i = 0;
  for (; i + 32 <= n; i += 32) {  // two cache lines: four loads in flight
    const __m256 v0 = _mm256_loadu_ps(a + i), v1 = _mm256_loadu_ps(a + i + 8);
    const __m256 v2 = _mm256_loadu_ps(a + i + 16), v3 = _mm256_loadu_ps(a + i + 24);
    _mm256_storeu_ps(c + i, v0);
    _mm256_storeu_ps(c + i + 8, v1);
    _mm256_storeu_ps(c + i + 16, v2);
    _mm256_storeu_ps(c + i + 24, v3);
  }
  for (; i < n; ++i) c[i] = a[i];
}
// end rung

// rung: copy-streaming
AVX2 void copy_streaming(std::int64_t n, const float* a, const float*, float* c, float*) {
  // c is aligned to a line. A streaming store does not read the line that it will overwrite anyway: 2 bytes move for
  // each byte copied, where an ordinary store moves 3.
  std::int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256 v0 = _mm256_loadu_ps(a + i), v1 = _mm256_loadu_ps(a + i + 8);
    const __m256 v2 = _mm256_loadu_ps(a + i + 16), v3 = _mm256_loadu_ps(a + i + 24);
    _mm256_stream_ps(c + i, v0);
    _mm256_stream_ps(c + i + 8, v1);
    _mm256_stream_ps(c + i + 16, v2);
    _mm256_stream_ps(c + i + 24, v3);
  }
  for (; i < n; ++i) c[i] = a[i];
  _mm_sfence();
}
// end rung
#endif

// rung: copy-library
void copy_library(std::int64_t n, const float* a, const float*, float* c, float*) {
  std::memcpy(c, a, static_cast<std::size_t>(n) * sizeof(float));
}
// end rung

// rung: triad-scalar
void triad_scalar(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const float s = 3;
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + s * b[i];
}
// end rung

#if RIDGELINE_X86
// rung: triad-simd
AVX2 void triad_simd(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const __m256 s = _mm256_set1_ps(3);
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256 v0 = _mm256_fmadd_ps(s, _mm256_loadu_ps(b + i), _mm256_loadu_ps(a + i));
    const __m256 v1 = _mm256_fmadd_ps(s, _mm256_loadu_ps(b + i + 8), _mm256_loadu_ps(a + i + 8));
    _mm256_storeu_ps(c + i, v0);
    _mm256_storeu_ps(c + i + 8, v1);
  }
  for (; i < n; ++i) c[i] = a[i] + 3 * b[i];
}
// end rung

// rung: triad-streaming
AVX2 void triad_streaming(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const __m256 s = _mm256_set1_ps(3);
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256 v0 = _mm256_fmadd_ps(s, _mm256_loadu_ps(b + i), _mm256_loadu_ps(a + i));
    const __m256 v1 = _mm256_fmadd_ps(s, _mm256_loadu_ps(b + i + 8), _mm256_loadu_ps(a + i + 8));
    _mm256_stream_ps(c + i, v0);
    _mm256_stream_ps(c + i + 8, v1);
  }
  for (; i < n; ++i) c[i] = a[i] + 3 * b[i];
  _mm_sfence();
}
// end rung
#endif

constexpr std::int64_t float_bytes = 4;

constexpr Version copies[] = {
    make_version("scalar", "scalar", "One float at a time: a load and a store for every 4 bytes.",
                 "cpu/copy.cpp:copy-scalar", "dram_copy", copy_scalar),
    make_version("simd", "8 floats at a time",
                 "AVX2 moves 32 bytes with each instruction; from main memory the gain is small, since the "
                 "memory is the limit.",
                 "cpu/copy.cpp:copy-simd", "dram_copy", X86_ONLY(copy_simd), Isa::avx2),
    make_version("streaming", "streaming stores",
                 "Non-temporal stores do not read a line before overwriting all of it, and leave it out of the "
                 "caches: a third less traffic.",
                 "cpu/copy.cpp:copy-streaming", "dram_copy", X86_ONLY(copy_streaming), Isa::avx2),
    make_version("library", "memcpy", "The C library's copy, which chooses by size among the ways above.",
                 "cpu/copy.cpp:copy-library", "dram_copy", copy_library),
};

constexpr Version triads[] = {
    make_version("scalar", "scalar", "One float at a time: two loads, a multiply, an add, a store.",
                 "cpu/copy.cpp:triad-scalar", "dram_copy", triad_scalar),
    make_version("simd", "8 floats at a time", "AVX2 with a fused multiply-add: fewer instructions, the same bytes.",
                 "cpu/copy.cpp:triad-simd", "dram_copy", X86_ONLY(triad_simd), Isa::avx2),
    make_version("streaming", "streaming stores",
                 "The result bypasses the caches: 3 bytes move for 3 useful ones, where ordinary stores move 4.",
                 "cpu/copy.cpp:triad-streaming", "dram_copy", X86_ONLY(triad_streaming), Isa::avx2),
};

models::OpCost copy_cost(std::int64_t size) {
  return models::copy(static_cast<double>(size / float_bytes), float_bytes);
}
models::OpCost triad_cost(std::int64_t size) {
  return models::triad(static_cast<double>(size / float_bytes), float_bytes);
}

/// Both ladders stream through arrays of the same sizes.
Ladder stream_ladder(std::string_view id, std::string_view title, std::string_view size_label,
                     models::OpCost (*cost)(std::int64_t)) {
  return {
      .id = id,
      .title = title,
      .device = Device::cpu,
      .measure = Measure::bytes_per_s,
      .size_label = size_label,
      .size_unit = "B",
      .size_lo = float_bytes,
      .size_default = 128 << 20,
      .size_hi = 1 << 30,
      .cost = cost,
  };
}

Shape stream_shape(std::int64_t size) {
  const std::int64_t n = size / float_bytes;
  return {.n = n, .a = n, .c = n};
}
Shape triad_shape(std::int64_t size) {
  Shape shape = stream_shape(size);
  shape.b = shape.n;
  return shape;
}

void fill_stream(const Shape& shape, std::uint64_t seed, float* a, float* b) {
  fill_uniform(seed, -1, 1, a, shape.a);
  if (b) fill_uniform(seed + 1, -1, 1, b, shape.b);
}

double copy_error(const Shape& shape, const float* a, const float*, const float* c) {
  ErrorNorm norm;
  for (std::int64_t i = 0; i < shape.n; ++i) norm.add(static_cast<double>(c[i]), static_cast<double>(a[i]));
  return norm.value();
}

double triad_error(const Shape& shape, const float* a, const float* b, const float* c) {
  ErrorNorm norm;
  for (std::int64_t i = 0; i < shape.n; ++i)
    norm.add(static_cast<double>(c[i]), static_cast<double>(a[i]) + 3 * static_cast<double>(b[i]));
  return norm.value();
}

}  // namespace

const Operation& copy_operation() {
  static const Operation operation = {
      .ladder = stream_ladder("cpu-copy", "Copy", "Bytes copied", copy_cost),
      .versions = copies,
      .shape = stream_shape,
      .fill = fill_stream,
      .error = copy_error,
      .error_bound = [](const Shape&) { return 0.0; },
  };
  return operation;
}

const Operation& triad_operation() {
  static const Operation operation = {
      .ladder = stream_ladder("cpu-triad", "Triad", "Bytes of one array", triad_cost),
      .versions = triads,
      .shape = triad_shape,
      .fill = fill_stream,
      .error = triad_error,
      .error_bound = [](const Shape&) { return 2 * float_epsilon; },
  };
  return operation;
}

}  // namespace kernels::cpu
