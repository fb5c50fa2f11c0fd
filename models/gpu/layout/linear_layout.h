#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// Layouts that are linear over bits, as Triton writes them: bit b of an input is worth the basis [input][b], and the
/// bases of the bits that are set are joined by an exclusive or. A zero basis is a copy: the same element held twice.
namespace models::gpu {

struct LinearLayout {
  std::vector<std::string> inputs;                            ///< "register", "lane", "warp", "block", "offset", ...
  std::vector<std::vector<std::vector<std::int64_t>>> bases;  ///< input by input, bit by bit, a number an output
  std::vector<std::int64_t> sizes;                            ///< extents of the outputs

  /// The element of one index an input.
  std::vector<std::int64_t> operator()(const std::vector<std::int64_t>& indices) const;
  /// The outputs that are reached, counted: a power of two, by the rank of the bases.
  std::int64_t reached() const;
};

/// The layout of a tensor of `shape` under an encoding in the notation of Triton's tests: blocked, mma (versions 2 and
/// 3), dot, slice, shared, nvmmaShared, tmem of NVIDIA, and mfma, wmma, their operands and AMDRotatingShared of AMD.
/// Sizes round up to powers of two, since no other is linear. Fails where the text does not read or says another
/// encoding.
Result<LinearLayout> triton_layout(std::string_view encoding, const std::vector<std::int64_t>& shape);

}  // namespace models::gpu
