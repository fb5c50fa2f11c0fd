#pragma once
#include "models/transformer/transformer.h"

/// Language models by their sizes alone, for tests that need no catalog.
namespace support {

struct DecoderSizes {
  std::int64_t hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 128, ffn = 0, vocab = 0;
};

/// A decoder of Llama's make: gated feed-forward, RMS norms, rotated positions, an output matrix of its own.
inline models::Architecture decoder(const DecoderSizes& s) {
  models::Architecture a;
  a.hidden = s.hidden;
  a.layers = s.layers;
  a.heads = s.heads;
  a.kv_heads = s.kv_heads;
  a.head_dim = s.head_dim;
  a.ffn = s.ffn;
  a.vocab = s.vocab;
  return a;
}

inline models::Architecture llama_3_8b() { return decoder({4096, 32, 32, 8, 128, 14336, 128256}); }

}  // namespace support
