#pragma once
#include "kernels/cuda/operation.h"

namespace kernels::cuda {

/// Kernels that read words and leave a sum a thread, modulo 2^32: which words those are.
struct ThreadSums {
  std::int64_t block_threads = 256;
  std::int64_t block_words = 65536;  ///< from the first word of a block to that of the next
  std::int64_t chunks = 0;           ///< after how many blocks the array begins anew; 0: never
  std::int64_t first = 0;            ///< word of a block at which its first thread begins
  std::int64_t apart = 1;            ///< words from a thread's first to that of the next thread
  std::int64_t terms = 256;          ///< words that a thread adds
  std::int64_t term_apart = 256;     ///< from one to the next
  bool operator==(const ThreadSums&) const = default;
};

/// Sums that were worked out. Rungs of one ladder leave the same: a gigabyte of words is added once for all of them.
struct ExpectedSums {
  std::uint32_t seed = 0;
  ThreadSums sums;
  std::vector<std::uint32_t> words;  ///< one a thread; empty: none yet
};

/// Words are below this, so that 256 of them add up to less than the poison.
inline constexpr std::uint32_t word_limit = 1 << 16;

/// The words of an output against `expected`, which is repeated to its end: they are exact or wrong.
Deviation compare_words(const Outcome& outcome, std::span<const std::uint32_t> expected);

/// The sums that a run has left against those of its first input: they are exact or wrong. The latest are left in
/// `outcome.expected`.
Deviation compare_sums(const Outcome& outcome, const ThreadSums& sums);

}  // namespace kernels::cuda
