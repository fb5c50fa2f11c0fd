#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
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

/// One operation; its figures are of one of its count, its share is of all of them.
struct OperationRow {
  models::TimedOperation timed;
  std::string group, shape;
  double bytes = 0;
};

struct Outputs {
  std::string reason;
  models::StepTime step;            ///< as set
  models::StepTime fused, unfused;  ///< the same step with both fusions on, and with both off
  double tokens_per_s = 0, intensity = 0, ridge = 0;
  double mfu = 0, hfu = 0, mbu = 0, memory_bound_share = 0, attention_flops_share = 0;  ///< %
  models::ResidentBytes resident;
  double kv_bytes_per_token = 0;
  double chip_share = 0;  ///< %, of the chip's memory
  double training_flops_per_token = 0, six_nd_ratio = 0, megatron_ratio = 0;
  models::ParameterCount parameters;
  std::int64_t parameters_embedding = 0, parameters_feed_forward = 0, parameters_norms = 0;
  std::vector<OperationRow> operations;
};

/// What the picture groups by; the order is that of the legend.
enum class Block : std::uint8_t { projections, attention, feed_forward, elementwise, ends };
inline constexpr std::size_t block_count = 5;

/// What is drawn of one operation beside its row.
struct OperationPicture {
  double compute_s = 0, memory_s = 0, launch_s = 0, time_s = 0;  ///< of all of its count together
  double weight = 0;   ///< its time as a share of the longest, 0 to 1: how strongly it is coloured
  std::string detail;  ///< all about it in one line
};

/// The operations of one kind of layer in the order in which they run. Those of one stage read the same input.
struct LayerFlow {
  struct Stage {
    std::size_t first = 0, end = 0;  ///< rows
    double share = 0;                ///< of the layer's time
  };
  std::string name;  ///< "dense layer × 80"
  std::vector<Stage> stages;
  std::size_t attention_end = 0;  ///< first stage that no longer belongs to attention
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
  std::size_t longest_layer = 0;  ///< of `layers`, the kind that takes the most time of the step
  std::vector<Variant> variants;
  std::array<std::int64_t, 4> stored{}, active{};  ///< parameters: embedding, attention, feed-forward, norms
  double longest_s = 0;                            ///< the longest time among `operations`
};

Outputs compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::roofline::transformer_layer
