#include "models/compression/awq.h"

#include <algorithm>
#include <cmath>

namespace models {

std::vector<double> mean_abs_columns(const Matrix& x) {
  std::vector<double> out(x.cols);
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < x.cols; ++c) out[c] += std::abs(x.at(r, c)) / static_cast<double>(x.rows);
  return out;
}

std::vector<double> largest_abs_columns(const Matrix& x) {
  std::vector<double> out(x.cols);
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < x.cols; ++c) out[c] = std::max(out[c], std::abs(x.at(r, c)));
  return out;
}

Matrix scale_columns(const Matrix& a, const std::vector<double>& factor) {
  Matrix out = a;
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < a.cols; ++c) out.at(r, c) *= factor[c];
  return out;
}

AwqResult awq(const Matrix& w, const std::vector<double>& mean_abs_x, const Matrix& g, const QuantSpec& spec,
              int steps) {
  AwqResult out;
  const double whole = quadratic_form(w, g);
  double least = HUGE_VAL;
  for (int k = 0; k <= steps; ++k) {
    const double alpha = static_cast<double>(k) / std::max(steps, 1);
    std::vector<double> scale(w.cols, 1.0), inverse(w.cols, 1.0);
    double lo = HUGE_VAL, hi = 0;
    for (std::size_t j = 0; j < w.cols; ++j) {
      scale[j] = std::max(std::pow(mean_abs_x[j], alpha), 1e-4);
      lo = std::min(lo, scale[j]);
      hi = std::max(hi, scale[j]);
    }
    for (std::size_t j = 0; j < w.cols; ++j) {
      scale[j] /= std::sqrt(lo * hi);
      inverse[j] = 1 / scale[j];
    }
    const QuantizedMatrix rounded = quantize(scale_columns(w, scale), spec);
    Matrix effective = scale_columns(rounded.weights, inverse);
    const double error = whole > 0 ? std::max(0.0, quadratic_form(difference(w, effective), g)) / whole : 0;
    out.tried.push_back({alpha, error});
    out.bits_per_weight = rounded.bits_per_weight;
    if (error < least) {
      least = error;
      out.alpha = alpha;
      out.scale = std::move(scale);
      out.weights = std::move(effective);
    }
  }
  return out;
}

}  // namespace models
