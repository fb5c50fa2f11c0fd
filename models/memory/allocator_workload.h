#pragma once
#include <cstdint>
#include <vector>

#include "models/memory/allocator_events.h"

/// Lists of allocations as training and serving make them.
namespace models::memory {

enum class AllocatorWorkload : std::uint8_t {
  lengths,   ///< training steps whose sequences vary in length
  requests,  ///< serving: one contiguous cache a request, of the length that it may reach
  growing,   ///< decoding: the cache of each layer is concatenated with each block of tokens
  pins,      ///< many tensors of one size, of which every second stays
  buckets    ///< gradients copied into buckets that a communication stream reads
};
inline constexpr int allocator_workload_count = 5;

enum class LengthOrder : std::uint8_t { drawn, rising, falling };
inline constexpr int length_order_count = 3;

/// A decoder with gated feed-forward layers of 3.5 times the width, grouped KV heads (a quarter of the width), BF16 and
/// FlashAttention: the proportions of Llama 3 8B at width 4096.
struct AllocatorWorkloadSetup {
  AllocatorWorkload workload = AllocatorWorkload::lengths;
  std::int64_t layers = 32, width = 4096, vocabulary = 128256;
  std::int64_t batch = 4;  ///< sequences a step; requests at once
  std::int64_t steps = 8;  ///< Steps of training; a hundred times as many requests; blocks of 64 tokens.
  double shortest = 1024, longest = 4096;  ///< tokens of a sequence
  LengthOrder order = LengthOrder::drawn;
  bool empty_cache = false;  ///< torch.cuda.empty_cache() behind every step
  std::int64_t seed = 1;
};

/// Where a step begins, and how long its sequences are.
struct AllocatorStep {
  std::size_t event = 0;
  std::int64_t tokens = 0;  ///< The length of a sequence.
};

struct AllocatorProgram {
  AllocatorList list;
  std::vector<AllocatorStep> steps;
};

/// The list of a program. Training keeps frozen BF16 weights and an adapter's states of a hundredth of them, and of
/// each layer what backward needs: residual, two norms, queries, keys, values, attention, gate, up and product. The
/// logits are BF16 and FP32. At most `max_allocator_events` events.
AllocatorProgram make_allocator_program(const AllocatorWorkloadSetup& setup);

}  // namespace models::memory
