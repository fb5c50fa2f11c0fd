#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/transformer/step_time.h"

/// One step of a language model on one chip, operation by operation.
namespace chapters::roofline::transformer_layer {

struct Inputs {
  std::string model = "llama-3-70b";
  FileInput config;
  std::string chip = "h100_sxm";
  models::Phase phase = models::Phase::prefill;
  std::int64_t batch = 1, sequence = 4096, context = 4096;
  models::AttentionFlops attention_flops = models::AttentionFlops::causal;
  std::string format = "bf16", activation_format = "bf16", kv_format = "bf16";
  bool fused_attention = true, fused_elementwise = true;
  models::Recompute recompute = models::Recompute::none;
  double launch_s = 0;
  bool operator==(const Inputs&) const = default;
};

/// One operation; its figures are of one of its count, its whole time and its share are of all of them.
struct OperationRow {
  models::TimedOperation timed;
  std::string group, shape;
  double bytes = 0, all_s = 0, share = 0;  ///< share in %
};

/// The kinds of work by which a step is summed up; the order is that of the legend.
enum class Block : std::uint8_t { projections, attention, feed_forward, elementwise, ends };
inline constexpr std::size_t block_count = 5;

/// The two blocks of a layer: all up to its last projection or attention kernel, and the rest. Norms and adds belong to
/// the block in which they run.
enum class LayerBlock : std::uint8_t { attention, feed_forward };

/// One kind of work of the step; shares in %.
struct BlockRow {
  std::string name;
  double time_s = 0, time_share = 0, flops_share = 0, bytes_share = 0;
};

struct Outputs {
  std::string reason;
  double time_s = 0;
  models::OperationTotals totals;
  double fused_time_s = 0, unfused_time_s = 0;  ///< the same step with both fusions on, and with both off
  double fused_bytes = 0, unfused_bytes = 0;
  double tokens_per_s = 0, intensity = 0, ridge = 0;
  double weights_intensity = 0, attention_intensity = 0;        ///< matmuls with weights; attention's kernels
  double mfu = 0, hfu = 0, mbu = 0, attention_flops_share = 0;  ///< %
  double memory_bound_share = 0, compute_bound_share = 0, launch_bound_share = 0;  ///< % of the time
  models::ResidentBytes resident;
  double kv_bytes_per_token = 0;
  double chip_share = 0;  ///< %, of the chip's memory
  double training_flops_per_token = 0, six_nd_ratio = 0, megatron_ratio = 0;
  models::ParameterCount parameters;
  std::int64_t parameters_embedding = 0, parameters_feed_forward = 0, parameters_norms = 0;
  double peak_flops_per_s = 0, bandwidth_bytes_per_s = 0;
  double layer_s = 0;                                              ///< one of the kind that takes most of the step
  double attention_block_share = 0, feed_forward_block_share = 0;  ///< % of that layer
  std::string layer_kind;
  std::vector<BlockRow> blocks;  ///< in the order of Block
  std::vector<OperationRow> operations;
};

/// What was set, as the picture says it, and the steps with all their operations.
struct Run {
  std::string model_name, chip_name, left_out;
  models::Workload workload;
  models::Format product_format = models::Format::bf16;
  double chip_memory_bytes = 0;
  models::StepTime step, fused, unfused;
};
using Computed = chapters::Computed<Outputs, Run>;

/// What is drawn of one operation beside its row.
struct OperationPicture {
  double compute_s = 0, memory_s = 0, launch_s = 0, time_s = 0;  ///< all of its count together
  double weight = 0;   ///< its time as a share of the longest, 0 to 1: how strongly it is coloured
  std::string detail;  ///< all about it in one line
};

/// The operations of one kind of layer in the order in which they run; rows of Outputs::operations.
struct LayerFlow {
  std::string name;  ///< "dense layer × 80"
  std::size_t first = 0, end = 0;
  std::size_t attention_end = 0;  ///< first row that no longer belongs to the attention block
  double time_s = 0;
};

struct Variant {
  std::string label;
  std::array<double, block_count> time_s{};
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer, subject, convention, capacity;
  PublishedMarks published;
  std::vector<OperationPicture> operations;  ///< in the order of Outputs::operations
  std::vector<LayerFlow> layers;
  std::size_t longest_layer = 0;  ///< a place in `layers`: the kind that takes the most time of the step
  std::vector<Variant> variants;
  std::array<std::int64_t, 4> stored{}, active{};  ///< parameters: embedding, attention, feed-forward, norms
  double longest_s = 0;                            ///< the longest time among `operations`
};

/// The first operation of a layer that belongs to its feed-forward block, of those from `first` to before `end`.
std::size_t feed_forward_begin(const std::vector<models::TimedOperation>& operations, std::size_t first,
                               std::size_t end);
/// The kind of work that a group of operations belongs to.
Block block_of(models::OperationGroup group);

Computed compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::roofline::transformer_layer
