#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "models/base/linear_algebra.h"
#include "models/compression/quantization_sample.h"

using namespace models;

namespace {

/// X^T X of more rows than columns, plus a little: positive definite.
Matrix definite(std::size_t n, std::int64_t seed) {
  SampleRandom random(static_cast<std::uint64_t>(seed));
  Matrix x(2 * n, n);
  for (double& v : x.values) v = random.normal();
  Matrix g = gram(x);
  for (std::size_t i = 0; i < n; ++i) g.at(i, i) += 0.1;
  return g;
}

double distance(const Matrix& a, const Matrix& b) {
  return std::sqrt(squared_norm(difference(a, b)) / squared_norm(b));
}

Matrix transposed(const Matrix& a) {
  Matrix out(a.cols, a.rows);
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < a.cols; ++c) out.at(c, r) = a.at(r, c);
  return out;
}

Matrix identity(std::size_t n) {
  Matrix out(n, n);
  for (std::size_t i = 0; i < n; ++i) out.at(i, i) = 1;
  return out;
}

}  // namespace

// Sizes on both sides of the blocks of 48 and the lanes of 8.
TEST_CASE("linear algebra: a Cholesky factor times its transpose is the matrix, and its inverse undoes it") {
  for (const std::size_t n : {1u, 2u, 7u, 8u, 47u, 48u, 49u, 130u}) {
    INFO(n);
    const Matrix a = definite(n, static_cast<std::int64_t>(n));
    const auto l = cholesky(a);
    REQUIRE(l);
    CHECK(distance(times_transposed(*l, *l), a) <= 1e-13);
    CHECK(distance(times_transposed(invert_lower(*l), transposed(*l)), identity(n)) <= 1e-11);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) CHECK(l->at(i, j) == 0);
  }
}

TEST_CASE("linear algebra: a small Cholesky factor by hand") {
  Matrix a(2, 2);
  a.values = {4, 2, 2, 5};
  CHECK(cholesky(a)->values == std::vector<double>{2, 0, 1, 2});
}

TEST_CASE(
    "linear algebra: the inverse root is upper, and its square is the inverse; its trailing blocks are those of "
    "trailing inverses") {
  const std::size_t n = 61;
  const Matrix a = definite(n, 5);
  const auto u = inverse_root(a);
  REQUIRE(u);
  const Matrix inverse = times_transposed(transposed(*u), transposed(*u));  // U^T U
  CHECK(distance(times_transposed(inverse, a), identity(n)) <= 1e-11);
  // What GPTQ relies on: from column j on, U is the inverse root of a[j:, j:].
  const std::size_t j = 40;
  Matrix block(n - j, n - j);
  for (std::size_t r = j; r < n; ++r)
    for (std::size_t c = j; c < n; ++c) block.at(r - j, c - j) = a.at(r, c);
  const auto small = inverse_root(block);
  REQUIRE(small);
  for (std::size_t c = j; c < n; ++c) CHECK(std::abs(small->at(0, c - j) - u->at(j, c)) <= 1e-12);
}

TEST_CASE("linear algebra: what has no factor is said, not computed") {
  Matrix wide(2, 3), flat(2, 2);
  flat.values = {1, 1, 1, 1};
  CHECK(cholesky(wide).error == "A Cholesky factor exists for square matrices alone.");
  CHECK(cholesky(flat).error == "The matrix is not positive definite: add more damping.");
  flat.values = {std::nan(""), 0, 0, 1};
  CHECK_FALSE(cholesky(flat));
  CHECK_FALSE(inverse_root(wide));
}

TEST_CASE("linear algebra: e G e^T is what the outputs lose") {
  const Layer layer = sample_layer({.inputs = 21, .outputs = 11, .tokens = 33});
  const double direct = squared_norm(times_transposed(layer.calibration, layer.weights));
  CHECK(std::abs(quadratic_form(layer.weights, gram(layer.calibration)) - direct) <= 1e-12 * direct);
}
