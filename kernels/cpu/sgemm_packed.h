#pragma once
#include <cstdint>

#include "kernels/cpu/target.h"

namespace kernels::cpu {

/// The last rungs of the SGEMM ladder, on one thread or on several; the arguments of every kernel (operation.h). `work`
/// holds the packed blocks.
#if RIDGELINE_X86
void sgemm_packed(std::int64_t n, const float* a, const float* b, float* c, float* work, int threads);
void sgemm_avx512(std::int64_t n, const float* a, const float* b, float* c, float* work, int threads);
inline void sgemm_packed(std::int64_t n, const float* a, const float* b, float* c, float* work) {
  sgemm_packed(n, a, b, c, work, 1);
}
inline void sgemm_avx512(std::int64_t n, const float* a, const float* b, float* c, float* work) {
  sgemm_avx512(n, a, b, c, work, 1);
}
#endif

/// Floats of scratch that either needs.
std::int64_t sgemm_work_floats(std::int64_t n, int threads = 1);

}  // namespace kernels::cpu
