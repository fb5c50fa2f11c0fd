#include "chapters/training/dashboard/lab.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "app/scenario/link.h"
#include "chapters/profiling/step_trace/lab.h"
#include "chapters/training/data_loader/lab.h"
#include "models/training/optimizer_traffic.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace dashboard = chapters::training::dashboard;
namespace step_trace = chapters::profiling::step_trace;
using dashboard::StepSwitch;

namespace {

constexpr const char* as_found = R"({"loader": false, "bf16": false})";
constexpr const char* all_but_savers =
    R"({"compile": true, "fused_optimizer": true, "flash": true, "fp8": true, "overlap": true})";

dashboard::Outputs dashboard_of(const dashboard::Inputs& in) {
  use_bundled_catalog();
  chapters::Progress progress;
  return dashboard::compute(in, progress).facts;
}

/// The step trace's own inputs for a setup of the dashboard: kernels and rates as they are, no switch of its own.
step_trace::Inputs traced(const models::StepSetup& s) {
  step_trace::Inputs in;
  in.now = {
      .workers = s.loader.workers,
      .prefetch = s.loader.prefetch,
      .copy = s.copy,
      .sync_every = s.sync_every,
      .optimizer = s.optimizer,
      .overlap = s.overlap,
      .buckets = s.buckets,
  };
  in.found = in.now;
  in.samples = s.loader.samples;
  in.sample_bytes = s.loader.sample_bytes;
  in.request_latency_s = s.loader.request_latency_s;
  in.decode_s = s.loader.decode_s;
  in.cores = s.loader.cores;
  in.batch_bytes = s.loader.batch_bytes;
  in.forward_s = s.forward_s;
  in.backward_s = s.backward_s;
  in.layers = s.layers;
  in.kernels_per_layer = s.kernels_per_layer;
  in.launch_s = s.launch_s;
  in.launch_latency_s = s.launch_latency_s;
  in.log_s = s.log_s;
  in.parameters = s.parameters;
  // The step trace counts AdamW in FP32; the same time for the bytes that this recipe moves.
  in.optimizer_bytes_per_s =
      s.optimizer_bytes_per_s * models::optimizer_bytes_per_parameter(s.optimizer) / s.update_bytes;
  in.ranks = s.ranks;
  in.bf16_gradients = s.gradient_bytes < 3 * s.parameters;
  in.bus_bytes_per_s = s.bus_bytes_per_s;
  in.hop_latency_s = s.hop_latency_s;
  return in;
}

}  // namespace

TEST_CASE("dashboard: a step takes as long in the step trace, part by part") {
  dashboard::Inputs in;
  for (const bool starved : {true, false})
    for (const bool overlap : {true, false})
      for (const std::int64_t reads : {0, 1}) {
        in.on[0] = !starved;
        in.on[static_cast<std::size_t>(StepSwitch::overlap)] = overlap;
        in.on[static_cast<std::size_t>(StepSwitch::fused_optimizer)] = overlap;
        in.sync_every = reads;
        const dashboard::Outputs out = dashboard_of(in);
        chapters::Progress progress;
        const step_trace::Outputs trace = step_trace::compute(traced(out.now.step.setup), progress).facts;
        REQUIRE(trace.reason == "");
        CHECK(near(trace.now.mean.period_s, out.now.mean.period_s, 1e-9));
        for (std::size_t c = 0; c < models::step_cause_count; ++c)
          CHECK(std::abs(trace.now.mean.idle_s[c] - out.now.mean.idle_s[c]) <= 1e-9);
      }
}

