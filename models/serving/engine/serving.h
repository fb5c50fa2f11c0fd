#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "models/serving/arrivals/serving_requests.h"
#include "models/serving/engine/serving_cost.h"
#include "models/serving/engine/serving_gaps.h"
#include "models/serving/engine/serving_keeping.h"
#include "models/serving/prefix/serving_prefix_store.h"
#include "models/serving/prefix/serving_prefix_tree.h"

/// A serving engine as a discrete-event simulation: requests wait, are batched by a policy, and leave.
namespace models {

/// single: one at a time on each server. fixed: waits for a full batch and runs it until its longest member is done
/// (static batching). dynamic: the same, but starts short when the oldest has waited for the timeout. continuous: joins
/// and leaves at every step, prompts in steps of their own (Orca, Yu et al. 2022; vLLM, Kwon et al. 2023). chunked:
/// prompts cut up and mixed into decode steps (Sarathi-Serve, Agrawal et al. 2024).
enum class ServingPolicy : std::uint8_t { single, fixed, dynamic, continuous, chunked };
/// When the blocks run out, the youngest goes back to the queue: its cache is dropped and computed again, or moved to
/// the host and back.
enum class Preemption : std::uint8_t { recompute, swap };

struct ServingSetup {
  ServingPolicy policy = ServingPolicy::continuous;
  /// What a step of the model costs. Null means a plain queue, where a request takes its service_s; continuous and
  /// chunked are then the same as single.
  const ServingCost* cost = nullptr;
  std::int64_t servers = 1;  ///< Servers of the plain queue, or replicas of the model; requests go to them in turn.
  std::int64_t slots = 8;    ///< The most sequences in a batch.
  double timeout_s = 0.5;    ///< The longest wait of the oldest request before a dynamic batch starts short.
  /// New tokens in a step of the chunked policy. Where decode alone takes more, 16 are still kept for prompts.
  std::int64_t chunk_tokens = 512;
  /// The cache of one replica: `blocks` blocks of `block_tokens` tokens. The fixed and dynamic policies reserve prompt
  /// and output in full.
  std::int64_t block_tokens = 16, blocks = 1 << 20;
  Preemption preemption = Preemption::recompute;
  double swap_bytes_per_s = 25e9;
  /// Blocks that must stay free when a request joins others (continuous and chunked alone).
  std::int64_t watermark_blocks = 0;
  /// A request that has waited longer than this for a place, and has no token yet, is sent away when its turn comes
  /// (continuous and chunked alone).
  double drop_after_s = std::numeric_limits<double>::infinity();
  /// By request: what its prompt begins with, and whose cache a replica may still have (continuous and chunked alone).
  /// Empty: all prompts are read whole.
  std::span<const PromptPrefix> prefixes;
  /// Prompts by the names of their blocks: each replica keeps a tree of them, in which a prompt finds what any other
  /// has left there. Not where `prefixes` says what is kept, and with counted blocks alone; a named block must be a
  /// whole number of the cache's.
  const NamedPrompts* named = nullptr;
  /// What the cache keeps account of, and the answers to each prompt (continuous and chunked alone).
  CacheKeeping keeping = CacheKeeping::counted;
  ServingAnswers answers;
  std::int64_t urgent = -1;      ///< number of a request that goes to the head of the line when it arrives
  std::int64_t token_ticks = 0;  ///< The most tokens whose times are kept (continuous and chunked alone).
  /// The run is pictured from the arrival of request `history_from`, numbered from 0, until it and those up to
  /// `history_requests` in all have left: spans, queue and cache are kept of all who are there in that time.
  std::int64_t history_from = 0, history_requests = 0;
  std::int64_t max_events = 20'000'000;
  std::int64_t max_sequence_steps = 400'000'000;  ///< Steps of the engine times the sequences in each.
  /// What ServingRun::measured and the gaps are of: the time from here on, and before there.
  double measure_from_s = 0, measure_until_s = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* cancelled = nullptr;
  std::atomic<double>* fraction = nullptr;  ///< Set to the share of requests that have left, as the run goes on.
};

enum class SlotUse : std::uint8_t { prefill, decode, held };  ///< held: the slot is kept, its request is done
struct SlotSpan {
  std::int32_t lane = 0, request = 0;
  double start_s = 0, end_s = 0;
  SlotUse use = SlotUse::decode;
  bool preempted = false;  ///< ended by preemption
};
/// A token of a request, and when it was there.
struct TokenTick {
  std::int32_t request = 0;
  std::int64_t time_us = 0;
  bool operator==(const TokenTick&) const = default;
};
struct ServingPoint {
  double time_s = 0, value = 0;
};

/// What happened to one request; times are NaN if it was refused because it can never fit, or
/// was sent away.
struct ServedRequest {
  double start_s = 0;        ///< first taken from the queue
  double first_token_s = 0;  ///< computed; in a plain queue the end
  double last_token_s = 0;   ///< when its own last token was computed
  double finish_s = 0;       ///< leaves: with static batches when the whole batch does
};

/// What a run came to, as counts.
struct ServingCounts {
  std::int64_t completed = 0, refused = 0, preemptions = 0;
  std::int64_t dropped = 0;  ///< sent away because they had waited too long
  double kept_tokens = 0;    ///< tokens of prompts whose cache was still there, and that were not computed again
  /// Arrivals, admissions, steps that change the batch, first tokens, preemptions and departures.
  std::int64_t events = 0;
  double end_s = 0;  ///< time of the last departure
};

/// What is integrated over time as requests come and go.
struct ServingIntegrals {
  double busy_s = 0;                        ///< server-seconds with work
  double in_system_s = 0, waiting_s = 0;    ///< requests x seconds
  double slot_held_s = 0, slot_used_s = 0;  ///< slot-seconds taken, and of them by requests not yet done
};

struct ServingRun : ServingCounts, ServingIntegrals {
  ServingIntegrals measured;  ///< integrals over the time that the setup measures alone
  std::vector<ServedRequest> served;
  std::int64_t peak_waiting = 0, peak_blocks = 0;
  std::int64_t blocks_left = 0;  ///< Cache blocks that were not returned at the end; must be 0.
  double tokens = 0;             ///< output tokens delivered
  TokenGaps gaps;                ///< between a request's tokens, in the time that is measured; none in a plain queue
  AnswerCounts answers;          ///< with tables or runs
  bool stopped = false;          ///< cancelled, or more events than allowed: figures mean nothing
  std::vector<TokenTick> ticks;  ///< by replica, and of each in order of its steps
  // Recorded only for replica 0, while its requests that are pictured are there; used for drawing.
  std::vector<SlotSpan> spans;
  std::vector<ServingPoint> waiting, blocks;
};

/// Runs all requests, sorted by arrival, to the end. Deterministic.
ServingRun simulate_serving(std::span<const ServingRequest> requests, const ServingSetup& setup);

}  // namespace models
