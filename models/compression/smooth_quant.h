#pragma once
#include "models/compression/quantizer.h"

/// SmoothQuant (Xiao et al. 2022, arXiv:2211.10438): the range of outlying inputs is moved into the weights before both
/// are rounded.
namespace models {

/// s_j = max|x_j|^alpha / max|w_j|^(1 - alpha) for inputs j; 1 where either is 0. x [tokens, in], w [out, in].
std::vector<double> smoothing_scales(const std::vector<double>& largest_x, const std::vector<double>& largest_w,
                                     double alpha);

struct SmoothedLayer {
  Matrix x, w;  ///< x diag(s)^-1 and w diag(s): x w^T is the same to rounding
};
SmoothedLayer smooth(const Matrix& x, const Matrix& w, const std::vector<double>& scales);

/// Both operands rounded, then multiplied exactly, as integer tensor cores do: ||Q(x) Q(w)^T - truth||^2 / ||truth||^2.
/// `truth` = X W^T [tokens, out] without any rounding.
double rounded_product_error(const Matrix& x, const Matrix& w, const QuantSpec& for_x, const QuantSpec& for_w,
                             const Matrix& truth);

}  // namespace models
