#pragma once
#include "models/compression/quantizer.h"

/// AWQ (Lin et al. 2023, arXiv:2306.00978): inputs that are large on average get larger weights before rounding, and so
/// finer levels; the inverse factor goes to the inputs, so that without rounding the product is the same.
namespace models {

struct AwqPoint {
  double alpha = 0;         ///< scale_j = (mean |x_j|)^alpha, over the root of the largest times the smallest
  double output_error = 0;  ///< on the calibration inputs, relative
};

struct AwqResult {
  Matrix weights;             ///< Q(W diag(s)) diag(s)^-1: what the layer computes with
  std::vector<double> scale;  ///< scale of each input
  double alpha = 0;
  std::vector<AwqPoint> tried;
  double bits_per_weight = 0;  ///< as round to nearest: the scales go into the layer before
};

/// Tries alpha = 0, 1/steps, ... 1 on w [out, in] and keeps the best; alpha 0 is round to nearest. `mean_abs_x`: mean
/// of |x_j| over the calibration tokens; `gram_of_x` = X^T X of them. The search for clipping ranges that AWQ's authors
/// add is QuantRange::mse here.
AwqResult awq(const Matrix& w, const std::vector<double>& mean_abs_x, const Matrix& gram_of_x, const QuantSpec& spec,
              int steps = 20);

std::vector<double> mean_abs_columns(const Matrix& x);
std::vector<double> largest_abs_columns(const Matrix& x);
/// Column j times factor[j].
Matrix scale_columns(const Matrix& a, const std::vector<double>& factor);

}  // namespace models
