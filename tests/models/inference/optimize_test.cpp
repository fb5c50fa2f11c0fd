// One request change by change: launches in closed form, gpt-fast's published runs, and what the order does.
#include "models/inference/optimize.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "models/inference/flash_attention.h"
#include "models/inference/launch_chain.h"
#include "models/inference/tensor_decode.h"
#include "models/transformer/layer_ops.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::inference;
using support::near;
using enum models::inference::RequestChange;

namespace {

const Architecture& optimize_shape(const char* model) { return models_test::shipped_model(model).architecture; }

/// The recorded launches of another A100, as framework/launch has them.
constexpr LaunchHost optimize_host{.launch_s = 30e-6, .latency_s = 2e-6, .between_s = 2e-6};

RequestJob optimize_job(const char* model, const char* chip) {
  RequestJob job{.architecture = &optimize_shape(model), .chip = &bundled_chip(chip)};
  job.links = {.inside_bytes_per_s = 0.8 * bundled_chip(chip).interconnect.bytes_per_s_per_direction.value_or(0),
               .base_s = 6e-6};
  job.host = optimize_host;
  return job;
}

ChangeSet optimize_set(std::initializer_list<RequestChange> changes) {
  ChangeSet set;
  for (const RequestChange c : changes) set = set.with(c);
  return set;
}

RequestState optimize_state(const RequestJob& job, ChangeSet set) {
  const auto state = price_request(job, set);
  INFO(state.error);
  REQUIRE(state);
  return *state;
}

/// gpt-fast's README at commit 32971d3, 8 x A100-80GB at 330 W: five tokens of prompt and 200 new ones.
struct GptFastRun {
  const char* model;
  int bits, chips;
  double measured;
  bool odd = false;  ///< half as fast as its siblings say: named in the comment below
};
// Those that set the four constants. Llama 3 70B on two chips reads at 1,131 GB/s where Llama 2 70B does at 1,482, and
// 405B at 816 GB/s: no model of bytes explains them. Mixtral in INT8 reaches more than the others in INT8 do.
constexpr GptFastRun gpt_fast_fitted[] = {
    {"llama-3-8b", 16, 1, 93.89},   {"llama-2-70b", 4, 1, 25.25},        {"llama-2-70b", 16, 2, 21.32},
    {"llama-2-70b", 16, 4, 38.01},  {"llama-2-70b", 16, 8, 62.5},        {"llama-3-8b", 16, 4, 217.21},
    {"llama-3-70b", 16, 4, 37.45},  {"llama-3-70b", 16, 8, 58.78},       {"llama-2-70b", 8, 8, 80.44},
    {"llama-3-70b", 8, 8, 75.58},   {"mixtral-8x7b", 16, 2, 96.67},      {"mixtral-8x7b", 16, 8, 227.82},
    {"mixtral-8x7b", 8, 2, 155.03}, {"llama-3-70b", 16, 2, 16.03, true}, {"llama-3.1-405b", 8, 8, 15.6, true},
};
// Those that judge them.
constexpr GptFastRun gpt_fast_judges[] = {{"llama-2-7b", 16, 1, 104.9},  {"llama-2-7b", 8, 1, 155.58},
                                          {"llama-2-7b", 4, 1, 196.8},   {"llama-2-7b", 16, 2, 168.84},
                                          {"llama-2-7b", 16, 4, 254.02}, {"llama-2-7b", 16, 8, 328.43}};

double gpt_fast_error(const GptFastRun& run) {
  RequestJob job = optimize_job(run.model, "a100_80_sxm");
  job.whole_head = true;
  job.chips = run.chips;
  ChangeSet set = optimize_set({flash_attention, fusion, graph});
  if (run.bits == 8) set = set.with(eight_bit_weights);
  if (run.bits == 4) set = set.with(four_bit_weights);
  if (run.chips > 1) set = set.with(tensor_parallel);
  return optimize_state(job, set).tokens_per_s / run.measured - 1;
}

double optimize_median(std::vector<double> errors) {
  for (double& e : errors) e = std::abs(e);
  std::sort(errors.begin(), errors.end());
  return errors[errors.size() / 2];
}

}  // namespace

