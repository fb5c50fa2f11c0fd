#pragma once
#include <cstdint>

#include "models/base/result.h"
#include "models/inference/attention_patterns_reach.h"
#include "models/machine/hardware.h"
#include "models/transformer/transformer.h"

/// What masks save: arithmetic by tiles that a kernel skips, bytes that a cache keeps and a step reads.
namespace models::inference {

/// The layers of a model as its config file has them, over `sequence` tokens: windows where it slides (Llama 4: blocks
/// of its chunk), every earlier token elsewhere. Fails where the sequence is out of range.
Result<PatternStack> stack_of_model(const Architecture& architecture, std::int64_t sequence);
/// `layers` of one mask; one in `full_every` from the bottom sees everything (Gemma 3: 6, gpt-oss: 2); 0: none.
PatternStack stack_of_layers(AttentionMask mask, std::int64_t layers, std::int64_t full_every);

struct PatternPriceSetup {
  std::int64_t tile = 128;         ///< side of a kernel's square tile, tokens
  double kv_bits = 16;             ///< a number of the cache, scales counted
  std::int64_t margin_tokens = 0;  ///< that an engine keeps beyond what a masked layer must (a batch of the prompt)
  double flops_per_s = 1;          ///< matrix products of the chip
  double memory_bytes_per_s = 1;
};

/// One sequence through the layers of a stack, in the heads of a model. Sums over the layers.
struct PatternPrice {
  double entries = 0;       ///< pairs of query and key, of one head of each layer
  double tile_entries = 0;  ///< the same with all pairs of the tiles that are computed
  double flops = 0;         ///< the entries' alone: two products, 2 FLOP a multiply-add
  double tile_flops = 0;    ///< the tiles'
  double prefill_s = 0;     ///< tile_flops at the chip's rate: the least
  double linear_flops = 0;  ///< projections and feed-forward of the same layers and tokens
  double linear_s = 0;
  double kept_tokens = 0;  ///< over the layers
  double cache_bytes = 0;  ///< with the margin
  double read_tokens = 0;  ///< keys of the newest token, over the layers
  double read_bytes = 0;
  double read_s = 0;  ///< read_bytes at the chip's bandwidth: the least
};
PatternPrice price_of_pattern(const Architecture& architecture, const PatternStack& stack,
                              const PatternPriceSetup& setup);

}  // namespace models::inference
