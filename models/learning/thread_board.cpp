#include "models/learning/thread_board.h"

#include <utility>

#include "models/base/counter_random.h"

namespace models {
namespace {

std::int64_t count_from(const std::vector<std::uint32_t>& allowed, std::size_t row, std::uint32_t taken) {
  if (row == allowed.size()) return 1;
  std::int64_t ways = 0;
  for (std::uint32_t column = 0; column < 32; ++column) {
    const std::uint32_t bit = std::uint32_t{1} << column;
    if ((allowed[row] & bit) && !(taken & bit)) ways += count_from(allowed, row + 1, taken | bit);
  }
  return ways;
}

}  // namespace

std::int64_t count_assignments(const std::vector<std::uint32_t>& allowed) { return count_from(allowed, 0, 0); }

double threads_by_luck(std::int64_t cases) {
  if (cases < 1) return 0;
  const auto n = static_cast<double>(cases);
  // A cause that is not left over is among those chosen n times in n + 1, and then meets its evidence once in n.
  return n / (n + 1) + n / (n + 1) + 1;
}

std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = i;
  for (std::size_t i = n; i > 1; --i) std::swap(out[i - 1], out[counter_hash(seed, i) % i]);
  return out;
}

}  // namespace models
