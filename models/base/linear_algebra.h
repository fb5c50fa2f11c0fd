#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "models/base/result.h"

/// Small dense matrices of doubles, row by row: enough for quantization by second-order methods on a layer of a
/// thousand inputs.
namespace models {

struct Matrix {
  std::size_t rows = 0, cols = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), cols(c), values(r * c) {}
  double& at(std::size_t r, std::size_t c) { return values[r * cols + c]; }
  double at(std::size_t r, std::size_t c) const { return values[r * cols + c]; }
  std::span<double> row(std::size_t r) { return {values.data() + r * cols, cols}; }
  std::span<const double> row(std::size_t r) const { return {values.data() + r * cols, cols}; }
  bool operator==(const Matrix&) const = default;
};

/// Sum of a[i] b[i]; the longer one's rest is ignored.
double dot(std::span<const double> a, std::span<const double> b);
/// y += factor x.
void add_scaled(double factor, std::span<const double> x, std::span<double> y);
double squared_norm(const Matrix& a);
Matrix difference(const Matrix& a, const Matrix& b);  ///< a - b, of the same shape

/// X^T X of x [n, d]: [d, d].
Matrix gram(const Matrix& x);
/// A B^T of a [m, k] and b [n, k]: [m, n].
Matrix times_transposed(const Matrix& a, const Matrix& b);
/// Sum over the rows e of E [m, d] of e G e^T, for a symmetric G [d, d]: ||E X^T||^2 when G = X^T X.
double quadratic_form(const Matrix& e, const Matrix& g);

/// Lower L with L L^T = a, for a symmetric positive definite (only its lower triangle is read); above the diagonal L is
/// 0. Infeasible: a matrix that is not square, or not positive definite to rounding.
Result<Matrix> cholesky(const Matrix& a);
/// Inverse of a lower triangular matrix without zeros on its diagonal.
Matrix invert_lower(const Matrix& lower);
/// Upper U with U^T U = a^-1: what GPTQ calls the Cholesky form of the inverse Hessian. Row j of U, from j on, is the
/// first row of the inverse of the trailing block a[j:, j:] over the root of its first entry. Infeasible as `cholesky`.
Result<Matrix> inverse_root(const Matrix& a);

}  // namespace models