TEST_CASE("optimize: a chain of launches is what the queue walks kernel by kernel") {
  // Groups of kernels that are shorter and longer than a launch, repeated as layers are.
  const LaunchHost host{.launch_s = 8e-6, .latency_s = 3e-6, .between_s = 2e-6, .queue_depth = 1 << 20};
  for (const double scale : {0.1, 0.7, 1.0, 1.5, 20.0}) {
    const double group[] = {2e-6 * scale, 11e-6 * scale, 4e-6 * scale, 7e-6 * scale};
    LaunchList list;
    LaunchChain layer, whole;
    for (const double s : group) layer = layer.then(one_launch(s, host.between_s, host.launch_s, host.latency_s));
    list.operations.push_back({"kernel"});
    for (int repeat = 0; repeat < 30; ++repeat)
      for (const double s : group) list.kernels.push_back({std::llround(s * 1e9)});
    whole = layer.repeated(30);
    const LaunchRun run = run_launches(list, host, LaunchMode::eager, LaunchSync::step);
    CHECK(near(whole.period_s(host.launch_s, host.latency_s), 1e-9 * static_cast<double>(run.end_ns - run.origin_ns),
               1e-6));
    const double kernels_s = 30 * std::accumulate(std::begin(group), std::end(group), 0.0);
    const LaunchChain graph =
        one_launch(kernels_s + 119 * host.graph_between_s, host.graph_between_s, host.graph_launch_s, host.latency_s);
    const LaunchRun captured = run_launches(list, host, LaunchMode::graph, LaunchSync::step);
    CHECK(near(graph.period_s(host.graph_launch_s, host.latency_s),
               1e-9 * static_cast<double>(captured.end_ns - captured.origin_ns), 1e-6));
  }
}

TEST_CASE("optimize: gpt-fast's runs of other models set four constants, and those of Llama 2 7B judge them") {
  std::vector<double> set, judged;
  for (const GptFastRun& run : gpt_fast_fitted) {
    const double error = gpt_fast_error(run);
    INFO(run.model << " in " << run.bits << " bits on " << run.chips << ": " << 100 * error << " %");
    if (run.odd)
      CHECK(error > 0.15);  // measured slower than any of its siblings
    else
      CHECK(std::abs(error) < 0.135);
    set.push_back(error);
  }
  for (const GptFastRun& run : gpt_fast_judges) {
    const double error = gpt_fast_error(run);
    INFO(run.model << " in " << run.bits << " bits on " << run.chips << ": " << 100 * error << " %");
    CHECK(std::abs(error) < (run.bits == 4 ? 0.16 : 0.06));
    judged.push_back(error);
  }
  CHECK(optimize_median(set) < 0.03);
  CHECK(optimize_median(judged) < 0.05);
}

TEST_CASE("optimize: the ladder from 25.5 to 202.1 tokens a second, none of whose rungs set a constant") {
  const RequestJob job = optimize_job("llama-2-7b", "a100_80_sxm");
  REQUIRE(gpt_fast_rungs().size() == 8);
  const double most[] = {0.02, 0.03, 0.07, 0.13};  // INT4 is the worst: small kernels reach less than 70B's
  for (std::size_t i = 0; i < std::size(most); ++i) {
    const MeasuredRung& rung = gpt_fast_rungs()[i];
    const double error = optimize_state(job, rung.changes).tokens_per_s / rung.tokens_per_s - 1;
    INFO("rung " << i << ": " << 100 * error << " %");
    CHECK(std::abs(error) < most[i]);
    CHECK(find_rung(job, rung.changes, "llama-2-7b") == &rung);
  }
  CHECK(find_rung(job, optimize_set({flash_attention, fusion, graph, eight_bit_weights, four_bit_weights}),
                  "llama-2-7b") == &gpt_fast_rungs()[3]);
  CHECK(find_rung(job, optimize_set({fusion}), "llama-2-7b") == nullptr);
  CHECK(find_rung(job, gpt_fast_rungs()[0].changes, "llama-3-8b") == nullptr);
}

TEST_CASE("optimize: a served 70B in FP8 on one H200, which set no constant either") {
  // TensorRT-LLM in ai-dynamo/aiconfigurator: 4 users, 1,024 tokens in and out, lengths nine tenths of that: 20.11 ms.
  RequestJob job = optimize_job("llama-3-70b", "h200_sxm");
  job.eight_bits = EightBits::fp8;
  job.batch = 4;
  job.prompt = 922;
  job.output = 922;
  const ChangeSet set = optimize_set({flash_attention, fusion, graph, eight_bit_weights, eight_bit_cache});
  CHECK(near(optimize_state(job, set).tpot_s, 20.11e-3, 0.08));
}

