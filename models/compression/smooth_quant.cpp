#include "models/compression/smooth_quant.h"

#include <cmath>

#include "models/compression/awq.h"

namespace models {

std::vector<double> smoothing_scales(const std::vector<double>& largest_x, const std::vector<double>& largest_w,
                                     double alpha) {
  std::vector<double> out(largest_x.size(), 1.0);
  for (std::size_t j = 0; j < out.size(); ++j)
    if (largest_x[j] > 0 && largest_w[j] > 0)
      out[j] = std::pow(largest_x[j], alpha) / std::pow(largest_w[j], 1 - alpha);
  return out;
}

SmoothedLayer smooth(const Matrix& x, const Matrix& w, const std::vector<double>& scales) {
  std::vector<double> inverse = scales;
  for (double& s : inverse) s = 1 / s;
  return {scale_columns(x, inverse), scale_columns(w, scales)};
}

double rounded_product_error(const Matrix& x, const Matrix& w, const QuantSpec& for_x, const QuantSpec& for_w,
                             const Matrix& truth) {
  const Matrix product = times_transposed(quantize(x, for_x).weights, quantize(w, for_w).weights);
  const double whole = squared_norm(truth);
  return whole > 0 ? squared_norm(difference(product, truth)) / whole : 0;
}

}  // namespace models
