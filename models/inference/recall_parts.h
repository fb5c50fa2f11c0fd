#pragma once
#include <cstddef>
#include <cstdint>

#include "models/base/lanes.h"
#include "models/inference/recall.h"

namespace models::inference {

inline constexpr std::size_t recall_value_count = static_cast<std::size_t>(recall_values);

/// Numbers from row to row where rows are of whole fours; what is behind `width` is 0.
inline std::size_t recall_stride(std::int64_t width) {
  return (static_cast<std::size_t>(width) + lanes::width - 1) / lanes::width * lanes::width;
}

/// `n` is a multiple of four.
inline float recall_dot(const float* a, const float* b, std::size_t n) {
  lanes::Four sum = lanes::splat(0);
  for (std::size_t i = 0; i < n; i += lanes::width) sum = sum + lanes::load(a + i) * lanes::load(b + i);
  return lanes::sum(sum);
}

}  // namespace models::inference
