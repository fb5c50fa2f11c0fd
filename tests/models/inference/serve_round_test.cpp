// A replica with many requests: parts that add up, Little's law on published load tests, and who pays for what.
#include "models/inference/serve_round.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <initializer_list>
#include <random>
#include <string>

#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::inference;
using support::near;

namespace {

using enum RequestChange;

ChangeSet round_set(std::initializer_list<RequestChange> changes) {
  ChangeSet set;
  for (const RequestChange c : changes) set = set.with(c);
  return set;
}

/// Llama 3 70B on eight H100 with the launches that were recorded on one (16.74 us, profiler and Python's stacks on).
ServeSetup round_setup(std::initializer_list<RequestChange> changes) {
  const Chip& chip = bundled_chip("h100_sxm");
  ServeSetup setup;
  setup.job = {.architecture = &models_test::shipped_model("llama-3-70b").architecture, .chip = &chip};
  setup.job.prompt = 2048;
  setup.job.output = 256;
  setup.job.batch = 4;
  setup.job.chips = 8;
  setup.job.links = {.inside_bytes_per_s = 0.8 * chip.interconnect.bytes_per_s_per_direction.value_or(0),
                     .base_s = 6e-6};
  setup.job.host = {.launch_s = 16.74e-6, .latency_s = 1.39e-6, .between_s = 1.7e-6};
  setup.job.four_bits = 4.25;
  setup.changes = round_set(changes).with(tensor_parallel);
  return setup;
}

ServeRound round_of(const ServeSetup& setup) {
  const auto round = serve_round(setup);
  INFO(round.error);
  REQUIRE(round);
  return *round;
}

}  // namespace

TEST_CASE("serve round: the parts add up to the gap, and the tokens a second are Little's law") {
  for (const bool continuous : {false, true})
    for (const auto& changes : {round_set({}), round_set({flash_attention, fusion, graph}),
                                round_set({flash_attention, graph, four_bit_weights, speculative})}) {
      ServeSetup setup = round_setup({});
      setup.changes.bits |= changes.bits;
      setup.continuous = continuous;
      const ServeRound r = round_of(setup);
      CHECK(near(r.products_s + r.attention_s + r.elementwise_s + r.talk_s + r.waits_s + r.prompts_s, r.itl_s, 1e-9));
      CHECK(near(r.tokens_per_s, 4 * 256 / (r.ttft_s + 255 * r.itl_s), 1e-12));
      CHECK((r.prompts_s > 0) == continuous);
      CHECK(r.products_s > 0);
      CHECK(r.elementwise_s > 0);
    }
}

// NVIDIA NIM 1.8.0, Llama 3.3 70B in FP8 on two H100, 5,000 tokens in and 500 out: requests at once, first token and
// gap in ms, tokens a second.
TEST_CASE("serve round: the closed loop of a published load test, and its gap within a fifth") {
  struct Row {
    double requests, ttft_ms, itl_ms, tokens_per_s;
  };
  for (const Row& row : {Row{5, 546.7, 21.83, 218.48}, Row{25, 688.69, 38.75, 623.4}, Row{100, 7996.25, 92.91, 917.26},
                         Row{150, 34794.22, 92.86, 920.9}, Row{250, 88605.32, 93.2, 920.12}}) {
    const double by_law = closed_loop_tokens_per_s(row.requests, 500, row.ttft_ms / 1e3, row.itl_ms / 1e3);
    INFO(row.requests << " at once: " << by_law);
    CHECK(near(by_law, row.tokens_per_s, 0.03));
    if (row.requests > 25) continue;  // their caches no longer fit, so that requests queue
    ServeSetup setup = round_setup({flash_attention, fusion, graph, eight_bit_weights});
    setup.job.prompt = 5000;
    setup.job.output = 500;
    setup.job.batch = static_cast<std::int64_t>(row.requests);
    setup.job.eight_bits = EightBits::fp8;
    setup.job.chips = 2;
    setup.continuous = true;
    const ServeRound r = round_of(setup);
    INFO("gap " << r.itl_s * 1e3 << " ms, first " << r.ttft_s * 1e3 << " ms, step " << r.step_s * 1e3);
    CHECK(std::abs(r.itl_s * 1e3 / row.itl_ms - 1) < 0.2);
  }
}

