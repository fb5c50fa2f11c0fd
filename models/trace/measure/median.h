#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace models::trace {

/// The middle one, the upper of two; `otherwise` when there is none. Reorders `all`.
inline std::int64_t median_or(std::vector<std::int64_t>& all, std::int64_t otherwise) {
  if (all.empty()) return otherwise;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace models::trace
