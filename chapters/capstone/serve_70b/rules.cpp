#include <algorithm>
#include <array>
#include <utility>

#include "chapters/capstone/serve_70b/lab.h"
#include "chapters/described/step_choices.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::capstone::serve_70b {
namespace {

using namespace models::inference;

/// Cards in the order of the hand.
enum Place : std::size_t {
  int4,
  fp8,
  cache_8bit,
  graph,
  compile,
  flash,
  continuous,
  chunked,
  paged,
  prefix,
  speculative,
  batch_4,
  batch_32,
  batch_128,
  batch_512,
  tp_2,
  tp_4,
  tp_8,
  place_count
};
constexpr std::array<Card, place_count> hand{{
    {"int4", "INT4 weights", "Weights alone in groups of 128; products stay in 16 bits.", "weights"},
    {"fp8", "FP8 weights", "Weights and activations of matrix products.", "weights"},
    {"cache_8bit", "8-bit cache", "Keys and values in half the bytes."},
    {"graph", "CUDA graph", "A step of decode is launched whole; prompts are not."},
    {"compile", "Compiler fusion", "Neighbouring element-wise operations become one kernel."},
    {"flash", "FlashAttention", "Attention in one kernel; scores are never stored."},
    {"continuous", "Continuous batching", "A request takes a free slot at the next step."},
    {"chunked", "Chunked prefill", "A prompt runs in pieces between the steps."},
    {"paged", "Paged cache", "A request holds blocks that it uses, not its longest length."},
    {"prefix", "Prefix caching", "What all prompts begin with is computed once."},
    {"speculative", "Speculative decoding", "A draft guesses tokens, one pass checks them."},
    {"batch_4", "Batch 4", "Four requests at once on each replica.", "batch"},
    {"batch_32", "Batch 32", "32 requests at once on each replica.", "batch"},
    {"batch_128", "Batch 128", "128 requests at once on each replica.", "batch"},
    {"batch_512", "Batch 512", "512 requests at once on each replica.", "batch"},
    {"tp_2", "2 GPUs per replica", "Two GPUs share every layer.", "tensor parallel"},
    {"tp_4", "4 GPUs per replica", "Four GPUs share every layer.", "tensor parallel"},
    {"tp_8", "8 GPUs per replica", "Eight GPUs share every layer.", "tensor parallel"},
}};

/// All of a service's requests but how many at once, and on how many chips.
models::Result<RequestJob> read_job(const Inputs& in) {
  using Out = models::Result<RequestJob>;
  const auto model = find_model(in.model);
  if (!model) return Out::fail(model.error);
  const auto chip = find_launched_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  RequestJob job{.architecture = &(*model)->architecture, .chip = *chip};
  job.prompt = in.prompt;
  job.output = in.answer;
  job.eight_bits = EightBits::fp8;
  job.four_bits = in.four_bits;
  job.draft_length = in.draft_length;
  job.draft_layers = in.draft_layers;
  job.acceptance = in.acceptance;
  job.links = {
      .inside_bytes_per_s = (*chip)->interconnect.bytes_per_s_per_direction.value_or(0) * in.link_reached / 100,
      .base_s = in.call_s};
  job.host = host_of(in.launching);
  job.least_kernel_s = in.launching.least_kernel_s;
  job.shares.peak = in.peak_reached / 100;
  job.shares.bits16 = in.reached_16 / 100;
  job.shares.bits4 = in.reached_4 / 100;
  job.memory_share = in.memory_percent / 100;
  return Out::ok(std::move(job));
}

/// Why a round does not fit, with what it holds.
std::string wall_words(const ServeRound& r) {
  const auto bytes = [](double b) { return widgets::format_text(b, "B"); };
  return "It does not fit: weights " + bytes(r.weights_held_bytes) + ", caches " + bytes(r.caches_held_bytes) +
         (r.scores_held_bytes > 0 ? ", scores " + bytes(r.scores_held_bytes) : "") + " of " + bytes(r.room_bytes) +
         " per GPU.";
}

}  // namespace

