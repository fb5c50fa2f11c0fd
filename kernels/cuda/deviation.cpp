#include "kernels/cuda/deviation.h"

#include <algorithm>

namespace kernels::cuda {

std::vector<std::int64_t> chosen_lines(std::int64_t n, std::int64_t count, std::uint32_t seed) {
  std::vector<std::int64_t> lines;
  count = std::min(n, count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = i * n / count, width = (i + 1) * n / count - first;
    seed = seed * 1664525u + 1013904223u;
    lines.push_back(first + static_cast<std::int64_t>(seed >> 8) % width);
  }
  return lines;
}

}  // namespace kernels::cuda