// Slots are taken again batch / (answer - 1) times a token, so passes come at batch x passes x tokens / (answer - 1) a
// step: where that is above one, several stand in one gap. No mean is above the longest.
TEST_CASE("serve round: the longest gap is no shorter than the mean, and the first token no sooner than its passes") {
  std::mt19937 luck(70);
  const auto pick = [&](std::initializer_list<std::int64_t> of) { return of.begin()[luck() % of.size()]; };
  for (int i = 0; i < 40; ++i) {
    ServeSetup setup = round_setup({flash_attention, fusion});
    if (luck() % 2 == 0) setup.changes = setup.changes.with(graph);
    if (luck() % 3 == 0) setup.changes = setup.changes.with(speculative);
    setup.job.batch = pick({1, 4, 32, 128, 512});
    setup.job.prompt = pick({256, 2048, 8192});
    setup.job.output = pick({2, 16, 256, 1024});
    setup.continuous = luck() % 4 != 0;
    setup.chunk_tokens = pick({0, 256, 512});
    const ServeRound r = round_of(setup);
    INFO("batch " << setup.job.batch << ", " << setup.job.prompt << " in, " << setup.job.output << " out, pieces "
                  << setup.chunk_tokens);
    CHECK(r.longest_gap_s >= r.itl_s * (1 - 1e-9));
    CHECK(r.ttft_s >= r.prompt_s);
  }
  // 512 x 1 / 255 passes come in a step: three stand in a gap, and the last of them waits for two others.
  ServeSetup many = round_setup({flash_attention, fusion, graph});
  many.continuous = true;
  many.job.batch = 512;
  const ServeRound r = round_of(many);
  CHECK(near(r.longest_gap_s, r.step_s + 3 * r.prompt_s, 1e-9));
  CHECK(near(r.ttft_s, r.step_s + 3 * r.prompt_s, 1e-9));
}

TEST_CASE("serve round: who pays for a prompt, and what is held") {
  ServeSetup fixed = round_setup({flash_attention, fusion, graph});
  ServeSetup slots = fixed;
  slots.continuous = true;
  const ServeRound batch = round_of(fixed), one = round_of(slots);
  CHECK(batch.ttft_s > 3 * one.ttft_s);  // four prompts in one pass, or one and a step
  CHECK(batch.longest_gap_s == batch.step_s);
  CHECK(near(one.prompts_s, 4 * one.prompt_s / 255, 1e-12));
  slots.chunk_tokens = 512;
  const ServeRound pieces = round_of(slots);
  CHECK(pieces.longest_gap_s < 0.6 * one.longest_gap_s);
  CHECK(pieces.ttft_s > one.ttft_s);
  slots.chunk_tokens = 0;
  slots.shared_prefix = 1536;
  const ServeRound prefix = round_of(slots);
  CHECK(prefix.prompt_s < 0.4 * one.prompt_s);
  // Pages of 16 tokens: 2,304 of a request, of which 1,536 are held once.
  CHECK(near(prefix.caches_held_bytes, one.caches_held_bytes * (4 * 2304 - 3 * 1536) / (4 * 2304), 1e-9));
  slots.reserved_tokens = 8192;
  CHECK(near(round_of(slots).caches_held_bytes, 4 * 8192 * 327680.0 / 8, 1e-9));
  slots.shared_prefix = 2048;
  CHECK(serve_round(slots).error.find("at least one token") != std::string::npos);
  slots.shared_prefix = 0;
  slots.chunk_tokens = 1;
  CHECK(serve_round(slots).error.find("larger pieces") != std::string::npos);
}
