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

/// Rounds the columns of a matrix one after the other, in blocks whose effect on later columns is applied at once.
class GptqRounding {
 public:
  /// `out` has order and root; `g` tells which columns have no input.
  GptqRounding(const Matrix& given, const Matrix& g, const GptqOptions& options, GptqResult& out)
      : options_(options),
        out_(out),
        quantizer_(options.spec),
        w_(columns_in(given, out.order)),
        grids_(w_.rows),
        length_(std::max<std::size_t>(quantizer_.group_length(w_.cols), 1)) {
    out_.errors = Matrix(w_.rows, w_.cols);
    out_.cost.resize(w_.cols);
    for (std::size_t c = 0; c < w_.cols; ++c)
      if (!(g.at(out.order[c], out.order[c]) > 0))
        for (std::size_t r = 0; r < w_.rows; ++r) w_.at(r, c) = 0;
    if (options.spec.grain == QuantGrain::tensor) std::fill(grids_.begin(), grids_.end(), quantizer_.fit(w_.values));
    if (options.spec.grain == QuantGrain::channel)
      for (std::size_t r = 0; r < w_.rows; ++r) grids_[r] = quantizer_.fit(w_.row(r));
  }

  void run() {
    const std::size_t n = w_.cols, block = std::max<std::size_t>(options_.block, 1);
    for (std::size_t begin = 0; begin < n; begin += block) {
      const std::size_t end = std::min(n, begin + block);
      for (std::size_t j = begin; j < end; ++j) {
        if (options_.spec.grain == QuantGrain::group && j % length_ == 0) fit_group(j, begin, end);
        round_column(j, end);
      }
      if (options_.compensation == 0) continue;
      for (std::size_t r = 0; r < w_.rows; ++r)
        for (std::size_t k = begin; k < end; ++k)
          add_scaled(options_.compensation * out_.errors.at(r, k), out_.root.row(k).subspan(end),
                     w_.row(r).subspan(end));
    }
    out_.weights = Matrix(w_.rows, n);
    for (std::size_t r = 0; r < w_.rows; ++r)
      for (std::size_t c = 0; c < n; ++c) out_.weights.at(r, out_.order[c]) = w_.at(r, c);
    out_.bits_per_weight = quantizer_.bits_per_weight(w_.rows, n);
  }

 private:
  /// Fits the grids of the group that begins at column `j`. A group that reaches beyond its block is fitted to its
  /// weights with this block's updates applied, so that blocks change nothing.
  void fit_group(std::size_t j, std::size_t block_begin, std::size_t block_end) {
    const std::size_t end = std::min(w_.cols, j + length_);
    for (std::size_t r = 0; r < w_.rows; ++r) {
      if (end <= block_end) {
        grids_[r] = quantizer_.fit(w_.row(r).subspan(j, end - j));
        continue;
      }
      std::vector<double> now(w_.row(r).begin() + static_cast<std::ptrdiff_t>(j),
                              w_.row(r).begin() + static_cast<std::ptrdiff_t>(end));
      for (std::size_t k = block_begin; k < j; ++k)
        add_scaled(options_.compensation * out_.errors.at(r, k), out_.root.row(k).subspan(block_end, end - block_end),
                   std::span(now).subspan(block_end - j));
      grids_[r] = quantizer_.fit(now);
    }
  }

  /// Rounds column `j` and lets the others of its block make up for the error.
  void round_column(std::size_t j, std::size_t block_end) {
    const double pivot = out_.root.at(j, j);
    const auto rest = out_.root.row(j).subspan(j + 1, block_end - j - 1);
    for (std::size_t r = 0; r < w_.rows; ++r) {
      const double before = w_.at(r, j), q = quantizer_.round(before, grids_[r]), error = (before - q) / pivot;
      out_.cost[j] += error * error / 2;
      out_.errors.at(r, j) = error;
      w_.at(r, j) = q;
      if (options_.compensation != 0)
        add_scaled(options_.compensation * error, rest, w_.row(r).subspan(j + 1, block_end - j - 1));
    }
  }

  const GptqOptions& options_;
  GptqResult& out_;
  Quantizer quantizer_;
  Matrix w_;  ///< columns in the order of rounding
  std::vector<QuantGrid> grids_;
  std::size_t length_;  ///< columns of a group
};

}  // namespace

Result<GptqResult> gptq(const Matrix& given, const Matrix& g, const GptqOptions& options) {
  using Outcome = Result<GptqResult>;
  const std::size_t n = given.cols;
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
  GptqRounding(given, g, options, out).run();
  return Outcome::ok(std::move(out));
}

}  // namespace models
