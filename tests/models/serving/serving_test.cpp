#include "models/serving/engine/serving_summary.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "models/transformer/step_time.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

/// A model whose figures can be added up by hand: a step is 10 ms and 1 us a cached token, a prompt token 0.1 ms.
ServingCost hand_cost() {
  ServingCost cost;
  cost.fixed_s = 10e-3;
  cost.link_s_per_token = 0.1e-3;
  cost.context_s = 1e-6;
  cost.kv_bytes_per_token = 1e5;
  return cost;
}
ServingRequest request(double arrival_s, std::int32_t prompt, std::int32_t output) {
  return {arrival_s, 1, prompt, output};
}

struct Random {
  std::mt19937_64 bits;
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(hi - lo + 1));
  }
};

}  // namespace

TEST_CASE("serving: one request through continuous batching, added up by hand") {
  const ServingCost cost = hand_cost();
  const std::vector<ServingRequest> one{request(1, 100, 4)};
  const ServingRun run = simulate_serving(one, {.policy = ServingPolicy::continuous, .cost = &cost});
  // Prompt: 10 ms + 100 x 0.1 ms and one read of its cache, 100 us. Then three steps with 101, 102 and 103 cached
  // tokens.
  const double first_s = 1 + 10e-3 + 10e-3 + 100e-6;
  CHECK(near(run.served[0].first_token_s, first_s, 1e-12));
  CHECK(near(run.served[0].finish_s, first_s + 3 * 10.1e-3 + 306e-6, 1e-12));
  CHECK(run.tokens == 4);
  CHECK(run.blocks_left == 0);
}

// A prompt of 1,000 tokens arrives just before another request's last token: that waits for 110 ms of prompt, or for a
// mixed step of 20 ms.
TEST_CASE("serving: chunked prefill bounds the time between tokens, not the time to the first") {
  const ServingCost cost = hand_cost();
  const std::vector<ServingRequest> two{request(0, 10, 51), request(0.5, 1000, 2)};
  const auto end_and_ttft = [&](ServingPolicy policy) {
    const ServingRun run = simulate_serving(two, {.policy = policy, .cost = &cost, .chunk_tokens = 100});
    return std::pair{run.served[0].finish_s, run.served[1].first_token_s - 0.5};
  };
  const auto whole = end_and_ttft(ServingPolicy::continuous), cut = end_and_ttft(ServingPolicy::chunked);
  CHECK(whole.first > 0.6);
  CHECK(cut.first < 0.54);
  CHECK(cut.second > whole.second + 0.05);  // more steps, each with its own 10 ms
}

// The stall itself, added up by hand: a decode step is 10 ms + 0.1 ms a token + 1 us a cached token.
TEST_CASE("serving: the longest gap between tokens is the prompt that came between, whole or one chunk of it") {
  const ServingCost cost = hand_cost();
  const std::vector<ServingRequest> two{request(0, 10, 51), request(0.5, 1000, 2)};
  const auto gaps = [&](ServingPolicy policy) {
    return simulate_serving(two, {.policy = policy, .cost = &cost, .chunk_tokens = 100}).gaps;
  };
  const TokenGaps whole = gaps(ServingPolicy::continuous), cut = gaps(ServingPolicy::chunked);
  // 10 ms + 100 ms of prompt and one read of its cache, 1 ms; then the step of both: 10.2 ms, and 60 + 1,001 cached
  // tokens within 5.
  CHECK(near(whole.longest_s(), 0.111 + 0.0102 + 1.061e-3, 1e-4));
  // A mixed step: 10 ms, 100 tokens, the reading of some 1,000 + 60 cached ones at the most.
  CHECK(cut.longest_s() > 0.020);
  CHECK(cut.longest_s() < 0.0212);
  CHECK(whole.count() == 51);                                  // 50 of the first request, one of the second
  CHECK(near(whole.percentile_s(0.5), 0.0101 + 35e-6, 0.01));  // an undisturbed step at the middle of its answer
  CHECK(whole.percentile_s(0.99) == whole.longest_s());        // nearest rank of 51
}

