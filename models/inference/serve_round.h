#pragma once
#include <cstdint>

#include "models/base/result.h"
#include "models/inference/optimize.h"

/// A replica that serves many requests at once, put together from the passes that optimize.h prices: what a token waits
/// for, when the first one comes, and what is held. It adds no physics: only who shares which pass.
namespace models::inference {

struct ServeSetup {
  RequestJob job;  ///< batch: requests at once on a replica
  ChangeSet changes;
  bool continuous = false;         ///< a request takes a free slot at the next step; else all begin and end together
  std::int64_t chunk_tokens = 0;   ///< tokens of a prompt that a pass takes, continuous alone; 0: whole prompts
  std::int64_t shared_prefix = 0;  ///< tokens of each prompt whose keys and values are there already, below the prompt
  std::int64_t reserved_tokens = 0;  ///< cache that a request reserves; 0: what it comes to, in blocks of 16 tokens
  std::int64_t replicas = 1;
};

/// Times are a request's; memory is one chip's.
struct ServeRound {
  /// Parts of `itl_s`, which they add up to: kernels that read weights, products of attention, all other kernels,
  /// all-reduces, time in which no kernel runs, and prompts of others that stand between two tokens.
  double products_s = 0, attention_s = 0, elementwise_s = 0, talk_s = 0, waits_s = 0, prompts_s = 0;
  double itl_s = 0;  ///< mean time from token to token
  /// A step, and where prompts stand between as many of their passes as come in a step, rounded up: at least one.
  double longest_gap_s = 0;
  /// Continuous: the steps that are under way are waited for, and the passes of prompts that came in the same step.
  double ttft_s = 0;
  double tokens_per_s = 0;                               ///< all replicas
  double step_s = 0, tokens_per_step = 1, prompt_s = 0;  ///< prompt_s: the passes of one request, or of the whole batch
  double weights_held_bytes = 0, caches_held_bytes = 0, scores_held_bytes = 0, held_bytes = 0;
  double room_bytes = 0;  ///< that may be filled
  bool fits = false;
};

/// Tokens a second of requests that follow each other without a pause, `concurrency` at once: Little's law.
double closed_loop_tokens_per_s(double concurrency, double output, double ttft_s, double itl_s);

/// The mean gap is capacity.h's: step + batch x prompt / (output - 1), since while a request is answered each other
/// slot is filled once. Fails where price_request does, where the prefix is no shorter than the prompt, or
/// where a prompt would take more than 256 passes.
Result<ServeRound> serve_round(const ServeSetup& setup);

}  // namespace models::inference
