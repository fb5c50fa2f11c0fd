// A compiler's price and what it wins: calls as the launch queue walks them, published latencies, the break-even call.
#include "models/inference/compile_stream.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "models/training/launch_queue.h"
#include "models/transformer/layer_ops.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::inference;
using support::near;

namespace {

CallSetup stream_setup(const char* model = "llama-3-8b", const char* chip = "h100_sxm", Phase phase = Phase::prefill) {
  CallSetup setup{.architecture = &models_test::shipped_model(model).architecture};
  setup.machine = *machine_of(bundled_chip(chip), Format::bf16);
  setup.machine.peak_flops_per_s *= 0.85;
  setup.machine.bandwidth_bytes_per_s *= 0.85;
  setup.workload.phase = phase;
  setup.workload.context = 160;
  setup.host = {.launch_s = 16.2e-6, .latency_s = 1.4e-6, .between_s = 1.7e-6, .queue_depth = 4096};
  return setup;
}

double walked_s(const CallSetup& setup, std::int64_t length, LaunchMode mode) {
  Workload workload = setup.workload;
  (workload.phase == Phase::decode ? workload.batch : workload.sequence) = length;
  const bool compiled = mode == LaunchMode::compiled || mode == LaunchMode::compiled_graph;
  const auto list = launch_list(*setup.architecture, workload, setup.machine, compiled, setup.least_kernel_s);
  const LaunchRun run = run_launches(*list, setup.host, mode, LaunchSync::step);
  return static_cast<double>(run.end_ns - run.origin_ns) * 1e-9;
}

}  // namespace

TEST_CASE("compiled call: the closed form is what the launch queue walks, kernel by kernel") {
  const CallSetup setup = stream_setup();
  const auto pricer = CallPricer::make(setup);
  REQUIRE(pricer);
  CHECK(pricer->polynomial());
  for (const std::int64_t length : {1, 300, 2000}) {
    CHECK(near(pricer->price({}, length).call_s, walked_s(setup, length, LaunchMode::eager), 1e-3));
    CHECK(near(pricer->price({.compiled = true}, length).call_s, walked_s(setup, length, LaunchMode::compiled), 1e-3));
    CHECK(near(pricer->price({.compiled = true, .launched = LaunchedBy::graph}, length).call_s,
               walked_s(setup, length, LaunchMode::compiled_graph), 1e-3));
  }
  // 40 kernels a layer eager, as modeling_llama.py asks for them; a graph is one launch, and a break makes two of it.
  CHECK(pricer->price({}, 300).launches > 1280);
  const CallStyle graph{.compiled = true, .launched = LaunchedBy::graph, .breaks = 1};
  CHECK(pricer->price(graph, 300).launches == 2);
  CHECK_FALSE(CallPricer::make(stream_setup("mixtral-8x7b")));
}

// vllm-project/vllm, pull request 11081, 2024-12-10: Llama 3 8B on an H100, batch 1, compiled for it and in a CUDA
// graph, 5.93 ms a forward pass.
TEST_CASE("compiled call: a decoding step in a graph is within a tenth of the one that vLLM measured") {
  const auto pricer = CallPricer::make(stream_setup("llama-3-8b", "h100_sxm", Phase::decode));
  REQUIRE(pricer);
  CHECK(near(pricer->price({.compiled = true, .launched = LaunchedBy::graph}, 1).call_s, 5.93e-3, 0.1));
}

TEST_CASE("compile stream: blocks of seconds and slivers of milliseconds, and the call from which it is ahead") {
  const auto pricer = CallPricer::make(stream_setup());
  REQUIRE(pricer);
  CallPrices prices(*pricer, 2048);
  std::vector<std::uint32_t> lengths(4000, 300);
  CompileSetup setup;
  const StreamRun run = run_stream(lengths, CompileWay::standard, setup, prices);
  const StreamTotals& t = run.totals;
  CHECK(t.graphs == 1);
  CHECK(t.compile_s == setup.seconds.standard_s);
  // All calls are alike: the compile seconds over what one call saves.
  const double saving_s = t.saving_s(4000);
  CHECK(saving_s > 0);
  CHECK(static_cast<double>(t.ahead_from) == std::ceil(t.compile_s / saving_s));
  CHECK(near(run.lead_s.back(), t.won_s(), 1e-9));
  // Graphs: the first call without, the second captured; tuning takes 2.6 times as long and is never ahead of it here.
  const StreamTotals graphs = run_stream(lengths, CompileWay::reduce_overhead, setup, prices).totals;
  CHECK(graphs.captures == 1);
  CHECK(graphs.won_s() > t.won_s());
  CHECK(run_stream(lengths, CompileWay::max_autotune, setup, prices).totals.won_s() < graphs.won_s());
  CHECK(run_stream(lengths, CompileWay::eager, setup, prices).totals.won_s() == 0);
  // A short stream never pays.
  lengths.resize(100);
  CHECK(run_stream(lengths, CompileWay::standard, setup, prices).totals.ahead_from == 0);
}

TEST_CASE("compile stream: each way has its own rules for lengths") {
  const auto pricer = CallPricer::make(stream_setup());
  REQUIRE(pricer);
  CallPrices prices(*pricer, 2048);
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t i = 0; i < 600; ++i) lengths.push_back(200 + i % 30);
  const auto graphs = [&](CompileWay way, const CompileSetup& setup) {
    return run_stream(lengths, way, setup, prices).totals;
  };
  CompileSetup setup;
  CHECK(graphs(CompileWay::standard, setup).graphs == 2);
  CHECK(graphs(CompileWay::xla, setup).graphs == 30);  // no dynamic lengths, and no limit
  CHECK(graphs(CompileWay::tensorrt, setup).graphs == 1);
  CHECK(graphs(CompileWay::by_hand, setup).graphs == 2);  // 208 and 224 are multiples of 16
  // In one dynamic graph every length is captured for itself.
  CHECK(graphs(CompileWay::reduce_overhead, setup).captures == 30);
  // Padded first, a dynamic graph sees few lengths: serving engines capture one CUDA graph a bucket.
  setup.rules.policy = ShapePolicy::any_padded;
  setup.rules.bucket = 16;
  CHECK(graphs(CompileWay::reduce_overhead, setup).graphs == 1);
  CHECK(graphs(CompileWay::reduce_overhead, setup).captures == 3);  // 208, 224 and 240
  setup.rules.policy = ShapePolicy::exact;
  CHECK(graphs(CompileWay::standard, setup).graphs == 8);
  CHECK(graphs(CompileWay::standard, setup).eager_calls == 600 / 30 * 22);
  // Breaks: longer to compile, slower to run.
  setup.breaks = 32;
  CHECK(near(graphs(CompileWay::standard, setup).compile_s, 8 * (25.2 + 32), 1e-12));
}