TEST_CASE("dashboard: the link to the step trace opens the same step") {
  for (const char* inputs : {"{}", as_found, all_but_savers, R"({"chip": "b200_sxm", "sync_every": 3})"}) {
    INFO(inputs);
    const LabPtr lab = open_lab("training/dashboard", inputs);
    compute(*lab);
    dashboard::Inputs in;
    constexpr std::array<const char*, 9> keys{"loader", "bf16",    "compile",    "fused_optimizer", "flash",
                                              "fp8",    "overlap", "accumulate", "checkpoint"};
    for (std::size_t i = 0; i < keys.size(); ++i) in.on[i] = input(*lab, keys[i]).toggle();
    in.chip = input(*lab, "chip").choice_id();
    in.sync_every = input(*lab, "sync_every").integer();
    const app::Link link = app::parse_link(dashboard::step_trace_link(in, dashboard_of(in)));
    REQUIRE(link.lab == "profiling/step-trace");
    nlohmann::ordered_json sets;
    for (const auto& [key, value] : link.sets) {
      const auto number = nlohmann::ordered_json::parse(value, nullptr, false);  // "true" is one as well
      sets[key] = number.is_discarded() ? nlohmann::ordered_json(value) : number;
    }
    const LabPtr trace = open_lab("profiling/step-trace");
    set(*trace, sets);
    CHECK(near(computed(*trace, "step_s"), out(*lab, "step_s"), 1e-3));
    CHECK(near(out(*trace, "peak_bytes"), out(*lab, "peak_bytes"), 1e-6));
  }
  dashboard::Inputs again;
  again.on[static_cast<std::size_t>(StepSwitch::checkpoint)] = true;
  CHECK(dashboard::step_trace_link(again, dashboard_of(again)).empty());
}

TEST_CASE("dashboard: torch.compile and Float8 gain what torchtitan measured of Llama 3.1 8B") {
  // 6,667 over 5,762 and 8,532 over 6,667 tokens a second and GPU: benchmarks/llama3_h100_202412_torchtitan.md,
  // table 1.
  const char* inputs = R"({"model": "llama-3-8b", "batch": 2, "sequence": 8192, "flash": true, "fused_optimizer": true,
                           "overlap": true, "load_s": 0.01})";
  const LabPtr lab = open_lab("training/dashboard", inputs);
  CHECK(near(computed(*lab, "compile_gain"), 6667.0 / 5762, 0.03));
  CHECK(near(computed(set(*lab, "compile", 1.0), "fp8_gain"), 8532.0 / 6667, 0.12));
}

TEST_CASE("dashboard: steps of Llama 3.2 1B on one H100 are as long as they were in our own run, within 13 %") {
  // assets/measured/h100-steps.json, BF16 without master weights: 150.2 ms, compiled 125.5, every layer again 184.8;
  // AdamW in FP32 15.0 ms.
  const LabPtr lab = open_lab("training/dashboard", R"({"ranks": 1, "load_s": 1e-4, "loss": "eager", "flash": true,
                                                        "fused_optimizer": true})");
  CHECK(near(computed(*lab, "step_s"), 0.150152, 0.13));
  CHECK(near(computed(*lab, "compile_gain"), 0.150152 / 0.125496, 0.03));
  CHECK(near(computed(*lab, "checkpoint_gain"), 0.150152 / 0.184839, 0.03));
  CHECK(near(computed(set(*lab, "bf16", 0.0), "optimizer_s"), 0.0149798, 0.03));
}

TEST_CASE("dashboard: a starved step brings as many samples as the data loader's lab") {
  dashboard::Inputs in;
  in.on[0] = false;
  chapters::training::data_loader::Inputs loader;
  loader.storage = chapters::training::data_loader::Storage::own;
  loader.request_latency_s = 1e-9;
  loader.storage_bytes_per_s = 1e15;
  loader.workers = in.found_workers;
  loader.samples = in.batch;
  loader.decode_s = in.load_s;
  loader.gpu_s = 0.2;
  chapters::Progress progress;
  const double samples_per_s = chapters::training::data_loader::compute(loader, progress).facts.samples_per_s;
  CHECK(near(samples_per_s, static_cast<double>(in.batch) / dashboard_of(in).now.step_s(), 0.002));
}

