#include "models/parallel/tensor/tensor_run.h"

#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/base/integer_math.h"

namespace models::parallel {
namespace {

constexpr std::size_t tensor_head_dim = 2;

Matrix cut_random(std::size_t rows, std::size_t cols, std::uint64_t stream, double scale) {
  Matrix m(rows, cols);
  for (std::size_t i = 0; i < m.values.size(); ++i) m.values[i] = scale * normal_draw(stream, i);
  return m;
}

Matrix cut_product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t k = 0; k < a.cols; ++k) add_scaled(a.at(r, k), b.row(k), c.row(r));
  return c;
}

Matrix cut_transpose(const Matrix& a) {
  Matrix t(a.cols, a.rows);
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < a.cols; ++c) t.at(c, r) = a.at(r, c);
  return t;
}

Matrix cut_columns(const Matrix& a, PieceRange p) {
  Matrix out(a.rows, p.size());
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < p.size(); ++c) out.at(r, c) = a.at(r, p.first + c);
  return out;
}
Matrix cut_rows(const Matrix& a, PieceRange p) {
  Matrix out(p.size(), a.cols);
  for (std::size_t r = 0; r < p.size(); ++r) std::ranges::copy(a.row(p.first + r), out.row(r).begin());
  return out;
}
void put_columns(const Matrix& piece, PieceRange p, Matrix& out) {
  for (std::size_t r = 0; r < piece.rows; ++r)
    for (std::size_t c = 0; c < p.size(); ++c) out.at(r, p.first + c) = piece.at(r, c);
}
void add_to(Matrix& sum, const Matrix& part) { add_scaled(1, part.values, sum.values); }

double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_slope(double x) {
  return 0.5 * (1 + std::erf(x / std::sqrt(2.0))) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * 3.14159265358979323846);
}

/// The block's own function of a group of columns: GELU, or one head's attention over [queries, keys, values].
Matrix block_function(TensorBlock block, const Matrix& pre) {
  if (block == TensorBlock::feed_forward) {
    Matrix out = pre;
    for (double& v : out.values) v = gelu_of(v);
    return out;
  }
  const std::size_t heads = pre.cols / (3 * tensor_head_dim);
  Matrix out(pre.rows, heads * tensor_head_dim);
  for (std::size_t h = 0; h < heads; ++h) {
    const std::size_t at = h * 3 * tensor_head_dim;
    for (std::size_t q = 0; q < pre.rows; ++q) {
      std::vector<double> weight(q + 1);
      double sum = 0;
      for (std::size_t k = 0; k <= q; ++k) {
        double score = 0;
        for (std::size_t d = 0; d < tensor_head_dim; ++d)
          score += pre.at(q, at + d) * pre.at(k, at + tensor_head_dim + d);
        weight[k] = std::exp(score / std::sqrt(static_cast<double>(tensor_head_dim)));
        sum += weight[k];
      }
      for (std::size_t k = 0; k <= q; ++k)
        for (std::size_t d = 0; d < tensor_head_dim; ++d)
          out.at(q, h * tensor_head_dim + d) += weight[k] / sum * pre.at(k, at + 2 * tensor_head_dim + d);
    }
  }
  return out;
}

/// The gradient of what block_function reads, from that of what it gives.
Matrix block_gradient(TensorBlock block, const Matrix& pre, const Matrix& grad) {
  Matrix out(pre.rows, pre.cols);
  if (block == TensorBlock::feed_forward) {
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = grad.values[i] * gelu_slope(pre.values[i]);
    return out;
  }
  constexpr std::size_t d = tensor_head_dim;
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  for (std::size_t h = 0; h < pre.cols / (3 * d); ++h) {
    const std::size_t at = h * 3 * d;
    for (std::size_t q = 0; q < pre.rows; ++q) {
      std::vector<double> p(q + 1), dp(q + 1);
      double sum = 0, mean = 0;
      for (std::size_t k = 0; k <= q; ++k) {
        double score = 0;
        for (std::size_t e = 0; e < d; ++e) score += pre.at(q, at + e) * pre.at(k, at + d + e);
        p[k] = std::exp(score * scale);
        sum += p[k];
      }
      for (std::size_t k = 0; k <= q; ++k) {
        p[k] /= sum;
        for (std::size_t e = 0; e < d; ++e) dp[k] += grad.at(q, h * d + e) * pre.at(k, at + 2 * d + e);
        mean += p[k] * dp[k];
      }
      for (std::size_t k = 0; k <= q; ++k) {
        const double ds = p[k] * (dp[k] - mean) * scale;
        for (std::size_t e = 0; e < d; ++e) {
          out.at(q, at + e) += ds * pre.at(k, at + d + e);
          out.at(k, at + d + e) += ds * pre.at(q, at + e);
          out.at(k, at + 2 * d + e) += p[k] * grad.at(q, h * d + e);
        }
      }
    }
  }
  return out;
}

