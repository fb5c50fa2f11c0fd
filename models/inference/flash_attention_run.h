#pragma once
#include <cstdint>
#include <vector>

#include "models/base/linear_algebra.h"
#include "models/base/result.h"

/// A small head whose attention is really computed in tiles, with running maximum, running sum and rescaling, against
/// the whole in float64.
namespace models::inference {

/// In which arithmetic: double throughout; single throughout; or as tensor cores do, with operands of BF16 and sums of
/// FP32, where probabilities are rounded to BF16 before they meet V. The square writes its scores in BF16 as well.
enum class FlashArithmetic : std::uint8_t { fp64, fp32, bf16 };
inline constexpr int flash_arithmetic_count = 3;

struct FlashRunSetup {
  std::int64_t tokens = 128, width = 8;  ///< up to 256 tokens and 64 numbers a token
  std::int64_t rows = 16, columns = 16;  ///< A tile has so many.
  bool causal = false;
  bool backward = false;  ///< also the gradients of Q, K and V
  FlashArithmetic arithmetic = FlashArithmetic::fp64;
  std::int64_t seed = 1;
  bool operator==(const FlashRunSetup&) const = default;
};

/// Errors are largest differences over the largest number of the same matrix in float64, whose inputs are those that
/// the arithmetic holds.
struct FlashErrors {
  double forward = 0;   ///< In the result.
  double backward = 0;  ///< the worst of dQ, dK, dV; 0 where none are computed
};

struct FlashRun {
  FlashRunSetup setup;
  Matrix scores;        ///< [tokens, tokens] in float64, scaled; masked ones are -infinity
  Matrix largest, sum;  ///< [tokens, tiles of columns]: running maximum and sum of a row after each of its tiles
  std::vector<double> log_sum;     ///< by row: log of the sum of exponentials, which the backward pass reads
  std::vector<double> weight_sum;  ///< by row, backward: D, the sum of dO times O
  FlashErrors tiles, square;
  double unscaled_error = 0;  ///< What tiles would be off by, had they not turned old parts.
  std::int64_t row_tiles = 1, column_tiles = 1;
  std::int64_t new_maxima = 0;   ///< times that a row met a larger score than all before, its first tile left out
  std::int64_t later_tiles = 0;  ///< rows times their tiles, the first left out

  /// Tiles of columns that the rows of a tile visit.
  std::int64_t visited(std::int64_t row_tile) const;
  /// By what a row's old parts are multiplied when the tile comes: exp(old maximum - new one); 0 for its first tile.
  double turn(std::int64_t row, std::int64_t column_tile) const;
};

/// Dao et al. 2022, algorithms 1 and 4; Milakov, Gimelshein 2018. Queries and keys are drawn around a few topics, so
/// that scores differ from tile to tile. Fails with a sentence for sizes out of range.
Result<FlashRun> run_flash_attention(const FlashRunSetup& setup);

}  // namespace models::inference
