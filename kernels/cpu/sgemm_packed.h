#pragma once
#include <cstdint>

#include "kernels/cpu/target.h"

namespace kernels::cpu {

/// The last rungs of the SGEMM ladder; the arguments of every kernel (operation.h). `work` holds the packed blocks.
#if RIDGELINE_X86
void sgemm_packed(std::int64_t n, const float* a, const float* b, float* c, float* work);
void sgemm_avx512(std::int64_t n, const float* a, const float* b, float* c, float* work);
#endif

/// Floats of scratch that either needs.
std::int64_t sgemm_work_floats(std::int64_t n);

}  // namespace kernels::cpu
