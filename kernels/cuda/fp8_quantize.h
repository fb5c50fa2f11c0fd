#pragma once
#include <cstdint>

namespace kernels::cuda {

/// The FP8 (e4m3) pattern nearest to a number, ties to the even one, and the largest, 448, for what is larger: found by
/// searching all patterns. Source: Open Compute Project, 8-bit Floating Point Specification.
std::uint8_t e4m3_nearest(float value);

}  // namespace kernels::cuda