TEST_CASE("dashboard: the peak is that of framework/training-memory") {
  struct Case {
    const char *mine, *theirs;
  };
  for (const Case& c : {Case{"{}", R"("recipe": "mixed")"}, Case{as_found, R"("recipe": "fp32")"},
                        Case{R"({"checkpoint": true})", R"("recipe": "mixed", "recompute": "full")"},
                        Case{R"({"flash": true})", R"("recipe": "mixed", "fused_attention": true)"},
                        Case{R"({"accumulate": true})", R"("recipe": "mixed", "micro_batches": 2, "batch": 2)"}}) {
    INFO(c.mine);
    const LabPtr mine = open_lab("training/dashboard", c.mine), theirs = open_lab("framework/training-memory");
    set(*theirs, "model", "llama-3.2-1b", "batch", 4.0, "sequence", 2048.0, "recompute", "none");
    set(*theirs, "fused_attention", 0.0, "dropout", 0.0, "fused_gradients", 0.0, "loss", "parallel");
    set(*theirs, "count", "operations", "micro_batches", 1.0, "data_parallel", 8.0);
    set(*theirs, nlohmann::ordered_json::parse("{" + std::string(c.theirs) + "}"));
    CHECK(near(computed(*mine, "peak_bytes"), computed(*theirs, "total_bytes"), 1e-12));
  }
}

TEST_CASE("dashboard: pressing a row of the hero turns its switch") {
  const LabPtr lab = open_lab("training/dashboard");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(2);
  canvas.ui.click("switch flash");
  CHECK(input(*lab, "flash").toggle());
  canvas.ui.click("switch bf16");
  CHECK_FALSE(input(*lab, "bf16").toggle());
}

TEST_CASE("dashboard: parts add up to the step, and what the switches took to the whole") {
  for (const bool steepest : {false, true}) {
    dashboard::Inputs in;
    in.on = {true, true, true, true, true, true, true, false, true};
    if (steepest) in.order = dashboard::Order::steepest;
    const dashboard::Outputs out = dashboard_of(in);
    double sum = 0, took = 0;
    for (const double part : out.now.parts) sum += part;
    CHECK(near(sum, out.now.step_s(), 1e-9));
    // The simulation rounds each kernel to a nanosecond; layers that run again are among them.
    double kernels_s = 0;
    for (const double part : out.now.step.kernel_s) kernels_s += part;
    CHECK(near(out.now.mean.forward_s + out.now.mean.backward_s, kernels_s, 1e-4));
    CHECK(out.now.parts[static_cast<std::size_t>(dashboard::Part::again)] > 0.01);
    for (const dashboard::SwitchRow& row : out.switches)
      if (row.on) took += row.change_s;
    CHECK(std::abs(out.found.step_s() + took - out.now.step_s()) <= 1e-8);
    REQUIRE(out.stages.size() == 9);
    CHECK(out.stages.back().step_s == out.now.step_s());
    if (!steepest) continue;
    // The steepest order is ahead of the one from the bottom after one switch and after two.
    in.order = dashboard::Order::reversed;
    const dashboard::Outputs other = dashboard_of(in);
    CHECK(out.stages[1].name == "More workers");
    for (const std::size_t i : {1, 2}) CHECK(out.stages[i].step_s < other.stages[i].step_s);
  }
}

TEST_CASE("dashboard: while the loader sets the pace no other switch takes anything") {
  const LabPtr lab = open_lab("training/dashboard", as_found);
  compute(*lab);
  CHECK(near(out(*lab, "step_s"), 4 * 0.3 / 2, 1e-6));
  CHECK(text_of(*lab, "bottleneck") == "the loader");
  for (const char* key : {"bf16", "compile", "fused_optimizer", "flash", "fp8", "overlap", "accumulate"})
    CHECK(std::abs(out(*lab, std::string(key) + "_change_s")) <= 1e-6);
  CHECK(text_of(*lab, "next") == "More workers");
  // With workers enough the same switches take their parts.
  compute(set(*lab, "loader", 1.0));
  CHECK(text_of(*lab, "bottleneck") == "matmuls");
  CHECK(out(*lab, "bf16_change_s") < -0.19);
  CHECK(out(*lab, "flash_change_s") < -0.15);
  CHECK(std::abs(out(*lab, "accumulate_change_s")) <= 1e-4);
  CHECK(out(*lab, "accumulate_memory_bytes") < -2e10);
  CHECK(std::isnan(out(*lab, "compile_memory_bytes")));  // not modelled, and so not 0
}

