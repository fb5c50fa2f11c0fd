#pragma once
#include <cmath>

namespace models {

/// Gamma with mean 1 and this shape (Marsaglia and Tsang 2000; below shape 1 by a power of a uniform draw). `draws` has
/// unit(), inside (0, 1), and normal().
template <class Draws>
double gamma_draw(Draws& draws, double shape) {
  if (shape < 1) {
    const double above = gamma_draw(draws, shape + 1) * (shape + 1);
    return above * std::pow(draws.unit(), 1 / shape) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = draws.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(draws.unit()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v / shape;
  }
}

}  // namespace models
