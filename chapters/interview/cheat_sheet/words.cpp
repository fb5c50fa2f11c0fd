#include "chapters/interview/cheat_sheet/lab.h"

/// What is said in words next to the figures.
namespace chapters::interview::cheat_sheet {

using models::sheet::moved_count, models::sheet::technique_count;

const std::array<ColumnWords, moved_count>& column_words() {
  static const std::array<ColumnWords, moved_count> columns{
      {{"TTFT", "Time to the first token (TTFT)."},
       {"TPOT", "Time per output token (TPOT)."},
       {"gap", "Longest wait between two tokens while a prompt is read."},
       {"tok/s", "Throughput: tokens per second, of a GPU in training."},
       {"weights", "Memory for weights on a chip."},
       {"states", "Training states without the weights: gradients, master weights and moments on a GPU."},
       {"activ.", "Memory for activations on a GPU."},
       {"cache", "Memory for keys and values on a chip."},
       {"FLOP", "Arithmetic of all chips."},
       {"HBM", "Bytes of main memory for a token."},
       {"links", "Communication: bytes over links."},
       {"launch", "Kernel launches for a token; what FlashAttention and fusion spare, without a graph."}}};
  return columns;
}

const std::array<ChainWords, 4>& chain_words() {
  static const std::array<ChainWords, 4> chains{
      {{"inference", "Request's time", "from a bare engine",
        "time of one request, from an engine that has none of these, as if one chip held the model"},
       {"training", "Step's time", "from FP32, eager", "time of a training step, from FP32 and eager kernels"},
       {"memory", "Step's bytes", "from data parallel",
        "bytes of a training step, from data parallel alone; tensor parallel splits the sequence too"},
       {"communication", "Exposed talk", "from FP32, one ring", "exposed time, from FP32 gradients in one ring"}}};
  return chains;
}

const std::array<TechniqueWords, technique_count>& technique_words() {
  static constexpr std::string_view exact = "same result", rounds = "measure it", same = "same model";
  static const std::array<TechniqueWords, technique_count> words{{
      {"FlashAttention", "always: scores are never stored", "the mask or the head width has no kernel",
       "attention's share of the prompt", "same but for rounding", "inference/flash-attention"},
      {"Kernel fusion", "many small operations between products", "shapes change so that it compiles again",
       "kernels and bytes of a step", "same but for rounding", "framework/fusion"},
      {"CUDA graph", "launches take longer than kernels", "shapes change with every step", "waits between kernels",
       exact, "framework/launch"},
      {"8-bit weights", "decode reads weights most of the time", "quality falls on your own tasks",
       "quality, then time per token", rounds, "compression/quantizer"},
      {"4-bit weights", "small batches, memory is short", "large batches: products are widened first",
       "quality, then tokens per second", rounds, "compression/methods"},
      {"8-bit KV cache", "long contexts or large batches", "weights are most of what is read",
       "quality at long contexts", rounds, "inference/kv-cache"},
      {"Tensor parallel", "the model or the latency needs more chips", "beyond the node: two all-reduces per layer",
       "talk's share of a step", exact, "inference/tensor-parallel"},
      {"Speculation", "small batches: the check is nearly free", "the batch is near the ridge",
       "accepted tokens of a round", "same distribution", "inference/speculative"},
      {"Batching", "weights are read once for all", "the limit per token is reached", "time per token over batch",
       exact, "inference/phases"},
      {"Grouped heads", "fixed when the model is trained", "a trained model has other heads", "cache of a token",
       "decided in training", "inference/kv-cache"},
      {"Paged KV cache", "lengths differ and are not known", "all requests are equally long",
       "share of the pool that holds tokens", exact, "serving/paged-kv"},
      {"Prefix cache", "prompts begin alike", "every prompt is new",
       "hit rate; bytes of its pool, which are not counted here", exact, "serving/prefix-cache"},
      {"Continuous batching", "answers differ in length", "all answers end together", "slots that are busy", exact,
       "serving/batching"},
      {"Chunked prefill", "prompts stall users who are reading", "the first token is what counts",
       "the longest gap, 99 in 100", exact, "serving/chunked-disaggregated"},
      {"Disaggregation", "both limits are tight and load is high", "the link is slow or load is low",
       "time to send a cache", exact, "serving/chunked-disaggregated"},
      {"BF16 for FP32", "always on matrix units", "sums and updates: keep them in FP32", "the loss against FP32",
       "sums in FP32", "precision/mixed"},
      {"FP8 products", "large products on chips that have it", "small layers: the casts take it back",
       "the loss, amax of every tensor", rounds, "precision/mixed"},
      {"Fused AdamW", "the update moves many bytes", "the update is a small share of the step",
       "the update's share of the step", exact, "training/optimizer"},
      {"Overlap", "backward takes longer than the exchange", "the exchange is the longer one", "exposed communication",
       exact, "distributed/overlap"},
      {"ZeRO-1", "states do not fit, no traffic is to spare", "weights alone do not fit", "bytes of a GPU at the peak",
       exact, "distributed/memory-split"},
      {"ZeRO-3, FSDP", "weights and states do not fit", "the network is the wall: half as much again",
       "exposed gathers", exact, "distributed/memory-split"},
      {"8-bit AdamW", "moments are what does not fit", "states are split far already", "the loss over a run", rounds,
       "training/optimizer"},
      {"Checkpointing", "activations do not fit", "there is room: it costs a forward pass",
       "bytes at the peak, time of a step", exact, "training/checkpointing"},
      {"Accumulation", "the batch is larger than memory", "each piece leaves the GPU idle",
       "time of a step for a token", same, "training/batch"},
      {"Pipeline", "layers do not fit in a node", "few micro-batches: stages wait", "idle share of a stage", same,
       "distributed/pipeline"},
      {"Packing", "texts are shorter than rows", "rows are full already", "share of tokens that are padding", same,
       "training/packing"},
  }};
  return words;
}

}  // namespace chapters::interview::cheat_sheet