ServeRules::ServeRules(const Inputs& in) : in_(in) {
  auto job = read_job(in);
  if (!job) {
    problem_ = std::move(job.error);
    return;
  }
  job_ = *std::move(job);
  targets_ = {{in.gap == GapKind::mean ? "ITL" : "longest", "s", in.itl_limit_s},
              {"TTFT", "s", in.ttft_limit_s},
              {"rate", "tokens/s", in.rate_limit, false}};
  const std::size_t most = in.gpus >= 8 ? tp_8 : in.gpus >= 4 ? tp_4 : in.gpus >= 2 ? tp_2 : place_count;
  start_ = CardSet{}.with(batch_4);
  if (most < place_count) start_ = start_.with(most);
}

std::span<const Card> ServeRules::cards() const { return hand; }

Service ServeRules::service_of(CardSet cards) const {
  using enum RequestChange;
  Service s{.continuous = cards.has(continuous),
            .paged = cards.has(paged),
            .chunked = cards.has(chunked),
            .prefix = cards.has(prefix)};
  const auto add = [&](std::size_t card, RequestChange change) {
    if (cards.has(card)) s.changes = s.changes.with(change);
  };
  add(int4, four_bit_weights);
  add(fp8, eight_bit_weights);
  add(cache_8bit, eight_bit_cache);
  add(Place::graph, RequestChange::graph);
  add(compile, fusion);
  add(flash, flash_attention);
  add(Place::speculative, RequestChange::speculative);
  s.batch = cards.has(batch_512) ? 512 : cards.has(batch_128) ? 128 : cards.has(batch_32) ? 32 : 4;
  s.tensor_parallel = cards.has(tp_8) ? 8 : cards.has(tp_4) ? 4 : cards.has(tp_2) ? 2 : 1;
  if (s.tensor_parallel > 1) s.changes = s.changes.with(tensor_parallel);
  return s;
}

models::Result<ServeRound> ServeRules::round_of(const Service& service) const {
  using Out = models::Result<ServeRound>;
  if (service.tensor_parallel > in_.gpus)
    return Out::fail("A replica of " + std::to_string(service.tensor_parallel) + " GPUs needs more than the " +
                     std::to_string(in_.gpus) + " that are there: raise \"GPUs\" or play a smaller replica.");
  if (service.chunked && !service.continuous)
    return Out::fail(
        "Pieces of prompts run between the steps of a batch that never ends: play continuous batching first.");
  ServeSetup setup{.job = job_, .changes = service.changes, .continuous = service.continuous};
  setup.job.batch = service.batch;
  setup.job.chips = service.tensor_parallel;
  setup.chunk_tokens = service.chunked ? in_.chunk : 0;
  setup.shared_prefix = service.prefix ? in_.shared_prefix : 0;
  setup.reserved_tokens = service.paged ? 0 : in_.reserved;
  setup.replicas = in_.gpus / service.tensor_parallel;
  return serve_round(setup);
}

Figures ServeRules::play(CardSet cards) const {
  Figures f;
  const auto round = round_of(service_of(cards));
  if (!round) {
    f.bounce = round.error;
    return f;
  }
  const ServeRound& r = *round;
  // The longest gap has a whole step in it, however many tokens that yields, and the passes over prompts between.
  const bool mean = in_.gap == GapKind::mean;
  const double tokens = mean ? 1 : r.tokens_per_step;
  f.slab = {r.products_s * tokens, r.attention_s * tokens, r.elementwise_s * tokens,
            r.talk_s * tokens,     r.waits_s * tokens,     mean ? r.prompts_s : r.longest_gap_s - r.step_s};
  f.bottleneck = static_cast<std::size_t>(std::max_element(f.slab.begin(), f.slab.end()) - f.slab.begin());
  f.values = {mean ? r.itl_s : r.longest_gap_s, r.ttft_s, r.tokens_per_s};
  f.said_of = f.values[0];
  f.held_bytes = r.held_bytes;
  f.room_bytes = r.room_bytes;
  if (!r.fits) f.bounce = wall_words(r);
  return f;
}

}  // namespace chapters::capstone::serve_70b
