#pragma once
#include <string_view>

/// Which instructions a function may use is written at the function, so that one program runs on every x86-64 and
/// compiles elsewhere.
#if defined(__x86_64__)
#define RIDGELINE_X86 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
#define AVX512_VNNI __attribute__((target("avx512f,avx512vnni")))
#define X86_ONLY(kernel) (kernel)
#else
#define RIDGELINE_X86 0
#define X86_ONLY(kernel) nullptr
#endif

/// Before a loop of constant length: registers can hold an array only when every index is a constant.
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#define UNROLLED_BY_4 _Pragma("clang loop unroll_count(4)")
#define NOT_UNROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLLED _Pragma("GCC unroll 32")
#define UNROLLED_BY_4 _Pragma("GCC unroll 4")
#define NOT_UNROLLED _Pragma("GCC unroll 1")
#endif

namespace kernels::cpu {

/// What a kernel needs of the CPU.
enum class Isa : unsigned char { any, x86, avx2, avx512, avx512_vnni };

/// "AVX2 and FMA".
constexpr std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return "AVX2 and FMA";
    case Isa::avx512:
      return "AVX-512";
    case Isa::avx512_vnni:
      return "AVX-512 with VNNI";
    default:
      return "x86-64";
  }
}

/// Whether this CPU and this build have it. avx2 means AVX2 and FMA.
inline bool has(Isa isa) {
#if RIDGELINE_X86
  __builtin_cpu_init();
  switch (isa) {
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return __builtin_cpu_supports("avx512f");
    case Isa::avx512_vnni:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni");
    default:
      return true;
  }
#else
  return isa == Isa::any;
#endif
}

}  // namespace kernels::cpu