TEST_CASE("serving: gaps between tokens are counted as if one by one") {
  TokenGaps ramp, one_by_one;
  ramp.add_ramp(1e-3, 2e-5, 5000, 3);
  std::vector<double> all;
  for (int i = 0; i < 5000; ++i) {
    one_by_one.add(1e-3 + 2e-5 * i, 3);
    all.push_back(1e-3 + 2e-5 * i);
  }
  CHECK(ramp.count() == 15000);
  CHECK(near(ramp.sum_s(), one_by_one.sum_s(), 1e-9));
  CHECK(near(ramp.longest_s(), all.back(), 1e-12));
  for (const double share : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const double exact = all[static_cast<std::size_t>(std::ceil(share * 5000)) - 1];
    CHECK(near(ramp.percentile_s(share), exact, 0.0051));
    CHECK(near(one_by_one.percentile_s(share), exact, 0.0051));
  }
  CHECK(TokenGaps().percentile_s(0.99) == 0);
  TokenGaps flat;
  flat.add_ramp(0.25, 0, 7, 2);
  CHECK(flat.count() == 14);
  CHECK(near(flat.percentile_s(0.5), 0.25, 0.0051));
}

TEST_CASE("serving: a static batch ends with its longest member, a slot of continuous batching is handed on") {
  const ServingCost cost = hand_cost();
  const std::vector<ServingRequest> three{request(0, 10, 10), request(0, 10, 100), request(0, 10, 10)};
  const ServingRun fixed = simulate_serving(three, {.policy = ServingPolicy::fixed, .cost = &cost, .slots = 2});
  CHECK(fixed.served[0].finish_s == fixed.served[1].finish_s);
  CHECK(fixed.served[0].last_token_s < 0.2 * fixed.served[0].finish_s);
  CHECK(fixed.served[2].start_s == fixed.served[1].finish_s);
  const ServingRun steps = simulate_serving(three, {.policy = ServingPolicy::continuous, .cost = &cost, .slots = 2});
  CHECK(steps.served[2].start_s == steps.served[0].finish_s);
  CHECK(steps.served[2].finish_s < steps.served[1].finish_s);
  CHECK(fixed.slot_held_s > 1.3 * fixed.slot_used_s);
  CHECK(steps.slot_held_s == steps.slot_used_s);
}

// Two sequences that want 100 blocks each of a pool of 120: the younger goes, and comes back.
TEST_CASE("serving: when blocks run out the youngest is preempted, recomputed or swapped, and still served") {
  const ServingCost cost = hand_cost();
  const std::vector<ServingRequest> two{request(0, 160, 1440), request(0.001, 160, 1440)};
  for (const Preemption how : {Preemption::recompute, Preemption::swap}) {
    const ServingRun run = simulate_serving(two, {
                                                     .policy = ServingPolicy::continuous,
                                                     .cost = &cost,
                                                     .blocks = 120,
                                                     .preemption = how,
                                                     .swap_bytes_per_s = 1e9,
                                                     .history_requests = 2,
                                                 });
    CHECK(run.preemptions == 1);
    CHECK(run.completed == 2);
    CHECK(run.blocks_left == 0);
    CHECK(run.peak_blocks <= 120);
    CHECK(run.served[0].finish_s < run.served[1].finish_s);
    CHECK(std::count_if(run.spans.begin(), run.spans.end(),
                        [](const SlotSpan& s) { return s.preempted && s.request == 1; }) == 1);
  }
  const ServingRun never = simulate_serving(two, {.policy = ServingPolicy::continuous, .cost = &cost, .blocks = 99});
  CHECK(never.refused == 2);
  CHECK(std::isnan(never.served[0].finish_s));
}

