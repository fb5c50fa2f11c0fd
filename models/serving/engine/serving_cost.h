#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/transformer/layer_ops.h"

/// How long one step of a serving engine takes, condensed from step_time.h into a table that a simulation can ask a
/// million times.
namespace models {

/// In what the keys and values are kept: two bytes a number, or FP8 with one FP32 scale for the keys and one for the
/// values of each layer, as vLLM and TensorRT-LLM keep them.
enum class KvFormat : std::uint8_t { bf16, fp8 };
inline constexpr std::size_t kv_format_count = 2;
inline double kv_number_bytes(KvFormat format) { return format == KvFormat::fp8 ? 1 : 2; }
/// Bytes of all scales of the cache in a model with this many layers.
inline double kv_scale_bytes(KvFormat format, std::int64_t layers) {
  return format == KvFormat::fp8 ? 2 * 4 * static_cast<double>(layers) : 0;
}

/// Where the model runs: `chips` of one kind that share every layer (tensor parallel).
struct ServingMachine {
  const Chip* chip = nullptr;
  double chips = 8;
  Format format = Format::bf16;     ///< format of weights and products; activations stay in 2 bytes
  KvFormat kv = KvFormat::bf16;     ///< format of the cache
  double roof_share = 0.7;          ///< share of peak and of bandwidth that kernels reach
  double step_overhead_s = 0.5e-3;  ///< scheduling and launches that nothing hides, each step
  double allreduce_s = 8e-6;        ///< latency of one small all-reduce; two in each layer
  double memory_share = 0.9;        ///< share of the chips' memory that the engine may take
};

class ServingCost {
 public:
  /// Seconds of a step that carries `tokens` new tokens, writes logits for `rows` of them, and attends in decode to
  /// `context` tokens of cache, summed over its sequences.
  double step_s(double tokens, double rows, double context) const {
    return at(body_s_, tokens) + at(head_s_, rows) + tokens * link_s_per_token + fixed_s + context * context_s;
  }
  /// Seconds of attention for `chunk` prompt tokens behind `prefix` that are cached: causal pairs, or the reading of
  /// the cache if longer.
  double chunk_attention_s(double chunk, double prefix) const {
    const double pairs = chunk * (prefix + (chunk + 1) / 2) * pair_s, read = (prefix + chunk) * context_s;
    return pairs > read ? pairs : read;
  }

  double fixed_s = 0, link_s_per_token = 0;
  double context_s = 0;  ///< per token of cache that one decoding sequence attends to
  double pair_s = 0;     ///< per (query, key) pair of a prompt
  double weights_bytes = 0, kv_bytes_per_token = 0;
  double free_bytes = 0;  ///< left for the cache, over all chips: what weights and the scales of the cache leave

 private:
  friend Result<ServingCost> serving_cost(const Architecture&, const ServingMachine&);
  friend Result<ServingCost> serving_cost_of_one(const Architecture&, const ServingMachine&);
  friend Result<ServingCost> serving_cost_on(const ServingCost&, const Architecture&, const ServingMachine&);
  double at(const std::vector<double>& seconds, double tokens) const;
  std::vector<double> tokens_, body_s_, head_s_;
};

/// Memory over all chips of a machine, in bytes.
struct ServingMemory {
  double offered_bytes = 0;  ///< what the engine may take
  double weights_bytes = 0;
  double free_bytes = 0;  ///< left for the cache by the weights and the cache's scales; negative where they do not fit
  bool holds_weights() const { return free_bytes > 0; }
};
ServingMemory serving_memory(const Architecture& architecture, const ServingMachine& machine);

/// Infeasible, in one sentence: weights that do not fit, a chip without peak in the format, no link between several
/// chips. Between the table's sizes (1 to 16, then a quarter apart) times are interpolated linearly. Within 4 % of
/// time_step for full attention: tested.
Result<ServingCost> serving_cost(const Architecture& architecture, const ServingMachine& machine);

/// The times of one chip at its roofs, which all numbers of chips have in common: no memory, no links, no overhead.
Result<ServingCost> serving_cost_of_one(const Architecture& architecture, const ServingMachine& machine);
/// serving_cost, to rounding, of `machine` from what one of its chips takes: for who asks for many numbers of chips.
Result<ServingCost> serving_cost_on(const ServingCost& one, const Architecture& architecture,
                                    const ServingMachine& machine);

}  // namespace models
