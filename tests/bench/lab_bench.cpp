// What design.md promises of every lab: a steady frame under 2 ms of CPU without a heap allocation, and compute under 5
// ms (or a job).
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/scenario/scenario.h"
#include "app/shell/explore/explore_parts.h"
#include "chapters/mechanism/registry.h"
#include "tests/bench/allocations.h"
#include "tests/bench/lab_benchmarks.h"
#include "tests/bench/stage.h"
#include "widgets/number/number.h"

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

/// CPU seconds of this thread.
double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The state of a lab that takes longest: its presets, and the ends and options of each input of the defaults. What is
/// computed and arranged runs on the window's thread where the lab has no job.
struct Dearest {
  chapters::LabPtr lab;
  double compute_s = 0, both_s = 0;
  std::string at;

  void measure(const std::string& what) {
    double compute = HUGE_VAL, both = HUGE_VAL;
    for (int i = 0; i < 3; ++i) {
      const double start = cpu_s();
      lab->compute();
      const double computed = cpu_s();
      lab->arrange();
      compute = std::min(compute, computed - start);
      both = std::min(both, cpu_s() - start);
    }
    compute_s = std::max(compute_s, compute);
    if (both <= both_s) return;
    both_s = both;
    at = what;
  }
  void measure_ends(const chapters::Field& f) {
    using chapters::Kind;
    std::vector<double> values;
    if (f.is_number()) values = {f.spec.range.lo, f.spec.range.hi};
    if (f.kind == Kind::toggle) values = {0, 1};
    if (f.kind == Kind::choice)
      for (std::size_t i = 0; i < f.options->size(); ++i) values.push_back(static_cast<double>(i));
    for (const double value : values) {
      lab->reset();
      f.set_number(value);
      measure(std::string(f.key) + "=" + widgets::format_text(f.number(), ""));
    }
  }
};

void dearest(benchmark::State& state, std::string_view id) {
  Stage stage(id);
  for (auto _ : state) {
    Dearest found{.lab = chapters::make_lab_by_id(id)};
    for (const chapters::Field& f : found.lab->inputs()) found.measure_ends(f);
    for (const app::Preset& preset : stage.shell().workspace.content.of(id).presets) {
      found.lab->reset();
      if (app::apply_inputs(*found.lab, app::parse_own_json(preset.set)).error.empty()) found.measure(preset.name);
    }
    state.counters["compute_ms"] = 1e3 * found.compute_s;
    state.counters["with_picture_ms"] = 1e3 * found.both_s;
    state.SetLabel((found.lab->info().job ? "a job; " : "") + found.at);
  }
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
    RegisterBenchmark(("dearest/" + id).c_str(), [id](benchmark::State& s) { dearest(s, id); })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
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
