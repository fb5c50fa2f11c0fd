#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "models/serving/engine/serving_cost.h"

/// A long prompt lands among users who are being answered, in three worlds on the same replicas: it goes first and they
/// wait (stalled), it is cut up and mixed into their steps (chunked), or some replicas read prompts alone and send
/// their caches to the others (parted). Runs on the replicas of the serving engine (serving_replica.h), event by event,
/// in whole microseconds.
namespace models {

enum class PartingWorld : std::uint8_t { stalled, chunked, parted };
inline constexpr int parting_world_count = 3;

struct PartingSetup {
  const ServingCost* cost = nullptr;  ///< what a step of one replica costs; its kv_bytes_per_token is what is sent
  std::int64_t replicas = 2;
  std::int64_t prefill_replicas = 1;  ///< those for prompts alone in the parted world; less than `replicas`
  /// The cache of one replica: `blocks` blocks of `block_tokens` tokens.
  std::int64_t blocks = 1 << 20, block_tokens = 16;
  /// Users whose answers are under way when the picture begins, in turn over the replicas that write, each with
  /// `context` tokens of cache. Their answers end after everything that is counted.
  std::int64_t decoders = 16, context = 4096;
  /// Long prompts, in turn over the replicas that read; times since the first lands, sorted.
  std::vector<double> lands_s{0};
  std::int64_t prompt_tokens = 16384, answer_tokens = 256;
  std::int64_t chunk_tokens = 512;     ///< tokens of a mixed step, users' tokens included; 16 at least for prompts
  double lead_s = 0.1;                 ///< before the first lands
  double counted_s = 1;                ///< after that, in which tokens are counted
  double link_bytes_per_s = 50e9;      ///< one way, for each replica
  double link_latency_s = 10e-6;       ///< before the first byte of a cache
  std::int64_t max_ticks = 4'000'000;  ///< tokens whose times are kept; more than that stops the run
  const std::atomic<bool>* cancelled = nullptr;
};

/// A replica that writes: all its users get their tokens at the same times, seconds since the first prompt lands.
struct PartingReplica {
  std::int64_t decoders = 0;
  std::vector<double> token_s;
};

/// What became of a long prompt; times in seconds since the first one lands.
struct PartingPrompt {
  std::int32_t reader = 0, writer = 0;  ///< replicas, numbered through both pools, those that read first
  double lands_s = 0, start_s = 0, first_token_s = 0;
  /// On the wire; NaN where nothing is sent.
  double sent_from_s = std::numeric_limits<double>::quiet_NaN(), sent_until_s = sent_from_s;
  std::vector<double> token_s;  ///< its answer's, the first included
  double ttft_s() const { return first_token_s - lands_s; }
};

struct PartingHistory {
  std::vector<PartingReplica> replicas;  ///< all, those that read prompts alone first and without tokens
  std::vector<PartingPrompt> prompts;
  double busy_s = 0;          ///< replica-seconds with work in the time that is counted
  double transfer_bytes = 0;  ///< all prompts together
  bool out_of_room = false;   ///< blocks ran out and somebody was sent back: the times mean nothing
  bool stopped = false;       ///< cancelled, or too many tokens
};

/// Plays a world. Without prompts (`lands_s` empty) it is the calm.
PartingHistory play_parting(const PartingSetup& setup, PartingWorld world);

/// Limits that a token keeps to be in time: its distance from the one before, and the first token of its prompt.
struct PartingLimits {
  double gap_s = 0.05, ttft_s = 2;
};

/// A world in figures, all in the time that is counted.
struct PartingFigures {
  double longest_gap_s = 0;  ///< a user's, between one token and the next; one that reaches over an end counts whole
  double ttft_s = 0;         ///< mean over the long prompts
  double longest_ttft_s = 0;
  double gap_s = 0;                 ///< mean over the users: the time over the tokens that one gets
  std::int64_t tokens = 0;          ///< that the users get
  std::int64_t tokens_lost = 0;     ///< that they would have got on all replicas without any prompt, less `tokens`
  std::int64_t payers = 0;          ///< users who get fewer than without
  std::int64_t most_lost = 0;       ///< by one user
  std::int64_t newcomers_lost = 0;  ///< tokens that the prompts' answers would have had on idle replicas, less had
  double idle_share = 0;            ///< 0 to 1, of all replicas' time
  double in_time_per_s = 0;         ///< tokens of users and answers within both limits
};

/// `calm`: the users alone on all replicas (the stalled world without prompts). `alone`: one prompt on an idle replica,
/// without users. Both with the same times and lengths as `history`.
PartingFigures count_parting(const PartingSetup& setup, const PartingHistory& history, const PartingHistory& calm,
                             const PartingHistory& alone, const PartingLimits& limits);

/// The setups of the two.
PartingSetup calm_of(PartingSetup setup);
PartingSetup alone_of(PartingSetup setup);

/// Tokens of cache that the fullest replica of a world needs when the counted time ends, at most: its users, and one
/// long prompt with its answer.
std::int64_t parting_tokens_needed(const PartingSetup& setup, PartingWorld world);

/// How many long prompts land how often: evenly, or as a Poisson stream that has so many in the time counted.
struct PartingStream {
  std::int64_t prompts = 1;
  double interval_s = 1;
  bool random = false;
  std::uint64_t seed = 1;
};
/// The setup in which they land; tokens are counted for as many intervals as there are prompts.
PartingSetup with_stream(PartingSetup setup, const PartingStream& stream);

/// The interval at which chunks and a pool cost the users the same number of tokens, within 2 %: above it the pool is
/// dearer. Sought from a sixteenth to sixteen times the stream's interval, and up to `longest_s`; nothing where neither
/// changes sides there.
std::optional<double> even_interval_s(const PartingSetup& setup, PartingStream stream, double longest_s);

/// Seconds since the first at which `count` prompts land within `span_s`: evenly, or the first at 0 and the others
/// uniform, which is a Poisson stream given their number. Sorted, in whole microseconds.
std::vector<double> parting_landings(std::int64_t count, double span_s, bool random, std::uint64_t seed);

/// The price of a replica whose chips hold `copies` of each key and value: it reads and sends them all.
ServingCost with_kv_copies(ServingCost cost, double copies);

}  // namespace models