TEST_CASE(
    "serving: under 400 random settings nobody starves, no block leaks, no time is lost, and Little's law holds") {
  const ServingCost cost = hand_cost();
  Random random{std::mt19937_64(11)};
  std::int64_t preempted = 0;
  for (int round = 0; round < 400; ++round) {
    INFO("round " << round);
    ServingSetup setup{
        .policy = static_cast<ServingPolicy>(round % 5),
        .cost = &cost,
        .servers = random.between(1, 3),
        .slots = random.between(1, 12),
        .timeout_s = 0.1,
        .chunk_tokens = random.between(16, 600),
        .block_tokens = random.between(1, 32),
        .preemption = static_cast<Preemption>(random.between(0, 1)),
        .history_requests = 1000,
    };
    const RequestStream stream{
        .requests = random.between(1, 150),
        .rate_per_s = static_cast<double>(random.between(1, 40)),
        .seed = static_cast<std::uint64_t>(round),
        .bursty = random.between(0, 1) == 1,
        .prompt_tokens = static_cast<double>(random.between(1, 600)),
        .output_tokens = static_cast<double>(random.between(1, 300)),
    };
    const auto requests = make_requests(stream);
    std::int64_t longest = 0;
    for (const auto& r : requests) longest = std::max<std::int64_t>(longest, r.prompt_tokens + r.output_tokens);
    setup.blocks = (longest + setup.block_tokens - 1) / setup.block_tokens + random.between(0, 40);
    const ServingRun run = simulate_serving(requests, setup);
    const ServingSummary summary = summarize_serving(requests, run, setup, 1, 0.1);
    preempted += run.preemptions;
    REQUIRE_FALSE(run.stopped);
    REQUIRE(run.completed == stream.requests);
    REQUIRE(run.refused == 0);
    REQUIRE(run.blocks_left == 0);
    REQUIRE(run.peak_blocks <= setup.blocks);
    REQUIRE(summary.little_error <= 1e-9);
    REQUIRE(summary.goodput_per_s <= summary.throughput_per_s);
    double tokens = 0, wait_s = 0, answering_s = 0, gaps = 0;
    bool ordered = true;
    std::vector<std::pair<double, double>> stays;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const ServedRequest& s = run.served[i];
      tokens += requests[i].output_tokens;
      wait_s += s.start_s - requests[i].arrival_s;
      answering_s += s.last_token_s - s.first_token_s;
      gaps += requests[i].output_tokens - 1;
      ordered = ordered && requests[i].arrival_s <= s.start_s && s.start_s < s.first_token_s &&
                s.first_token_s <= s.last_token_s && s.last_token_s <= s.finish_s;
      if (i >= static_cast<std::size_t>(setup.servers))  // first come, first served, on each replica
        ordered = ordered && run.served[i - static_cast<std::size_t>(setup.servers)].start_s <= s.start_s;
      if (i % static_cast<std::size_t>(setup.servers) == 0) stays.emplace_back(requests[i].arrival_s, s.finish_s);
    }
    REQUIRE(ordered);
    REQUIRE(tokens == run.tokens);
    // Every token after a first closes one gap, preempted or not, and the gaps fill the time from the first to the
    // last.
    REQUIRE(static_cast<double>(run.gaps.count()) == gaps);
    REQUIRE((near(run.gaps.sum_s(), answering_s, 1e-9) || answering_s <= 1e-9));
    REQUIRE(run.gaps.percentile_s(0.99) <= run.gaps.longest_s());
    // Queue length integrated as it changes: every wait, and for whoever was preempted the wait to come back.
    REQUIRE((run.preemptions > 0 ? run.waiting_s >= wait_s * (1 - 1e-9)
                                 : near(run.waiting_s, wait_s, 1e-9) || wait_s <= 1e-9));
    if (setup.servers == 1 && setup.policy != ServingPolicy::fixed && setup.policy != ServingPolicy::dynamic) {
      // Work conservation: the engine is busy exactly while anybody is there.
      double busy_s = 0, until_s = 0;
      for (const auto& [from_s, to_s] : stays) {
        busy_s += std::max(0.0, to_s - std::max(from_s, until_s));
        until_s = std::max(until_s, to_s);
      }
      REQUIRE(near(run.busy_s, busy_s, 1e-9));
    }
    // Nothing overlaps in a lane.
    auto spans = run.spans;
    std::sort(spans.begin(), spans.end(), [](const SlotSpan& a, const SlotSpan& b) {
      return a.lane != b.lane ? a.lane < b.lane : a.start_s < b.start_s;
    });
    for (std::size_t i = 1; i < spans.size(); ++i)
      if (spans[i].lane == spans[i - 1].lane) REQUIRE(spans[i].start_s >= spans[i - 1].end_s - 1e-9);
  }
  CHECK(preempted > 100);  // the settings reach what they are to test
}

TEST_CASE("serving: the same requests give the same history again, and a run that takes too long stops") {
  const ServingCost cost = hand_cost();
  const auto requests = make_requests({.requests = 500, .rate_per_s = 5});
  ServingSetup setup{
      .policy = ServingPolicy::chunked,
      .cost = &cost,
      .blocks = 300,
      .history_requests = 500,
  };
  const ServingRun a = simulate_serving(requests, setup), b = simulate_serving(requests, setup);
  REQUIRE(a.spans.size() == b.spans.size());
  CHECK(std::equal(a.served.begin(), a.served.end(), b.served.begin(),
                   [](const auto& x, const auto& y) { return x.start_s == y.start_s && x.finish_s == y.finish_s; }));
  setup.max_events = 200;
  CHECK(simulate_serving(requests, setup).stopped);
  std::atomic<bool> cancelled = true;
  setup.max_events = 1'000'000;
  setup.cancelled = &cancelled;
  const auto many = make_requests({.requests = 9000, .rate_per_s = 5});
  CHECK(simulate_serving(many, setup).stopped);
}

