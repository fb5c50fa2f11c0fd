// What the pipeline's models promise: 1F1B of 1,024 stages and 4,096 micro-batches made and run in under 2 s, and its
// eight million operations drawn in under 2 ms a frame.
#include <benchmark/benchmark.h>
#include <imgui.h>

#include <cmath>

#include "models/parallel/pipeline/pipeline_memory.h"
#include "tests/bench/allocations.h"
#include "tests/bench/stage.h"
#include "widgets/base/theme.h"
#include "widgets/timeline/timeline.h"

namespace bench {
namespace {

using namespace models::parallel;

constexpr PipelineSpec large{.schedule = PipelineSchedule::one_f_one_b, .ranks = 1024, .micro_batches = 4096};

void large_pipeline(benchmark::State& state) {
  double operations = 0;
  for (auto _ : state) {
    const auto plan = pipeline_plan(large);
    const auto run = run_pipeline(*plan, {});
    benchmark::DoNotOptimize(run->makespan_s);
    operations = 0;
    for (const auto& order : plan->orders) operations += static_cast<double>(order.size());
    if (std::abs(run->makespan_s - 3.0 * (1024 + 4096 - 1)) > 1e-6) state.SkipWithError("the makespan is wrong");
  }
  state.counters["operations"] = operations;
}
BENCHMARK(large_pipeline)->Name("pipeline/1024_stages_4096_micro_batches")->Unit(benchmark::kMillisecond);

void small_pipeline(benchmark::State& state) {
  for (auto _ : state) {
    const auto plan = pipeline_plan({.schedule = PipelineSchedule::zb_h1, .ranks = 8, .micro_batches = 32});
    benchmark::DoNotOptimize(run_pipeline(*plan, {})->makespan_s);
  }
}
BENCHMARK(small_pipeline)->Name("pipeline/8_stages_32_micro_batches")->Unit(benchmark::kMicrosecond);

/// The spans of the large run, a lane a rank, in milliseconds of a unit each.
std::vector<std::vector<widgets::TimelineSpan>> spans_of_large() {
  const auto plan = pipeline_plan(large);
  const auto run = run_pipeline(*plan, {});
  std::vector<std::vector<widgets::TimelineSpan>> out(plan->orders.size());
  for (std::size_t rank = 0; rank < plan->orders.size(); ++rank) {
    out[rank].reserve(plan->orders[rank].size());
    for (std::size_t i = 0; i < plan->orders[rank].size(); ++i) {
      const PipeKind kind = plan->orders[rank][i].kind;
      out[rank].push_back({std::llround(run->start_s[rank][i] * 1e6), std::llround(duration_s({}, rank, kind) * 1e6), 0,
                           0, kind == PipeKind::forward ? widgets::Meaning::forward : widgets::Meaning::backward,
                           widgets::TimelineMark::solid});
    }
  }
  return out;
}

void large_pipeline_frame(benchmark::State& state) {
  const auto spans = spans_of_large();
  std::vector<widgets::TimelineLane> lanes;
  for (const auto& s : spans) lanes.push_back({.label = "rank", .spans = s});
  widgets::TimelineData data;
  data.lanes = lanes;
  const widgets::TimelineIndex index = widgets::index_timeline(data);
  data.index = &index;
  widgets::TimelineView view;
  Canvas canvas({1600, 1000});
  const auto frame = [&] {
    canvas.begin();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
    // Argument 0: pixels that the lanes scroll a frame.
    view.scroll_px = std::fmod(view.scroll_px + static_cast<float>(state.range(0)), 20000.0f);
    widgets::draw_timeline("large", data, view, {.height = 960});
    ImGui::End();
    canvas.end();
  };
  for (int i = 0; i < 10; ++i) frame();
  const auto before = allocations();
  for (auto _ : state) frame();
  state.counters["allocations_per_frame"] =
      static_cast<double>(allocations() - before) / static_cast<double>(state.iterations());
}
BENCHMARK(large_pipeline_frame)
    ->Name("pipeline/frame_of_1024_stages")
    ->ArgName("scrolls")
    ->Arg(0)
    ->Arg(30)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench
