#include "models/numerics/outlier_tensor.h"

#include <algorithm>
#include <cmath>

#include "models/numerics/float_cast.h"

namespace models {

std::vector<double> outlier_tensor(const OutlierTensor& what) {
  const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(what.elements, 0));
  std::vector<double> out;
  out.reserve(n);
  const auto unit = [&](std::uint64_t stream, std::uint64_t i) {
    return (static_cast<double>(random_bits_at(what.seed * 3 + stream, i) >> 11) + 0.5) * 0x1p-53;
  };
  for (std::uint64_t i = 0; i < n; ++i)  // Box and Muller 1958
    out.push_back(std::sqrt(-2 * std::log(unit(0, 2 * i))) * std::cos(2 * std::acos(-1.0) * unit(0, 2 * i + 1)));
  std::vector<bool> taken(n, false);
  const auto outliers =
      std::min<std::uint64_t>(n, static_cast<std::uint64_t>(std::max<std::int64_t>(what.outliers, 0)));
  for (std::uint64_t k = 0, asked = 0; k < outliers; ++asked) {
    const std::uint64_t at = random_bits_at(what.seed * 3 + 1, asked) % n;
    if (taken[at]) continue;
    taken[at] = true;
    out[at] = std::copysign(what.outlier_size, unit(2, k) - 0.5);
    ++k;
  }
  return out;
}

}  // namespace models
