#include "models/base/linear_algebra.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace models {
namespace {

constexpr std::size_t lanes = 8, panel = 48, rows_at_once = 8;

/// Independent sums, which the compiler may keep in vector registers; a plain loop has one chain of additions.
double dot_of(const double* a, const double* b, std::size_t n) {
  std::array<double, lanes> sum{};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) sum[k] += a[i + k] * b[i + k];
  double rest = 0;
  for (; i < n; ++i) rest += a[i] * b[i];
  for (const double s : sum) rest += s;
  return rest;
}

void axpy(double factor, const double* x, double* y, std::size_t n) {
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) y[i + k] += factor * x[i + k];
  for (; i < n; ++i) y[i] += factor * x[i];
}

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) {
  return dot_of(a.data(), b.data(), std::min(a.size(), b.size()));
}
void add_scaled(double factor, std::span<const double> x, std::span<double> y) {
  axpy(factor, x.data(), y.data(), std::min(x.size(), y.size()));
}
double squared_norm(const Matrix& a) { return dot(a.values, a.values); }

Matrix difference(const Matrix& a, const Matrix& b) {
  Matrix out = a;
  add_scaled(-1, b.values, out.values);
  return out;
}

Matrix gram(const Matrix& x) {
  Matrix g(x.cols, x.cols);
  for (std::size_t t = 0; t < x.rows; ++t) {
    const auto row = x.row(t);
    for (std::size_t i = 0; i < x.cols; ++i)
      if (row[i] != 0) axpy(row[i], row.data(), g.row(i).data(), i + 1);
  }
  for (std::size_t i = 0; i < g.rows; ++i)
    for (std::size_t j = 0; j < i; ++j) g.at(j, i) = g.at(i, j);
  return g;
}

Matrix times_transposed(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows, b.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.rows; ++j) out.at(i, j) = dot(a.row(i), b.row(j));
  return out;
}

double quadratic_form(const Matrix& e, const Matrix& g) {
  double sum = 0;
  for (std::size_t r0 = 0; r0 < e.rows; r0 += rows_at_once)  // each row of G is read once for several of E
    for (std::size_t j = 0; j < g.rows; ++j)
      for (std::size_t r = r0; r < std::min(e.rows, r0 + rows_at_once); ++r)
        if (const double w = e.at(r, j); w != 0) sum += w * dot(e.row(r), g.row(j));
  return sum;
}

Result<Matrix> cholesky(const Matrix& a) {
  using Outcome = Result<Matrix>;
  if (a.rows != a.cols) return Outcome::fail("A Cholesky factor exists for square matrices alone.");
  Matrix l = a;
  const std::size_t n = a.rows;
  for (std::size_t j0 = 0; j0 < n; j0 += panel) {
    const std::size_t j1 = std::min(n, j0 + panel);
    for (std::size_t i = j0; i < n; ++i)
      for (std::size_t j = j0; j < std::min(j1, i + 1); ++j) l.at(i, j) -= dot_of(l.row(i).data(), l.row(j).data(), j0);
    for (std::size_t j = j0; j < j1; ++j) {
      const double* lj = l.row(j).data() + j0;
      const double d = l.at(j, j) - dot_of(lj, lj, j - j0);
      // Rounding leaves about n x 1e-16 of the diagonal behind where nothing should be left.
      if (!(d > 1e-15 * std::abs(a.at(j, j))))
        return Outcome::fail("The matrix is not positive definite: add more damping.");
      const double root = l.at(j, j) = std::sqrt(d);
      for (std::size_t i = j + 1; i < n; ++i)
        l.at(i, j) = (l.at(i, j) - dot_of(l.row(i).data() + j0, lj, j - j0)) / root;
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) l.at(i, j) = 0;
  return Outcome::ok(std::move(l));
}

Matrix invert_lower(const Matrix& lower) {
  const std::size_t n = lower.rows;
  Matrix inverse(n, n);
  for (std::size_t i0 = 0; i0 < n; i0 += rows_at_once) {
    const std::size_t i1 = std::min(n, i0 + rows_at_once);
    for (std::size_t k = 0; k < i0; ++k)  // each finished row is read once for several new ones
      for (std::size_t i = i0; i < i1; ++i) axpy(-lower.at(i, k), inverse.row(k).data(), inverse.row(i).data(), k + 1);
    for (std::size_t i = i0; i < i1; ++i) {
      for (std::size_t k = i0; k < i; ++k) axpy(-lower.at(i, k), inverse.row(k).data(), inverse.row(i).data(), k + 1);
      inverse.at(i, i) = 1;
      for (std::size_t j = 0; j <= i; ++j) inverse.at(i, j) /= lower.at(i, i);
    }
  }
  return inverse;
}

Result<Matrix> inverse_root(const Matrix& a) {
  // a = R R^T with R upper is a Cholesky factor counted from the other end, and a^-1 = R^-T R^-1.
  const std::size_t n = a.rows;
  Matrix turned(n, a.cols);
  if (a.rows == a.cols)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) turned.at(i, j) = a.at(n - 1 - i, n - 1 - j);
  auto lower = cholesky(turned);
  if (!lower) return lower;
  const Matrix inverse = invert_lower(*lower);
  Matrix upper(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) upper.at(i, j) = inverse.at(n - 1 - i, n - 1 - j);
  return Result<Matrix>::ok(std::move(upper));
}

}  // namespace models
