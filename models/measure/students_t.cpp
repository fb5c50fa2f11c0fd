#include "models/measure/students_t.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace models::measure {
namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method; x below (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double least = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < least ? least : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m <= 300; ++m) {
    const double i = m;
    const double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

/// I_x(a, b), `y` = 1 - x given apart, since next to 1 nothing would be left of it.
double incomplete_beta(double a, double b, double x, double y) {
  if (!(x > 0)) return 0;
  if (!(y > 0)) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(y));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, y) / b;
}

}  // namespace

double normal_share(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double student_t_p(double t, double degrees) {
  if (std::isinf(t)) return 0;
  const double squares = t * t, all = degrees + squares;
  return std::clamp(incomplete_beta(degrees / 2, 0.5, degrees / all, squares / all), 0.0, 1.0);
}

double student_t_critical(double alpha, double degrees) {
  double lo = 0, hi = 2;
  while (student_t_p(hi, degrees) > alpha && hi < 1e12) hi *= 2;
  for (int i = 0; i < 100 && hi - lo > 1e-13 * hi; ++i) {
    const double middle = (lo + hi) / 2;
    (student_t_p(middle, degrees) > alpha ? lo : hi) = middle;
  }
  return (lo + hi) / 2;
}

double t_power(double mean, double sd, double least, double degrees) {
  // The density of S: 2 (d/2)^(d/2) / Gamma(d/2) s^(d-1) exp(-d s^2 / 2).
  const double half = degrees / 2, spread = 9 / std::sqrt(2 * degrees);
  const double lo = std::max(0.0, 1 - spread), hi = 1 + spread;
  const double front = std::numbers::ln2 + half * std::log(half) - std::lgamma(half);
  constexpr int steps = 400;
  const double width = (hi - lo) / steps;
  double sum = 0, weights = 0;
  for (int i = 0; i <= steps; ++i) {
    const double s = lo + width * i;
    const double log_density = s > 0 ? front + (degrees - 1) * std::log(s) - half * s * s : -1e3;
    const double above = mean - least * s;
    const double chance = sd > 0 ? normal_share(above / sd) : above > 0 ? 1.0 : 0.0;
    const double simpson = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    const double weight = simpson * std::exp(log_density);
    sum += weight * chance;
    weights += weight;
  }
  return sum / weights;  // what of the density lies outside of the range is shared out
}

}  // namespace models::measure
