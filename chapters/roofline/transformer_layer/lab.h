#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/transformer/step_time.h"

/// Between transformer_layer.cpp (what is set and computed) and transformer_layer_picture.cpp (how it is drawn).
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

/// One operation; figures are of one of its `count`, `share` is of all of them.
struct OperationRow {
  std::string name, group, kind, shape;
  std::int64_t count = 1, parameters = 0;
  double flops = 0, bytes = 0, intensity = 0;
  double compute_s = 0, memory_s = 0, launch_s = 0, time_s = 0, share = 0;
  models::Regime regime = models::Regime::memory;

  // For the picture alone.
  double all_compute_s = 0, all_memory_s = 0, all_launch_s = 0, all_s = 0;  ///< of all `count`
  std::string_view section;                                                 ///< "attention", "feed-forward" or "other"
  std::string detail;                                                       ///< all about it in one line
};

/// What the picture groups by; the order is that of the legend.
enum class Block : std::uint8_t { projections, attention, feed_forward, elementwise, ends };
inline constexpr std::size_t block_count = 5;

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

struct Outputs {
  std::string reason;
  std::int64_t parameters_total = 0, parameters_active = 0;
  double flops_per_token = 0, flops_total = 0, bytes_total = 0, time_s = 0;
  double tokens_per_s = 0, intensity = 0, ridge = 0, mfu = 0, hfu = 0, mbu = 0, memory_bound_share = 0;
  double weights_bytes = 0, kv_bytes_per_token = 0, kv_total_bytes = 0, chip_share = 0;
  double fused_time_s = 0, unfused_time_s = 0, fused_bytes = 0, unfused_bytes = 0;
  double training_flops_per_token = 0, six_nd_ratio = 0, megatron_ratio = 0;
  std::int64_t parameters_embedding = 0, parameters_attention = 0, parameters_feed_forward = 0, parameters_norms = 0;
  std::vector<OperationRow> operations;

  // For the picture alone.
  std::string subject, convention, capacity;
  std::vector<LayerFlow> layers;
  std::size_t longest_layer = 0;  ///< of `layers`, the kind that takes the most time of the step
  std::vector<Variant> variants;
  std::array<std::int64_t, 4> stored{}, active{};  ///< parameters: embedding, attention, feed-forward, norms
  double longest_s = 0;                            ///< of all rows, count x time
  std::uint64_t version = 0;                       ///< changes with the rows
};

Outputs compute(const Inputs& inputs);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, OperationRow& row);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::roofline::transformer_layer
