#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "models/base/linear_algebra.h"
#include "models/base/result.h"
#include "models/parallel/tensor/tensor_cut.h"

/// A small block that is really computed on ranks, each from its own pieces alone, and held against the whole one.
namespace models::parallel {

/// Z = f(X A) B with X [rows, hidden]. Feed-forward: f is GELU, A [hidden, 2 hidden]. Attention: `ranks` x
/// `heads_a_rank` heads of two numbers, causal; A holds for each group of heads its queries, keys and values.
struct TensorRunSetup {
  TensorCut cut = TensorCut::column_row;
  TensorBlock block = TensorBlock::feed_forward;
  std::int64_t ranks = 4;      ///< 1 to 16
  std::int64_t rows = 4;       ///< tokens
  std::int64_t kv_copies = 1;  ///< attention: ranks that hold the same key and value head
  std::int64_t seed = 1;
  bool operator==(const TensorRunSetup&) const = default;
};

/// Columns [first, end) of a matrix, or rows.
struct PieceRange {
  std::size_t first = 0, end = 0;
  std::size_t size() const { return end - first; }
};

struct TensorRun {
  TensorRunSetup setup;
  Matrix x, a, b, y, z;               ///< The whole block's matrices: y = f(x a), z = y b.
  std::vector<PieceRange> x_cols;     ///< columns of X (and rows of A) of each rank, where A is cut by row
  std::vector<PieceRange> a_cols;     ///< columns of A of each rank; of replicated keys and values every rank its copy
  std::vector<PieceRange> y_cols;     ///< columns of Y, rows of B
  std::vector<PieceRange> z_cols;     ///< columns of B and Z, where B is cut by column
  std::vector<Matrix> first_pieces;   ///< each rank's X_i A_i before f: columns, or a part of the sum
  std::vector<Matrix> inner_pieces;   ///< each rank's f(...): its columns of Y; all of Y under row_column
  std::vector<Matrix> result_pieces;  ///< each rank's product with its piece of B: columns of Z, or a part of the sum
  Matrix joined;                      ///< Z from the pieces, after the collectives
  double largest = 0;                 ///< |z| at most
  double error = 0;                   ///< The largest difference of joined and z, over `largest`.
  double gradient_error = 0;          ///< the same of the gradient of X from the pieces, for a random gradient of Z
  /// The same of Z where the collective between the products is left out; NaN where there is none.
  double error_without_between = std::numeric_limits<double>::quiet_NaN();
};

/// Fails with a sentence for ranks or rows out of range, or copies that do not divide the ranks.
Result<TensorRun> run_tensor_cut(const TensorRunSetup& setup);

}  // namespace models::parallel
