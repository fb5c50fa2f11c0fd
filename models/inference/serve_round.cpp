#include "models/inference/serve_round.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "models/base/integer_math.h"
#include "models/inference/kv_cache.h"
#include "models/inference/tensor_decode.h"

namespace models::inference {
namespace {

constexpr std::int64_t block_tokens = 16;  // vLLM's
constexpr std::int64_t max_pieces = 256;

/// The passes that bring a prompt into the cache: their time, the longest of them, and how many.
struct PromptPasses {
  double time_s = 0, longest_s = 0, count = 0;
};

Result<PromptPasses> price_passes(RequestPricer& pricer, const ServeSetup& setup) {
  using Out = Result<PromptPasses>;
  const std::int64_t requests = setup.continuous ? 1 : setup.job.batch, all = setup.job.prompt;
  const std::int64_t piece = setup.continuous && setup.chunk_tokens > 0 ? setup.chunk_tokens : all;
  PromptPasses passes;
  for (std::int64_t from = setup.shared_prefix; from < all; from += piece) {
    const auto pass = pricer.price_prompts(setup.changes, requests, std::min(piece, all - from), from);
    if (!pass) return Out::fail(pass.error);
    passes.time_s += pass->time_s;
    passes.longest_s = std::max(passes.longest_s, pass->time_s);
    passes.count += 1;
  }
  return Out::ok(passes);
}

/// Caches by what is reserved or shared, scores by the prompts that run together.
void set_held(const ServeSetup& setup, const RequestState& state, ServeRound& round) {
  const RequestJob& job = setup.job;
  const double batch = as_double(job.batch), used = as_double(job.prompt + job.output);
  const std::int64_t in_blocks = (job.prompt + job.output + block_tokens - 1) / block_tokens * block_tokens;
  const bool paged = setup.reserved_tokens == 0;
  const double each =
      paged ? as_double(in_blocks) : as_double(std::max(setup.reserved_tokens, job.prompt + job.output));
  // Blocks of a prefix that is cached are held once; without blocks each request has a copy.
  const double shared = paged ? (batch - 1) * as_double(setup.shared_prefix / block_tokens * block_tokens) : 0;
  round.weights_held_bytes = state.weights_held_bytes;
  round.caches_held_bytes = state.caches_held_bytes / (batch * used) * (batch * each - shared);
  round.scores_held_bytes = state.scores_held_bytes / (setup.continuous ? batch : 1);
  round.held_bytes = round.weights_held_bytes + round.caches_held_bytes + round.scores_held_bytes;
  round.room_bytes = job.memory_share * job.chip->memory_bytes;
  round.fits = round.held_bytes <= round.room_bytes;
}

}  // namespace

double closed_loop_tokens_per_s(double concurrency, double output, double ttft_s, double itl_s) {
  return concurrency * output / (ttft_s + (output - 1) * itl_s);
}

Result<ServeRound> serve_round(const ServeSetup& setup) {
  using Out = Result<ServeRound>;
  if (setup.shared_prefix < 0 || setup.shared_prefix >= setup.job.prompt)
    return Out::fail("The shared prefix must be shorter than the prompt: at least one token of it is new.");
  if (setup.chunk_tokens > 0 && (setup.job.prompt - setup.shared_prefix) / setup.chunk_tokens >= max_pieces)
    return Out::fail("A prompt of " + std::to_string(setup.job.prompt) + " tokens in pieces of " +
                     std::to_string(setup.chunk_tokens) + " takes more than 256 passes: take larger pieces.");
  RequestPricer pricer(setup.job);
  const auto state = pricer.price(setup.changes);
  if (!state) return Out::fail(state.error);
  const auto passes = price_passes(pricer, setup);
  if (!passes) return Out::fail(passes.error);
  const RequestPass& step = state->decode;
  const double batch = as_double(setup.job.batch), output = as_double(setup.job.output), tokens = state->tokens,
               after_first = std::max(1.0, output - 1);
  ServeRound round{.step_s = step.time_s, .tokens_per_step = tokens, .prompt_s = passes->time_s};
  round.products_s = step.product_s / tokens;
  round.attention_s = step.attention_s / tokens;
  round.talk_s = step.talk_s / tokens;
  round.elementwise_s = (step.busy_s - step.product_s - step.attention_s - step.talk_s) / tokens;
  round.waits_s = step.wait_s() / tokens;
  round.prompts_s = setup.continuous ? batch * passes->time_s / after_first : 0;
  round.itl_s = step.time_s / tokens + round.prompts_s;
  round.longest_gap_s = step.time_s;
  round.ttft_s = passes->time_s;
  if (setup.continuous) {
    const double between = std::ceil(batch * passes->count * tokens / after_first * (1 - 1e-12));
    round.longest_gap_s += between * passes->longest_s;
    round.ttft_s += (between - 1) * passes->longest_s +
                    std::ceil((between - 1 + passes->count) / between * (1 - 1e-12)) * step.time_s;
  }
  round.tokens_per_s = as_double(setup.replicas) * closed_loop_tokens_per_s(batch, output, round.ttft_s, round.itl_s);
  set_held(setup, *state, round);
  return Out::ok(round);
}

}  // namespace models::inference