std::vector<PieceRange> equal_pieces(std::size_t size, std::int64_t ranks) {
  std::vector<PieceRange> out;
  const std::size_t each = size / static_cast<std::size_t>(ranks);
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) out.push_back({r * each, (r + 1) * each});
  return out;
}

double largest_of(const Matrix& a) {
  double most = 0;
  for (const double v : a.values) most = std::max(most, std::abs(v));
  return most;
}

void fill_whole(const TensorRunSetup& s, TensorRun& out) {
  const auto ranks = static_cast<std::size_t>(s.ranks);
  const std::size_t hidden = ranks * static_cast<std::size_t>(ceil_div(8, s.ranks));
  const bool attention = s.block == TensorBlock::attention;
  const std::size_t inner = attention ? ranks * tensor_head_dim : 2 * hidden;
  const std::size_t projected = attention ? 3 * inner : inner;
  out.x = cut_random(static_cast<std::size_t>(s.rows), hidden, random_stream(s.seed, 1), 1);
  out.a = cut_random(hidden, projected, random_stream(s.seed, 2), 1 / std::sqrt(static_cast<double>(hidden)));
  out.b = cut_random(inner, hidden, random_stream(s.seed, 3), 1 / std::sqrt(static_cast<double>(inner)));
  out.x_cols = equal_pieces(hidden, s.ranks);
  out.a_cols = equal_pieces(projected, s.ranks);
  out.y_cols = equal_pieces(inner, s.ranks);
  out.z_cols = equal_pieces(hidden, s.ranks);
  // Ranks that share a key and value head hold the same columns of it.
  if (attention)
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t first = r / static_cast<std::size_t>(s.kv_copies) * static_cast<std::size_t>(s.kv_copies);
      for (std::size_t row = 0; row < hidden && first != r; ++row)
        for (std::size_t c = tensor_head_dim; c < 3 * tensor_head_dim; ++c)
          out.a.at(row, out.a_cols[r].first + c) = out.a.at(row, out.a_cols[first].first + c);
    }
}

/// Y of every rank's columns, one behind the other.
Matrix function_of_all(const TensorRun& run, const Matrix& pre) {
  Matrix y(pre.rows, run.b.rows);
  for (std::size_t r = 0; r < run.a_cols.size(); ++r)
    put_columns(block_function(run.setup.block, cut_columns(pre, run.a_cols[r])), run.y_cols[r], y);
  return y;
}

/// What comes of it when every rank goes on with what it has after the first product.
double forgotten_between(const TensorRun& run) {
  Matrix z(run.z.rows, run.z.cols);
  for (std::size_t r = 0; r < run.first_pieces.size(); ++r) {
    const TensorCut cut = run.setup.cut;
    Matrix y(run.x.rows, run.b.rows);
    if (cut == TensorCut::column_column)
      put_columns(run.inner_pieces[r], run.y_cols[r], y);  // the other columns were not gathered
    else
      y = function_of_all(run, run.first_pieces[r]);
    if (cut == TensorCut::row_row)
      add_to(z, cut_product(cut_columns(y, run.y_cols[r]), cut_rows(run.b, run.y_cols[r])));
    else
      put_columns(cut_product(y, cut_columns(run.b, run.z_cols[r])), run.z_cols[r], z);
  }
  return largest_of(difference(z, run.z)) / run.largest;
}