TEST_CASE("optimize: a change that the host hides wins nothing first, and what saves launches wins most then") {
  const RequestJob job = optimize_job("llama-2-7b", "a100_80_sxm");
  const ChangeSet found = optimize_set({flash_attention});
  const RequestChange order[] = {fusion, graph, eight_bit_weights, four_bit_weights};
  const auto walk = walk_changes(job, found, order);
  REQUIRE(walk);
  const ChangeStage &fused = walk->stages[0], &captured = walk->stages[1], &narrow = walk->stages[2];
  CHECK(near(narrow.first_gain, 1, 0.01));  // the device waits for launches all the time
  CHECK(narrow.gain > 1.35);
  CHECK(captured.first_gain > 3);  // 1,290 launches become one
  CHECK(captured.gain < 1.5);      // 419 were left, and kernels that take longer than most of them
  CHECK(fused.gain > 2.5);
  CHECK(fused.gain == fused.first_gain);
  // Savings in any order add up to the whole, and so do averages over all orders.
  double here = 0, average = 0, product = 1;
  for (const ChangeStage& s : walk->stages) {
    here += s.saved_s;
    average += s.average_saved_s;
    product *= s.gain;
    CHECK(s.least_gain <= std::min({s.gain, s.first_gain, s.last_gain}));
    CHECK(s.most_gain >= std::max({s.gain, s.first_gain, s.last_gain}));
    CHECK(s.least_saved_s <= s.average_saved_s);
    CHECK(s.average_saved_s <= s.most_saved_s);
  }
  const double whole = walk->found.request_s - walk->last().request_s;
  CHECK(near(here, whole, 1e-9));
  CHECK(near(average, whole, 1e-9));
  CHECK(near(product, walk->speedup(), 1e-9));
}

