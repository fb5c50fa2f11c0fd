#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/machine/all_reduce_time.h"
#include "models/machine/roofline.h"
#include "models/parallel/tensor/tensor_cut.h"
#include "models/transformer/layer_ops.h"

/// One layer of a real model on the ranks that share it: every operation's shape and time on a rank, every collective's
/// bytes and time, and what of them is not hidden.
namespace models::parallel {

/// What runs beside the collectives.
enum class TensorOverlap : std::uint8_t {
  none,
  /// In the backward pass the sum of the input's gradient runs beside the product that makes the weights' gradient
  /// (Megatron-LM, `async_tensor_model_parallel_allreduce`).
  weight_gradient,
  /// Every product that a gather or scatter touches is cut into as many row blocks as there are ranks, and a block is
  /// multiplied while the next one travels (Wang et al., "Overlap communication with dependent computation via
  /// decomposition", ASPLOS 2023). Needs sequence parallelism.
  ring
};
inline constexpr std::size_t tensor_overlap_count = 3;

struct TensorSplit {
  TensorCut cut = TensorCut::column_row;
  std::int64_t ranks = 8, ranks_per_node = 8;
  bool sequence_parallel = false;
  TensorOverlap overlap = TensorOverlap::none;
  AllReduceLinks links;
  Machine machine;            ///< peak and bandwidth as they are reached
  std::int64_t sm_count = 0;  ///< 0: products do not lose to tiles and waves
  double sent_bytes = 2;      ///< Bytes of a number that a collective moves.
  /// A mask of a byte in the pass of each residual add, and where scores lie in memory a pass of their own over them.
  bool dropout = false;
};

/// How an operation lies on the ranks.
enum class TensorPart : std::uint8_t {
  whole,      ///< the same on every rank
  by_column,  ///< its matrix by column
  by_row,     ///< its matrix by row
  by_head,    ///< columns or heads of what a column cut left
  by_token    ///< rows, under sequence parallelism
};
std::string_view tensor_part_name(TensorPart part);  ///< "by column"

struct TensorOperation {
  LayerOperation whole;
  TensorPart part = TensorPart::whole;
  TensorBlock block = TensorBlock::attention;
  ProductShape shape;  ///< on a rank; all zero for what is no product
  double forward_s = 0, backward_s = 0;
};

struct TimedCollective {
  TensorCollective collective;
  TensorBlock block = TensorBlock::attention;
  double sent_bytes = 0;  ///< by every rank
  double time_s = 0, exposed_s = 0;
};

/// Sums of one pass.
struct TensorPass {
  double products_s = 0, other_s = 0;       ///< other: norms, activations, attention, residuals
  double collectives_s = 0, exposed_s = 0;  ///< all of them; what no product runs beside, and what cutting costs
  double sent_bytes = 0;
  std::int64_t collectives = 0;
  double own_s() const { return products_s + other_s; }  ///< without collectives
  double total_s() const { return own_s() + exposed_s; }
};

struct TensorLayer {
  std::vector<TensorOperation> operations;
  std::vector<TimedCollective> collectives;
  TensorPass forward, backward;
  double parameters = 0, rank_parameters = 0;  ///< Parameters of the layer; those of it on a rank.
  double kv_copies = 1;                        ///< ranks that hold the same key and value head
  double total_s() const { return forward.total_s() + backward.total_s(); }
  double sent_bytes() const { return forward.sent_bytes + backward.sent_bytes; }
  double exposed_s() const { return forward.exposed_s + backward.exposed_s; }
};

/// The GPUs of an NVL72 rack: the most that one set of fast links joins.
inline constexpr std::int64_t most_tensor_ranks = 72;

/// One sentence when the model cannot be cut over so many ranks: query heads, the inner width of the feed-forward or of
/// experts must divide; key and value heads must divide the ranks or be divided by them. Sequence parallelism needs
/// column_row, and tokens that divide. Nothing otherwise.
std::string tensor_problem(const Architecture& architecture, const Workload& workload, const TensorSplit& split);

/// The counts of ranks from 1 to `most` that the model can be cut over.
std::vector<std::int64_t> possible_ranks(const Architecture& architecture, std::int64_t most);

/// Sizes of one block of a layer. Inner columns of experts are those that a token meets.
BlockSizes block_sizes(const Architecture& architecture, TensorBlock block, bool experts, const Workload& workload);

/// What one rank computes of the model: its heads, its copies of keys and values, its part of the inner width.
Architecture rank_architecture(const Architecture& architecture, std::int64_t ranks);

/// One layer of `kind`. A product takes what tile_matmul says, dealt in waves or as stream-K, whichever is faster;
/// other operations take the longest of arithmetic, traffic and launch. An all-reduce takes all_reduce_time's fastest,
/// a gather or scatter half a ring's. Infeasible: tensor_problem's sentences, a machine without rates.
Result<TensorLayer> tensor_layer(const Architecture& architecture, const LayerKind& kind, const Workload& workload,
                                 const TensorSplit& split);

/// One collective of `bytes` that are summed or gathered, over ranks as dense in nodes as they go.
double tensor_collective_s(Primitive primitive, double bytes, const TensorSplit& split);

/// A product [m,k] x [k,n] of 2-byte or other numbers on the split's machine, seconds.
double tensor_product_s(double m, double n, double k, double element_bytes, const TensorSplit& split);

}  // namespace models::parallel
