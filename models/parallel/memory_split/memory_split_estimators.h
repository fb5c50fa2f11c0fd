#pragma once
#include <cstdint>

/// What other calculators say of a GPU's memory, as their sources compute it, so that their figures can stand beside
/// ours. None of them is used for anything else.
namespace models::parallel {

/// DeepSpeed's estimate_zero2_model_states_mem_needs and estimate_zero3_model_states_mem_needs. Bytes of a GPU and of a
/// node's host memory; states alone.
struct DeepSpeedSetting {
  double parameters = 0, largest_layer = 0;  ///< those of the whole model and of its largest layer
  std::int64_t gpus_per_node = 1, nodes = 1;
  bool offload_optimizer = false, offload_parameters = false;
  bool zero_init = true;            ///< parameters are split while they are made
  double additional_buffers = 1.5;  ///< factor on the host's memory
};
struct DeepSpeedEstimate {
  double gpu_bytes = 0, host_bytes = 0;
};
DeepSpeedEstimate deepspeed_zero3_estimate(const DeepSpeedSetting& setting);
DeepSpeedEstimate deepspeed_zero2_estimate(const DeepSpeedSetting& setting);

/// Megatron-LM's theoretical_memory_usage.py: activations of the first stage. It knows nothing of gated feed-forwards,
/// grouped queries or the experts that a token takes.
struct MegatronShapes {
  double layers = 0, hidden = 0, ffn = 0, vocab = 0, sequence = 0, micro_batch = 1;
  double tensor = 1, pipeline = 1, virtual_pipeline = 1;  ///< virtual: 1 is a plain pipeline
};
double megatron_activation_bytes(const MegatronShapes& shapes);             ///< sequence parallel, selective
double megatron_activation_without_sp_bytes(const MegatronShapes& shapes);  ///< with 5 % on top

/// EleutherAI's cookbook, calc_transformer_mem.py: every gradient and optimizer byte is divided by all GPUs or by none,
/// never by tensor or pipeline alone, and checkpointing is the selective kind.
struct CookbookShapes {
  double layers = 0, hidden = 0, heads = 0, vocab = 51200, sequence = 0, batch = 1;
  double ffn_ratio = 4;  ///< width of the feed-forward, of two matrices, over the hidden width
  double tensor = 1, pipeline = 1, gpus = 1;
  std::int64_t zero_stage = 1;
  bool checkpoint = true;
};
struct CookbookEstimate {
  double parameters = 0, weights = 0, gradients = 0, optimizer = 0, communication = 0, activations = 0;
  double total() const { return weights + gradients + optimizer + communication + activations; }
};
CookbookEstimate cookbook_estimate(const CookbookShapes& shapes);

}  // namespace models::parallel
