// What design.md promises of every lab: a steady frame under 2 ms of CPU without a heap allocation, and compute under 5
// ms (or a job).
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "app/shell/explore/explore_parts.h"
#include "chapters/mechanism/registry.h"
#include "tests/bench/allocations.h"
#include "tests/bench/lab_benchmarks.h"
#include "tests/bench/stage.h"

namespace bench {
namespace {

void measure_frames(benchmark::State& state, Stage& stage) {
  stage.settle();
  const std::uint64_t before = allocations();
  for (auto _ : state) stage.frame();
  state.counters["allocations_per_frame"] =
      static_cast<double>(allocations() - before) / static_cast<double>(state.iterations());
  state.counters["vertices"] = ImGui::GetDrawData()->TotalVtxCount;
}

void frame(benchmark::State& state, std::string_view lab) {
  Stage stage(lab);
  measure_frames(state, stage);
}

/// With another scenario set aside, which stands on the canvas as a ghost.
void compared(benchmark::State& state, std::string_view lab) {
  Stage stage(lab);
  stage.settle();
  app::set_aside_a(stage.shell());
  stage.shell().explore.lab = lab;
  measure_frames(state, stage);
}

/// Frames of which nine in twenty show a change on its way, the computing of the change included.
void easing(benchmark::State& state) {
  Stage stage("roofline/roofline");
  stage.settle();
  const auto* batch = stage.shell().workspace.lab().inputs().find("batch");
  int i = 0;
  for (auto _ : state) {
    if (++i % 20 == 0) batch->set_number(i % 40 == 0 ? 1 : 8);
    stage.frame();
  }
}

void drawer(benchmark::State& state, app::Drawer tab) {
  Stage stage(chapters::all_labs().front().id);
  stage.shell().drawer = tab;
  measure_frames(state, stage);
}

void palette(benchmark::State& state) {
  Stage stage(chapters::all_labs().front().id);
  stage.shell().palette.open = stage.shell().palette.just_opened = true;
  measure_frames(state, stage);
}

void compute(benchmark::State& state, std::string_view id) {
  assets();
  const auto lab = chapters::make_lab_by_id(id);
  const std::uint64_t before = allocations();
  for (auto _ : state) lab->compute();
  state.counters["allocations"] = static_cast<double>(allocations() - before) / static_cast<double>(state.iterations());
  if (lab->info().job) state.SetLabel("a job");
}

}  // namespace

void register_labs() {
  using benchmark::RegisterBenchmark;
  for (const auto& entry : chapters::all_labs()) {
    const std::string id(entry.id);
    RegisterBenchmark(("frame/" + id).c_str(), [id](benchmark::State& s) {
      frame(s, id);
    })->Unit(benchmark::kMicrosecond);
    RegisterBenchmark(("compared/" + id).c_str(), [id](benchmark::State& s) {
      compared(s, id);
    })->Unit(benchmark::kMicrosecond);
    RegisterBenchmark(("compute/" + id).c_str(), [id](benchmark::State& s) {
      compute(s, id);
    })->Unit(benchmark::kMicrosecond);
  }
  using app::Drawer;
  for (const auto& [name, tab] : {std::pair{"concept", Drawer::concept_},
                                  {"design", Drawer::design},
                                  {"code", Drawer::code},
                                  {"debug", Drawer::debug},
                                  {"frontier", Drawer::frontier},
                                  {"claims", Drawer::claims},
                                  {"measured", Drawer::measured},
                                  {"predict", Drawer::predict},
                                  {"explore", Drawer::explore},
                                  {"notes", Drawer::notes},
                                  {"lesson", Drawer::lesson}})
    RegisterBenchmark((std::string("drawer/") + name).c_str(), [t = tab](benchmark::State& s) {
      drawer(s, t);
    })->Unit(benchmark::kMicrosecond);
  RegisterBenchmark("easing", easing)->Unit(benchmark::kMicrosecond);
  RegisterBenchmark("palette_open", palette)->Unit(benchmark::kMicrosecond);
}

}  // namespace bench
