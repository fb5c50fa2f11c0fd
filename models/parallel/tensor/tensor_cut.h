#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/parallel/collectives/collective_kinds.h"

/// The two products of a block, Z = f(X A) B, cut over ranks: what each cut must send. f acts on every inner column
/// (feed-forward) or on every head (attention) by itself. Column then row is the cut of Megatron-LM: Shoeybi et al.
/// 2019, "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism", section 3.
namespace models::parallel {

/// How the first matrix is cut, then the second. A matrix that is cut by column leaves columns of its product, one that
/// is cut by row leaves a sum that lies in pieces.
enum class TensorCut : std::uint8_t { column_row, column_column, row_column, row_row };
inline constexpr std::size_t tensor_cut_count = 4;
std::string_view tensor_cut_name(TensorCut cut);  ///< "column, then row"
bool first_by_row(TensorCut cut);
bool second_by_row(TensorCut cut);

enum class TensorBlock : std::uint8_t { attention, feed_forward };
inline constexpr std::size_t tensor_block_count = 2;
std::string_view tensor_block_name(TensorBlock block);  ///< "attention"

/// Sizes of one block, in numbers: X [rows, hidden], X A [rows, projected], f(X A) [rows, inner], Z [rows, hidden].
struct BlockSizes {
  double rows = 0, hidden = 0, projected = 0, inner = 0;
};

/// Where a collective stands: in front of the block, between its products, or behind it.
enum class TensorPlace : std::uint8_t { before, between, behind };

struct TensorCollective {
  Primitive primitive = Primitive::all_reduce;
  TensorPlace place = TensorPlace::behind;
  bool backward = false;
  bool regather = false;  ///< the input of a product once more, for the gradient of its weights
  double elements = 0;    ///< Elements of the whole array that is summed or gathered.
};

/// What one block sends under a cut: its input lies whole on every rank (with `sequence_parallel`, cut by rows) and its
/// result has to lie the same way. Backward passes: a matrix that is cut by column leaves its input's gradient as a sum
/// in pieces, one that is cut by row leaves columns of it. Sequence parallelism is for column_row alone: each
/// all-reduce becomes a reduce-scatter and an all-gather, and the backward pass gathers the input once more, since each
/// rank kept its rows of it only (Korthikanti et al. 2022, section 4.2.2). Empty for one rank.
std::vector<TensorCollective> block_collectives(TensorCut cut, const BlockSizes& sizes, std::int64_t ranks,
                                                bool sequence_parallel, bool training);

/// Numbers that every rank sends: bus_factor x elements.
double sent_elements(const TensorCollective& collective, std::int64_t ranks);

}  // namespace models::parallel
