#include "models/memory/step_timeline.h"

#include <catch2/catch_test_macros.hpp>

#include "models/memory/recorded_curve.h"
#include "models/memory/state_bytes.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using models_test::shipped_model;
using support::near;
using namespace models;
using namespace models::memory;

namespace {

constexpr Machine timeline_chip{.peak_flops_per_s = 989.4e12, .bandwidth_bytes_per_s = 3.35e12};

StepTimeline timeline(const TimelineSetting& s) {
  const auto t = step_timeline(shipped_model("llama-3-8b").architecture, s, timeline_chip);
  INFO(t.error);
  REQUIRE(t);
  return *t;
}

std::string recorded_error(std::string text) {
  return read_memory_curve(trace::in_memory(std::move(text)), "x.json").error;
}

}  // namespace

TEST_CASE("with all kept the peak is the loss: states, 17 tensors of h a layer, and three FP32 copies of the logits") {
  TimelineSetting s;
  s.plan = {.recipe = StateRecipe::no_master, .optimizer = OptimizerKind::adamw_8bit, .batch = 2};
  const StepTimeline t = timeline(s);
  const double tokens = 8192, states = 8030261248.0 * (2 + 2 * (1 + 4.0 / 256));
  const double layers = 32 * (34 * tokens * 4096 + 4 * 32 * tokens), ends = 2 * 2 * tokens * 4096;
  CHECK(near(t.peak_bytes, states + layers + ends + 12 * tokens * 128256, 1e-9));
  CHECK(t.spans[t.points[t.peak].span].phase == StepPhase::loss);
  CHECK(t.points[t.peak].held[MemoryOwner::logits] == 12 * tokens * 128256);
  CHECK(near(t.rest_bytes, states, 1e-9));
  CHECK(near(t.end_of_forward_bytes, states + layers, 1e-9));
}

TEST_CASE("what is allocated is freed: every step ends where it began, whatever runs again") {
  for (const LayerKeep keep : {LayerKeep::kept, LayerKeep::again, LayerKeep::joined})
    for (const LossKind loss :
         {LossKind::eager, LossKind::parallel, LossKind::fused, LossKind::chunked, LossKind::eager_sharded}) {
      TimelineSetting s;
      s.plan = {.batch = 1, .micro_batches = 2, .loss = loss};
      s.layers.assign(32, keep);
      s.steps = 2;
      const StepTimeline t = timeline(s);
      for (const MemoryPoint& p : t.points)
        for (const double bytes : p.held.bytes) REQUIRE(bytes >= -1.0);
      CHECK(near(t.rest_bytes, 14.0 * 8030261248.0, 1e-9));
      CHECK(near(t.points.back().held[MemoryOwner::activations] + 1, 1, 1e-3));
      for (std::size_t i = 1; i < t.points.size(); ++i) REQUIRE(t.points[i].time_s >= t.points[i - 1].time_s);
    }
}

TEST_CASE("a kept output leaks the logits of each step, a first step ends higher than it began") {
  TimelineSetting s;
  s.plan = {.batch = 1};
  s.steps = 3;
  s.keep_outputs = true;
  CHECK(near(timeline(s).rest_bytes, 14.0 * 8030261248.0 + 3 * 2 * 4096.0 * 128256, 1e-9));
  s.keep_outputs = false;
  s.steps = 1;
  s.first_step = true;
  const StepTimeline first = timeline(s);
  CHECK(near(first.points.front().held.total(), 6.0 * 8030261248.0, 0.01));
  CHECK(near(first.rest_bytes, 14.0 * 8030261248.0, 1e-9));
}

TEST_CASE("the optimizer's foreach loop holds one number a parameter in passing") {
  TimelineSetting s;
  s.plan = {.recipe = StateRecipe::fp32, .batch = 1, .sequence = 64};
  const double fused = timeline(s).peak_bytes;
  s.loop = OptimizerLoop::foreach;
  CHECK(near(timeline(s).peak_bytes - fused, 4 * 8030261248.0, 0.02));
}

TEST_CASE("a snapshot, a memory timeline and a trace give a curve; a pickle is refused with what to write") {
  const auto snapshot =
      read_memory_curve(trace::in_memory(R"({"segments": [{"device": 0, "allocated_size": 100}], "device_traces": [[
        {"action": "alloc", "size": 300, "time_us": 10}, {"action": "free_requested", "size": 300, "time_us": 11},
        {"action": "free_completed", "size": 300, "time_us": 12}, {"action": "alloc", "size": 40, "time_us": 14}]]})"),
                        "s.json");
  REQUIRE(snapshot);
  CHECK(snapshot->kind == "PyTorch snapshot");
  CHECK(snapshot->first_bytes == 60);
  CHECK(snapshot->peak_bytes == 360);
  CHECK(snapshot->last_bytes == 100);
  CHECK(near(snapshot->span_s, 4e-6, 1e-9));
  const auto rows = read_memory_curve(
      trace::in_memory(
          "[[-1, 1, 500, 7], [1000, 2, 200, 4], [2000, 3, -200, 4], [2000, 3, 200, 5], [3000, 4, -200, 5]]"),
      "m.json");
  REQUIRE(rows);
  CHECK(rows->peak_bytes == 700);
  CHECK(rows->points.size() == 3);
  CHECK(recorded_error("\x80\x04\x95q") ==
        "x.json: This is a pickle, which would run code when it is read. In Python: "
        "json.dump(torch.cuda.memory._snapshot(), open(\"snapshot.json\", \"w\")).");
  CHECK(recorded_error(R"({"device_traces": [[]], )") == "x.json: The JSON ends early or is damaged; write it again.");
  CHECK(recorded_error(R"([[1, 2]])").starts_with("x.json: Row 1 is not [nanoseconds, action, bytes, category]"));
  CHECK(recorded_error(R"({"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})") ==
        "x.json: The trace has no [memory] events; profile with profile_memory=True.");
  const std::string none =
      "x.json: This is no recording, or its end is missing: a snapshot of PyTorch has \"device_traces\" and "
      "\"segments\", a trace has \"traceEvents\"; write it again.";
  CHECK(recorded_error("{}") == none);
  CHECK(recorded_error(R"({"segments": [{"device": 0, "allo)") == none);
  CHECK(recorded_error(R"({"segments": [], "device_traces": [[{"action": "alloc", "size": -5, "time_us": 1}]]})") ==
        "x.json: Event 1 has a negative size, which no allocation has; record the snapshot again.");
  CHECK(recorded_error(
            R"({"segments": [{"allocated_size": -1}], "device_traces": [[{"action": "alloc", "size": 5}]]})") ==
        "x.json: A segment has a negative allocated_size; record the snapshot again.");
}
