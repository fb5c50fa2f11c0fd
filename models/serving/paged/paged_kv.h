#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "models/serving/arrivals/serving_requests.h"
#include "models/serving/engine/paged_kv_slots.h"
#include "models/serving/engine/serving_cost.h"
#include "models/serving/engine/serving_keeping.h"

/// One stream of requests served twice with the same memory for the cache: each sequence with a run of slots reserved
/// ahead, and with blocks that are taken when they are needed. Both run on a replica of the serving engine
/// (serving_replica.h), token by token, in integer microseconds, deterministic.
namespace models {

inline constexpr std::size_t paged_answers_max = 8;

/// A request for one or more answers to the same prompt.
struct PagedRequest {
  std::int64_t arrival_us = 0;
  std::int32_t prompt_tokens = 1;
  std::array<std::int32_t, paged_answers_max> output_tokens{};  ///< each answer's, at least 1
};

/// What the requests are; sorted by arrival.
struct PagedDemand {
  std::vector<PagedRequest> requests;
  std::int32_t answers = 1;  ///< how many each request asks for
};
/// The requests of a stream or a file, each with `answers` answers: the lengths of the first as given, of the others
/// drawn as those of a stream with another seed, or all alike where `stream` is null. Prompt and answer together are
/// cut to `longest_tokens`, the context of the model: the prompt first leaves one token to the answer.
PagedDemand paged_demand(std::span<const ServingRequest> requests, std::int32_t answers, std::int64_t longest_tokens,
                         const RequestStream* stream);

/// What happens when a running sequence needs a block and none is free. wait: it stands still and keeps its blocks.
/// recompute: the youngest request gives its blocks up, and its tokens are computed again later. swap: its blocks cross
/// the link to the host, and come back later.
enum class PoolFull : std::uint8_t { wait, recompute, swap };
inline constexpr int pool_full_count = 3;

struct PagedSetup {
  const ServingCost* cost = nullptr;  ///< what a step takes; never null
  std::int64_t pool_tokens = 16384;
  std::int64_t max_running = 256;  ///< requests at once
  std::int64_t urgent = -1;        ///< number of a request that goes to the head of the line when it arrives
  // Reserved ahead.
  ReserveRule rule = ReserveRule::longest;
  SlotFit fit = SlotFit::first_fit;
  std::int64_t reserve_tokens = 2048;
  // In blocks.
  std::int64_t block_tokens = 16;
  std::int64_t watermark_blocks = 0;  ///< stay free when a request is taken in while others run
  PoolFull when_full = PoolFull::recompute;
  bool share = true;  ///< answers read the blocks of their prompt together
  /// Share of the steps of a request in which one of its answers is dropped for a copy of another, as beam search does;
  /// 0 for answers that are sampled each for itself.
  double replaced = 0;
  std::uint64_t seed = 1;  ///< draws which
  double link_bytes_per_s = 25e9, token_bytes = 1;
  std::int64_t host_blocks = 1 << 20;  ///< room for swapped blocks; where it is full, tokens are computed again
  // The run.
  std::int64_t until_us = std::numeric_limits<std::int64_t>::max();  ///< it ends there, whoever still waits
  std::int64_t max_sequence_steps = 200'000'000;                     ///< steps times sequences in each
  std::int64_t measure_from_us = 0, measure_until_us = 0;            ///< what PagedRun::measured sums up
  std::span<const std::int64_t> frame_times_us{};                    ///< ascending: moments that are kept whole
  const std::atomic<bool>* cancelled = nullptr;
};

/// What is integrated over time, in microseconds times the quantity; slots but for the last ones.
struct PagedIntegrals {
  double us = 0;
  double used = 0;   ///< slots that hold a token, shared ones once
  double later = 0;  ///< reserved, and filled before the sequence ends; none with blocks
  double never = 0;  ///< reserved and never filled; with blocks the unfilled ends of last blocks
  /// In no reservation or block, while somebody waits; and while nobody does.
  double stranded = 0, spare = 0;
  double running = 0, waiting = 0, sequences = 0;  ///< requests, requests, answers
  double blocks = 0, named_blocks = 0;  ///< taken blocks, and entries of all tables: what they would be unshared
};

/// One sequence at a moment. In blocks: `count` entries of PoolFrame::blocks from `first` on. Reserved: `count` slots
/// of the pool from slot `first` on.
struct PoolSequence {
  std::int32_t request = 0, answer = 0;
  std::int64_t first = 0, count = 0;
  std::int64_t tokens = 0, final_tokens = 0;  ///< held now, and at the end
  bool stalled = false;                       ///< stands still for lack of a block
};
inline constexpr std::size_t frame_queue_max = 24;
struct PoolFrame {
  std::int64_t time_us = 0;
  std::vector<PoolSequence> sequences;  ///< by age of their requests, the oldest first
  std::vector<std::int32_t> blocks;
  std::vector<std::int32_t> queue;  ///< the first ones who wait, at most frame_queue_max
  std::int64_t waiting = 0, running = 0, served = 0, host_blocks = 0;
  std::int64_t free_slots = 0, longest_hole = 0;                   ///< reserved: the longest run of free slots
  double used = 0, later = 0, never = 0, stranded = 0, spare = 0;  ///< slots
};

struct PagedEvent {
  std::int64_t time_us = 0;
  std::int32_t request = 0;
};
inline constexpr std::size_t paged_events_max = 20'000;  ///< kept of a kind; all are counted

struct PagedServed {
  std::int64_t start_us = -1, finish_us = -1;  ///< -1: not yet, or refused
  std::int32_t preempted = 0;
  bool refused = false;
};

struct PagedRun {
  std::vector<PagedServed> served;
  std::int64_t completed = 0, refused = 0, preemptions = 0, copies = 0, steps = 0, tokens = 0;
  std::int64_t recomputed_tokens = 0, swapped_out_blocks = 0, host_full = 0;
  std::int64_t peak_running = 0, blocks_left = 0;  ///< left: taken at the end by nobody, which would be a leak
  std::int64_t end_us = 0;
  std::int64_t stuck_us = -1;       ///< from then on nobody moves any more; -1: that never happens
  std::int64_t stuck_requests = 0;  ///< that stand still from then on
  PagedIntegrals whole, measured;
  std::vector<PagedEvent> preempted, copied;
  std::vector<PoolFrame> frames;  ///< one for each frame time before the end
  bool stopped = false;           ///< cancelled, or more steps than allowed: figures mean nothing
};

/// Serves the demand out of blocks. Requests are taken in first come, first served; one that could never fit is
/// refused. The youngest one is preempted first and comes back before all younger ones, so that nobody starves.
PagedRun simulate_paged(const PagedDemand& demand, const PagedSetup& setup);

/// Slots that this answer of a request gets in a row where they are reserved.
std::int64_t reserved_slots(const PagedRequest& request, std::size_t answer, const PagedSetup& setup);

/// Serves the demand with runs reserved ahead.
PagedRun simulate_reserved(const PagedDemand& demand, const PagedSetup& setup);

}  // namespace models
