#pragma once
#include <cstdint>
#include <span>

#include "models/serving/engine/paged_kv_slots.h"

/// How a replica keeps account of its cache, and of several answers to one prompt in it.
namespace models {

/// counted: blocks are only counted, and as many decode steps are run at once as nothing changes in. tables: every
/// block has a number and its readers, and is copied before one of several readers writes to it (Kwon et al. 2023,
/// sections 4.2 to 4.4). runs: each answer has a run of slots reserved ahead, as engines before paging did. With tables
/// and runs each step is taken by itself, with all prompts that were just admitted in it.
enum class CacheKeeping : std::uint8_t { counted, tables, runs };

/// What a sequence gets when slots are reserved. longest: `reserve_tokens` for everybody. power_of_two: the prompt and
/// the answer's length rounded up to a power of two. exact: what will be held at the end, which nobody knows ahead.
/// Orca (Max), (Pow2) and (Oracle) of Kwon et al. 2023, section 6.1.
enum class ReserveRule : std::uint8_t { longest, power_of_two, exact };
inline constexpr int reserve_rule_count = 3;

/// With tables and runs alone.
struct ServingAnswers {
  std::int32_t count = 1;  ///< answers to each prompt, at least 1
  /// Length of each answer, `count` for each request; their longest is its output_tokens. Empty: all as long as that.
  std::span<const std::int32_t> tokens;
  // With tables.
  bool share = true;  ///< answers read the blocks of their prompt together
  /// Share of the steps of a request in which one of its answers is dropped for a copy of another, as beam search does;
  /// 0 for answers that are sampled each for itself.
  double replaced = 0;
  std::uint64_t seed = 1;              ///< draws which
  bool stand_still = false;            ///< nobody is sent back: who lacks a block stands still and keeps what it has
  std::int64_t host_blocks = 1 << 30;  ///< room for swapped blocks; where it is full, tokens are computed again
  // With runs.
  ReserveRule rule = ReserveRule::longest;
  SlotFit fit = SlotFit::first_fit;
  std::int64_t reserve_tokens = 2048;
};

/// What came of keeping tables or runs.
struct AnswerCounts {
  std::int64_t steps = 0, tokens = 0;  ///< steps begun; tokens written, of all answers
  std::int64_t copies = 0;             ///< blocks copied since another one read them, too
  std::int64_t recomputed_tokens = 0, swapped_out_blocks = 0;
  std::int64_t host_full = 0;  ///< preemptions by swap that found no room in the host
};

}  // namespace models