/// The gradient of X from the pieces, with the collectives of the backward pass, against that of the whole block.
double gradient_difference(const TensorRun& run) {
  const TensorRunSetup& s = run.setup;
  const Matrix dz = cut_random(run.z.rows, run.z.cols, random_stream(s.seed, 4), 1);
  const auto gradient_before = [&](const Matrix& pre, const Matrix& dy) {
    Matrix out(pre.rows, pre.cols);
    for (std::size_t r = 0; r < run.a_cols.size(); ++r)
      put_columns(block_gradient(s.block, cut_columns(pre, run.a_cols[r]), cut_columns(dy, run.y_cols[r])),
                  run.a_cols[r], out);
    return out;
  };
  const Matrix pre = cut_product(run.x, run.a);
  const Matrix whole = cut_product(gradient_before(pre, cut_product(dz, cut_transpose(run.b))), cut_transpose(run.a));
  // The gradient of what a matrix multiplied: where the matrix is cut by row every rank has its columns of it, where it
  // is cut by column they are summed.
  const auto gradient_through = [&](const Matrix& weights, const Matrix& after, bool by_row, const auto& rows,
                                    const auto& columns) {
    Matrix out(after.rows, weights.rows);
    for (std::size_t r = 0; r < run.y_cols.size(); ++r) {
      if (by_row)
        put_columns(cut_product(after, cut_transpose(cut_rows(weights, rows[r]))), rows[r], out);
      else
        add_to(out, cut_product(cut_columns(after, columns[r]), cut_transpose(cut_columns(weights, columns[r]))));
    }
    return out;
  };
  const Matrix dy = gradient_through(run.b, dz, second_by_row(s.cut), run.y_cols, run.z_cols);
  const Matrix dpre = gradient_before(pre, dy);
  const Matrix dx = gradient_through(run.a, dpre, first_by_row(s.cut), run.x_cols, run.a_cols);
  return largest_of(difference(dx, whole)) / largest_of(whole);
}

}  // namespace

Result<TensorRun> run_tensor_cut(const TensorRunSetup& s) {
  using Out = Result<TensorRun>;
  if (s.ranks < 1 || s.ranks > 16) return Out::fail("The small block is computed on 1 to 16 ranks.");
  if (s.rows < 1 || s.rows > 64) return Out::fail("The small block has 1 to 64 rows.");
  if (s.kv_copies < 1 || s.ranks % s.kv_copies != 0)
    return Out::fail("Copies of a key and value head must divide the ranks.");
  TensorRun run;
  run.setup = s;
  fill_whole(s, run);
  run.y = function_of_all(run, cut_product(run.x, run.a));
  run.z = cut_product(run.y, run.b);
  run.largest = largest_of(run.z);
  const auto ranks = static_cast<std::size_t>(s.ranks);
  Matrix sum(run.x.rows, run.a.cols);
  for (std::size_t r = 0; r < ranks; ++r) {
    run.first_pieces.push_back(first_by_row(s.cut)
                                   ? cut_product(cut_columns(run.x, run.x_cols[r]), cut_rows(run.a, run.x_cols[r]))
                                   : cut_product(run.x, cut_columns(run.a, run.a_cols[r])));
    if (first_by_row(s.cut)) add_to(sum, run.first_pieces[r]);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    if (s.cut == TensorCut::row_column)
      run.inner_pieces.push_back(function_of_all(run, sum));
    else
      run.inner_pieces.push_back(
          block_function(s.block, first_by_row(s.cut) ? cut_columns(sum, run.a_cols[r]) : run.first_pieces[r]));
  }
  Matrix gathered(run.y.rows, run.y.cols);
  if (s.cut == TensorCut::column_column)
    for (std::size_t r = 0; r < ranks; ++r) put_columns(run.inner_pieces[r], run.y_cols[r], gathered);
  run.joined = Matrix(run.z.rows, run.z.cols);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (second_by_row(s.cut)) {
      run.result_pieces.push_back(cut_product(run.inner_pieces[r], cut_rows(run.b, run.y_cols[r])));
      add_to(run.joined, run.result_pieces[r]);
    } else {
      const Matrix& y = s.cut == TensorCut::row_column ? run.inner_pieces[r] : gathered;
      run.result_pieces.push_back(cut_product(y, cut_columns(run.b, run.z_cols[r])));
      put_columns(run.result_pieces[r], run.z_cols[r], run.joined);
    }
  }
  run.error = largest_of(difference(run.joined, run.z)) / run.largest;
  run.gradient_error = gradient_difference(run);
  if (s.cut != TensorCut::column_row && s.ranks > 1) run.error_without_between = forgotten_between(run);
  return Out::ok(std::move(run));
}

}  // namespace models::parallel