TEST_CASE("dashboard: the order decides who is credited, not the step") {
  const LabPtr listed = open_lab("training/dashboard"),
               reversed = open_lab("training/dashboard", R"({"order": "reversed"})");
  CHECK(computed(*listed, "step_s") == computed(*reversed, "step_s"));
  CHECK(near(out(*listed, "bf16_change_s") + out(*listed, "loader_change_s"),
             out(*reversed, "bf16_change_s") + out(*reversed, "loader_change_s"), 1e-9));
  CHECK(std::abs(out(*reversed, "bf16_change_s")) <= 1e-6);
  CHECK(near(out(*listed, "product_of_alone"), 0.6 / (0.6 + out(*listed, "loader_change_s")), 1e-6));
}

TEST_CASE("dashboard: the study's stack holds in its order and scenario, and not where the loader was fast") {
  const char* stack = R"({"compile": true, "fused_optimizer": true, "load_s": 0.34})";
  const LabPtr lab = open_lab("training/dashboard", stack);
  CHECK(near(computed(*lab, "claimed_product"), 1.4 * 1.7 * 1.15 * 1.12, 1e-12));
  CHECK(near(out(*lab, "speedup"), 3.055, 1e-3));
  CHECK(rows(*lab, "study") == 4);
  // 680 ms of loading before, the GPU's own step after.
  const double step_s = out(*lab, "step_s");
  CHECK(near(out(*lab, "speedup"), 0.68 / step_s, 1e-6));
  CHECK(near(computed(set(*lab, "load_s", 0.05), "speedup"), 2.151, 1e-3));
  // Where loading was fast, the step ends the same, and the gains that are left multiply.
  CHECK(near(out(*lab, "step_s"), step_s, 1e-6));
  CHECK(near(
      out(*lab, "speedup"),
      out(*lab, "loader_gain") * out(*lab, "bf16_gain") * out(*lab, "compile_gain") * out(*lab, "fused_optimizer_gain"),
      1e-6));
}

TEST_CASE("dashboard: the answer says what the last switch saved, what does not fit, and what comes next") {
  const auto says = [](const char* inputs) { return answer_of("training/dashboard", inputs); };
  CHECK(says("{}") ==
        "BF16 saved `193 ms`, but only because loading was fixed first; alone it saves nothing.\n"
        "Next best: FlashAttention, which would save `76.7 ms` of the `286 ms`.");
  CHECK(
      says(R"({"order": "reversed"})").starts_with("More workers saved `314 ms`; pressed first it saves `121 ms`.\n"));
  CHECK(says(as_found) ==
        "As found a step takes `600 ms`, as long as the loader needs for a batch.\n"
        "Next best: More workers, which would save `121 ms` of the `600 ms`.");
  CHECK(says(all_but_savers) ==
        "Overlapped all-reduce saved no time, because the loader is waited for instead: the step stays at `150 ms`.\n"
        "The loader sets the pace: no other switch shortens the step.");
  CHECK(says(R"({"batch": 8, "loader": false, "bf16": false})") ==
        "The step does not fit, by `57.2 GB`: FlashAttention would free `68.7 GB`.\n"
        "With enough memory: as found a step takes `1.2 s`, as long as the loader needs for a batch.");
  // 70.6 billion parameters have 16 B of states each: 1.13 TB that no saver of activations takes away.
  // Of what is left checkpointing frees most, 212 GB where FlashAttention frees 172.
  CHECK(says(R"({"model": "llama-3-70b"})").find(": Checkpointing would free `212 GB`, not enough alone.\n") !=
        std::string::npos);
  CHECK(says(R"({"chip": "a100_80_sxm", "fp8": true})").starts_with("A100 80GB states no dense FP8 peak"));
}

TEST_CASE("dashboard: each step of the ring has its latency, so that many GPUs lengthen a step") {
  dashboard::Inputs in;
  const double few_s = dashboard_of(in).now.step_s();
  in.ranks = 65536;
  // Eight buckets, one after the other since nothing overlaps: 2 (65,536 - 8) more hops of 1 us each.
  const double more_s = dashboard_of(in).now.step_s() - few_s;
  CHECK(more_s >= 8 * 2 * (65536 - 8) * 1e-6);
  CHECK(more_s <= 8 * 2 * (65536 - 8) * 1e-6 + 0.005);
  in.hop_latency_s = 0;
  CHECK(dashboard_of(in).now.step_s() - few_s < 0.005);
}