// The table against the operations one by one, Llama-3-70B on eight H100 at full roofs.
TEST_CASE("serving: a step's cost follows the roofline of every operation") {
  const Chip& chip = bundled_chip("h100_sxm");
  const Architecture& llama = models_test::shipped_model("llama-3-70b").architecture;
  const auto cost = serving_cost(llama, {
                                            .chip = &chip,
                                            .chips = 8,
                                            .roof_share = 1,
                                            .step_overhead_s = 0,
                                            .allreduce_s = 0,
                                        });
  REQUIRE(cost);
  const auto exact_s = [&](Phase phase, std::int64_t batch, std::int64_t tokens) {
    Workload w;
    w.phase = phase;
    w.batch = batch;
    w.context = w.sequence = tokens;
    return time_step(llama, w, {.peak_flops_per_s = 8 * 989.4e12, .bandwidth_bytes_per_s = 8 * 3.35e12})->time_s;
  };
  const double link_s = cost->link_s_per_token;
  for (const std::int64_t batch : {1, 7, 33, 256})
    for (const std::int64_t context : {100, 2000, 30000}) {
      const double n = static_cast<double>(batch);
      CHECK(near(cost->step_s(n, n, n * static_cast<double>(context)) - n * link_s,
                 exact_s(Phase::decode, batch, context), 0.01));
    }
  for (const std::int64_t prompt : {100, 777, 3000, 20000}) {
    const double p = static_cast<double>(prompt);
    INFO(prompt << ": " << cost->step_s(p, 1, 0) << " + " << cost->chunk_attention_s(p, 0) << " against "
                << exact_s(Phase::prefill, 1, prompt));
    CHECK(near(cost->step_s(p, 1, 0) + cost->chunk_attention_s(p, 0) - p * link_s, exact_s(Phase::prefill, 1, prompt),
               0.04));
  }
  // 70.55e9 weights of 2 bytes; 2 x 80 x 8 x 128 numbers of cache a token; 8 x 80 GB of which 90 % are offered.
  CHECK(near(cost->weights_bytes, 141.1e9, 1e-3));
  CHECK(cost->kv_bytes_per_token == 327680);
  CHECK(near(cost->free_bytes, 0.9 * 640e9 - 141.1e9, 1e-3));
  // Two all-reduces of 8,192 numbers of 2 bytes in each of 80 layers, 7/4 of it over 450 GB/s.
  CHECK(near(link_s, 160 * 1.75 * 16384 / 450e9, 1e-9));
  // In FP8 half of it, less 160 scales of 4 bytes; only what reads the cache is faster.
  const auto narrow = serving_cost(llama, {.chip = &chip, .chips = 8, .kv = KvFormat::fp8, .roof_share = 1});
  REQUIRE(narrow);
  CHECK(narrow->kv_bytes_per_token == 163840);
  CHECK(cost->free_bytes - narrow->free_bytes == 640);
  CHECK(narrow->weights_bytes == cost->weights_bytes);
  CHECK(near(narrow->context_s, cost->context_s / 2, 0.01));
  CHECK(near(narrow->step_s(64, 64, 0), cost->step_s(64, 64, 0) + narrow->fixed_s - cost->fixed_s, 1e-3));
  CHECK(serving_cost(llama, {.chip = &chip, .chips = 1}).error ==
        "The weights do not fit into the memory of the chips: take more chips, a narrower format or a smaller model.");
  const auto memory = serving_memory(llama, {.chip = &chip, .chips = 1});
  CHECK_FALSE(memory.holds_weights());
  CHECK(near(memory.weights_bytes, 141.1e9, 1e-3));
  CHECK(near(memory.offered_bytes, 72e9, 1e-12));  // nine tenths of 80 GB
  CHECK(near(memory.free_bytes, memory.offered_bytes - memory.weights_bytes, 1e-12));
}

// One server, three seconds of work a request, one a second: request i is served from 3 i to 3 i + 3.
TEST_CASE("serving: a run is pictured from the arrival of a request on, with those who are there then") {
  std::vector<ServingRequest> requests;
  for (int i = 0; i < 8; ++i) {
    requests.push_back(request(i, 1, 1));
    requests.back().service_s = 3;
  }
  const ServingRun run = simulate_serving(
      requests, {.policy = ServingPolicy::single, .slots = 1, .history_from = 2, .history_requests = 2});
  REQUIRE(run.spans.size() == 4);  // who is served at 2 s, who comes next, and the two that are pictured
  CHECK(run.spans.front().request == 0);
  CHECK(run.spans.back().request == 3);
  REQUIRE_FALSE(run.waiting.empty());
  CHECK(run.waiting.front().time_s == 2);
  CHECK(run.waiting.front().value == 2);  // requests 1 and 2
  CHECK(run.waiting.back().time_s <= 12);
}