TEST_CASE("optimize: the average over all orders is that of every order walked") {
  const RequestJob job = optimize_job("llama-2-7b", "a100_80_sxm");
  std::vector<RequestChange> order{fusion, graph, four_bit_weights};
  const auto first = walk_changes(job, {}, order);
  REQUIRE(first);
  std::array<double, request_change_count> sums{};
  int orders = 0;
  std::sort(order.begin(), order.end());
  do {
    const auto walk = walk_changes(job, {}, order);
    REQUIRE(walk);
    for (const ChangeStage& s : walk->stages) sums[static_cast<std::size_t>(s.change)] += s.saved_s;
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  REQUIRE(orders == 6);
  for (const ChangeStage& s : first->stages)
    CHECK(near(s.average_saved_s, sums[static_cast<std::size_t>(s.change)] / orders, 1e-9));
  const auto largest = largest_first(job, {}, order);
  REQUIRE(largest);
  CHECK(largest->front() == graph);
}

TEST_CASE("optimize: without a host and at full roofs a step is what tensor_decode reads and says") {
  RequestJob job = optimize_job("llama-2-70b", "h100_sxm");
  job.host = {.launch_s = 1e-12, .latency_s = 1e-12, .between_s = 1e-12, .graph_launch_s = 1e-12, .graph_between_s = 0};
  job.least_kernel_s = 0;
  job.shares = {.peak = 1, .bits16 = 1, .bits8 = 1, .bits4 = 1};
  job.chips = 8;
  job.prompt = 4000;
  job.output = 192;
  job.batch = 8;
  const RequestState s =
      optimize_state(job, optimize_set({flash_attention, fusion, graph, eight_bit_weights, tensor_parallel}));
  const auto machine = machine_of(*job.chip, Format::bf16);
  REQUIRE(machine);
  const DecodeSlab slab = decode_slab(*job.architecture,
                                      {.chip = job.chip,
                                       .machine = *machine,
                                       .links = job.links,
                                       .chips_per_node = 64,
                                       .weight_bytes_each = 1,
                                       .kv_bytes_each = 2,
                                       .batch = 8,
                                       .context = 4096},
                                      8);
  CHECK(near(s.decode.weight_bytes, slab.weights_bytes, 2e-3));
  CHECK(near(s.decode.cache_bytes, slab.cache_bytes, 1e-9));
  CHECK(near(s.decode.talk_s, slab.talk_s(), 1e-9));
  CHECK(near(s.decode.time_s, slab.step_s, 0.02));  // activations come on top
  CHECK(s.decode.time_s > slab.step_s * (1 - 1e-3));
}

TEST_CASE("optimize: attention's bytes with and without FlashAttention are those of the walked square and its tiles") {
  // One head for each query head, so that the walked model counts the same.
  const Architecture& a = optimize_shape("llama-2-7b");
  RequestJob job = optimize_job("llama-2-7b", "a100_80_sxm");
  job.prompt = 4096;
  job.output = 1;
  const RequestState square = optimize_state(job, optimize_set({fusion})),
                     tiled = optimize_state(job, optimize_set({fusion, flash_attention}));
  const FlashShape shape{.sequence = 4096, .head_dim = a.head_dim, .heads = a.heads, .batch = 1, .causal = true};
  const FlashWork counted = count_square(shape, FlashPass::forward);
  // What the tiles move at least: queries, keys, values and results once.
  const double once = 4.0 * 4096 * static_cast<double>(a.heads * a.head_dim) * flash_element_bytes;
  const double layers = static_cast<double>(a.layers);
  CHECK(near(square.prefill.bytes() - tiled.prefill.bytes(), layers * (counted.hbm_bytes - once), 0.01));
  CHECK(square.ttft_s > 1.2 * tiled.ttft_s);
  CHECK(square.held_bytes - tiled.held_bytes == 4096.0 * 4096 * 32 * 2);
}

TEST_CASE("optimize: what a change brings and what it costs") {
  RequestJob job = optimize_job("llama-3-8b", "h100_sxm");
  job.prompt = 8192;
  job.output = 256;
  job.batch = 32;
  const ChangeSet base = optimize_set({flash_attention, fusion, graph});
  const RequestState wide = optimize_state(job, base);
  // Half of the cache is read, and held.
  const RequestState narrow = optimize_state(job, base.with(eight_bit_cache));
  CHECK(near(narrow.decode.cache_bytes, wide.decode.cache_bytes / 2, 1e-9));
  CHECK(narrow.tpot_s < wide.tpot_s);
  // Weights alone in 8 bits leave a long prompt as it was; both operands in FP8 do not.
  job.eight_bits = EightBits::int8_weights;
  CHECK(near(optimize_state(job, base.with(eight_bit_weights)).ttft_s, wide.ttft_s, 0.02));
  job.eight_bits = EightBits::fp8;
  const RequestState fp8 = optimize_state(job, base.with(eight_bit_weights));
  CHECK(fp8.ttft_s < 0.65 * wide.ttft_s);
  // 4-bit weights take their place, and with them the FP8 products.
  CHECK(optimize_state(job, base.with(eight_bit_weights).with(four_bit_weights)).ttft_s > 1.4 * fp8.ttft_s);
  // A draft makes the first token later, and with a large batch every token: checking costs arithmetic.
  const RequestState drafted = optimize_state(job, base.with(speculative));
  CHECK(drafted.ttft_s > wide.ttft_s);
  job.prompt = 128;
  job.batch = 512;
  CHECK(optimize_state(job, base.with(speculative)).tpot_s > optimize_state(job, base).tpot_s);
  job.batch = 1;
  CHECK(optimize_state(job, base.with(speculative)).tpot_s < optimize_state(job, base).tpot_s);
  CHECK(near(optimize_state(job, base.with(speculative)).tokens, (1 - std::pow(0.7, 5)) / 0.3, 1e-9));
}

TEST_CASE("optimize: what cannot be says why") {
  RequestJob job = optimize_job("mixtral-8x7b", "a100_80_sxm");
  CHECK(price_request(job, {}).error.starts_with("Without a compiler a layer of experts is a loop"));
  job = optimize_job("llama-2-7b", "a100_80_sxm");
  job.eight_bits = EightBits::fp8;
  CHECK(price_request(job, optimize_set({eight_bit_weights})).error.find("FP8") != std::string::npos);
  job.chips = 3;
  CHECK(price_request(job, optimize_set({tensor_parallel})).error ==
        "32 query heads cannot be dealt evenly to 3 chips.");
  job.draft_layers = 33;
  CHECK(price_request(job, {}).error.find("from 1 to 32 layers") != std::string::npos);
  const RequestChange twice[] = {graph, graph};
  CHECK(walk_changes(job, {}, twice).error.starts_with("Each change can be made once"));
}
