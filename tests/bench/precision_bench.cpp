// Casts: throughput over 16 M floats, and FP16 and BF16 against the processor's own conversions on all 2^32 floats.
#include <benchmark/benchmark.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "models/numerics/block_format.h"
#include "models/numerics/float_cast.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

using models::FloatFormat;

constexpr std::size_t number_count = std::size_t{1} << 24;

/// Magnitudes over 24 octaves around the small ones that networks have, both signs.
const std::vector<float>& numbers() {
  static const std::vector<float> all = [] {
    std::vector<float> x(number_count);
    for (std::size_t i = 0; i < number_count; ++i) {
      const double unit = static_cast<double>(models::random_bits_at(1, i) >> 11) * 0x1p-53 - 0.5;
      x[i] = static_cast<float>(std::ldexp(unit, static_cast<int>(models::random_bits_at(2, i) % 24) - 14));
    }
    return x;
  }();
  return all;
}

template <class Code>
void cast(benchmark::State& state, const FloatFormat& f) {
  std::vector<Code> codes(number_count);
  for (auto _ : state) {
    models::encode_all(f, numbers(), std::span(codes));
    benchmark::DoNotOptimize(codes.data());
  }
  state.counters["floats"] = benchmark::Counter(
      static_cast<double>(number_count) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void round_trip(benchmark::State& state, const FloatFormat& f) {
  std::vector<float> out(number_count);
  for (auto _ : state) {
    models::round_to(f, numbers(), out);
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["floats"] = benchmark::Counter(
      static_cast<double>(number_count) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) void by_f16c(const float* in, std::uint16_t* out, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
  }
}

#if !defined(__clang__)  // whose release 14 cannot ask for this feature
/// vcvtneps2bf16 takes subnormal floats as zero; those are left to the caller.
__attribute__((target("avx512f,avx512bf16"))) void by_avx512(const float* in, std::uint16_t* out, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 16) {
    const __m256bh half = _mm512_cvtneps_pbh(_mm512_loadu_ps(in + i));
    std::memcpy(out + i, &half, sizeof half);
  }
}
#endif

/// All floats, 2^20 at a time: codes must be equal, NaN must be NaN. The counter "differ" must read 0.
template <class Reference>
void all_floats(benchmark::State& state, std::string_view id, const Reference& reference, bool subnormals) {
  const FloatFormat& f = *models::find_float_format(id);
  constexpr std::size_t piece = 1 << 20;
  std::vector<float> in(piece);
  std::vector<std::uint16_t> ours(piece), theirs(piece);
  double differ = 0, compared = 0;
  for (auto _ : state)
    for (std::uint64_t base = 0; base < std::uint64_t{1} << 32; base += piece) {
      for (std::size_t i = 0; i < piece; ++i) in[i] = std::bit_cast<float>(static_cast<std::uint32_t>(base + i));
      models::encode_all(f, in, std::span(ours));
      reference(in.data(), theirs.data(), piece);
      const std::uint16_t infinity = static_cast<std::uint16_t>(models::encode(f, HUGE_VAL));
      for (std::size_t i = 0; i < piece; ++i) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(in[i]) & 0x7FFFFFFF;
        if (!subnormals && bits != 0 && bits < 0x800000) continue;
        const bool nan = bits > 0x7F800000;
        differ += nan ? (ours[i] & 0x7FFF) <= infinity || (theirs[i] & 0x7FFF) <= infinity : ours[i] != theirs[i];
        compared += 1;
      }
    }
  state.counters["differ"] = differ;
  state.counters["compared"] = compared;
}

void fp16_all(benchmark::State& state) {
  if (!__builtin_cpu_supports("avx2")) return state.SkipWithError("this processor has no AVX2, with which F16C comes");
  all_floats(state, "fp16", by_f16c, true);
}
BENCHMARK(fp16_all)->Name("precision/all_floats/fp16")->Iterations(1)->Unit(benchmark::kSecond);

#if !defined(__clang__)
void bf16_all(benchmark::State& state) {
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bf16"))
    return state.SkipWithError("this processor has no AVX512_BF16");
  all_floats(state, "bf16", by_avx512, false);
}
BENCHMARK(bf16_all)->Name("precision/all_floats/bf16")->Iterations(1)->Unit(benchmark::kSecond);
#endif
#endif

void blocks(benchmark::State& state, const models::BlockScheme& scheme) {
  std::vector<double> x(1 << 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(numbers()[i]);
  for (auto _ : state) benchmark::DoNotOptimize(models::to_blocks(scheme, x).values.data());
  state.counters["elements"] = benchmark::Counter(
      static_cast<double>(x.size()) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

const bool registered = [] {
  for (const FloatFormat& f : models::float_formats()) {
    if (f.bits > 16) continue;
    const std::string name = "precision/cast/" + std::string(f.id);
    if (f.bits > 8)
      benchmark::RegisterBenchmark(name.c_str(), [&f](benchmark::State& s) {
        cast<std::uint16_t>(s, f);
      })->Unit(benchmark::kMillisecond);
    else
      benchmark::RegisterBenchmark(name.c_str(), [&f](benchmark::State& s) {
        cast<std::uint8_t>(s, f);
      })->Unit(benchmark::kMillisecond);
  }
  for (const char* id : {"bf16", "e4m3fn"})
    benchmark::RegisterBenchmark((std::string("precision/round_to/") + id).c_str(), [id](benchmark::State& s) {
      round_trip(s, *models::find_float_format(id));
    })->Unit(benchmark::kMillisecond);
  for (const char* id : {"mxfp4", "nvfp4", "int4_group"})
    benchmark::RegisterBenchmark((std::string("precision/blocks/") + id).c_str(), [id](benchmark::State& s) {
      blocks(s, *models::find_block_scheme(id));
    })->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace bench
