#include "models/compression/gptq.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace models {
namespace {

Matrix columns_in(const Matrix& a, const std::vector<std::size_t>& order) {
  Matrix out(a.rows, a.cols);
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < a.cols; ++c) out.at(r, c) = a.at(r, order[c]);
  return out;
}

/// H in the order of rounding, damped; columns without input get a 1, which keeps them apart from all others.
Matrix hessian(const Matrix& g, const std::vector<std::size_t>& order, double damping) {
  const std::size_t n = g.rows;
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) mean += 2 * g.at(i, i) / static_cast<double>(n);
  Matrix h(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) h.at(i, j) = 2 * g.at(order[i], order[j]);
    h.at(i, i) = g.at(order[i], order[i]) > 0 ? h.at(i, i) + damping * mean : 1;
  }
  return h;
}

}  // namespace

Result<GptqResult> gptq(const Matrix& given, const Matrix& g, const GptqOptions& options) {
  using Outcome = Result<GptqResult>;
  const std::size_t n = given.cols, rows = given.rows;
  if (g.rows != n || g.cols != n) return Outcome::fail("The calibration inputs have another width than the layer.");
  GptqResult out;
  out.order.resize(n);
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  if (options.act_order)
    std::stable_sort(out.order.begin(), out.order.end(),
                     [&](std::size_t a, std::size_t b) { return g.at(a, a) > g.at(b, b); });
  auto root = inverse_root(hessian(g, out.order, options.damping));
  if (!root) return Outcome::fail(root.error);
  out.root = std::move(*root);
  const Matrix& u = out.root;
  const Quantizer quantizer(options.spec);
  const std::size_t length = std::max<std::size_t>(quantizer.group_length(n), 1),
                    block = std::max<std::size_t>(options.block, 1);

  Matrix w = columns_in(given, out.order);
  out.errors = Matrix(rows, n);
  for (std::size_t c = 0; c < n; ++c)
    if (!(g.at(out.order[c], out.order[c]) > 0))
      for (std::size_t r = 0; r < rows; ++r) w.at(r, c) = 0;
  std::vector<QuantGrid> grids(rows);
  if (options.spec.grain == QuantGrain::tensor) std::fill(grids.begin(), grids.end(), quantizer.fit(w.values));
  if (options.spec.grain == QuantGrain::channel)
    for (std::size_t r = 0; r < rows; ++r) grids[r] = quantizer.fit(w.row(r));

  out.cost.resize(n);
  for (std::size_t b0 = 0; b0 < n; b0 += block) {
    const std::size_t b1 = std::min(n, b0 + block);
    for (std::size_t j = b0; j < b1; ++j) {
      if (options.spec.grain == QuantGrain::group && j % length == 0) {
        // A group that reaches beyond the block is fitted to its weights with this block's updates applied, so that
        // blocks change nothing.
        for (std::size_t r = 0; r < rows; ++r) {
          const std::size_t end = std::min(n, j + length);
          if (end <= b1) {
            grids[r] = quantizer.fit(w.row(r).subspan(j, end - j));
            continue;
          }
          std::vector<double> now(w.row(r).begin() + static_cast<std::ptrdiff_t>(j),
                                  w.row(r).begin() + static_cast<std::ptrdiff_t>(end));
          for (std::size_t k = b0; k < j; ++k)
            add_scaled(options.compensation * out.errors.at(r, k), u.row(k).subspan(b1, end - b1),
                       std::span(now).subspan(b1 - j));
          grids[r] = quantizer.fit(now);
        }
      }
      const double pivot = u.at(j, j);
      const auto rest = u.row(j).subspan(j + 1, b1 - j - 1);
      for (std::size_t r = 0; r < rows; ++r) {
        const double before = w.at(r, j), q = quantizer.round(before, grids[r]), error = (before - q) / pivot;
        out.cost[j] += error * error / 2;
        out.errors.at(r, j) = error;
        w.at(r, j) = q;
        if (options.compensation != 0)
          add_scaled(options.compensation * error, rest, w.row(r).subspan(j + 1, b1 - j - 1));
      }
    }
    if (options.compensation == 0) continue;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t k = b0; k < b1; ++k)
        add_scaled(options.compensation * out.errors.at(r, k), u.row(k).subspan(b1), w.row(r).subspan(b1));
  }
  out.weights = Matrix(rows, n);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < n; ++c) out.weights.at(r, out.order[c]) = w.at(r, c);
  out.bits_per_weight = quantizer.bits_per_weight(rows, n);
  return Outcome::ok(std::move(out));
}

}  // namespace models
