// From nothing to the first picture (under 300 ms on a software renderer), and the files read on the way.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>

#include "app/content/load_catalog.h"
#include "app/platform/headless.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "tests/bench/stage.h"
#include "tests/support/base/paths.h"

namespace {

/// A renderer, all content, one lab, one frame, its pixels. The first call in a process also loads the driver.
void first_frame_headless(benchmark::State& state) {
  const std::string assets = support::source_file("assets");
  for (auto _ : state) {
    chapters::set_catalog(app::load_catalog(assets, {}).catalog);
    const auto headless = app::Headless::create(1600, 1000);
    if (!headless) return state.SkipWithError(headless.error.c_str());
    app::Workspace workspace(app::load_content(assets), bench::nowhere());
    workspace.current().finish();
    app::Shell shell(workspace, {});
    (*headless)->begin_frame();
    widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, (*headless)->fonts()));
    widgets::apply_to_imgui(widgets::theme());
    app::draw_shell(shell);
    (*headless)->end_frame();
    benchmark::DoNotOptimize((*headless)->pixels().data());
  }
}
BENCHMARK(first_frame_headless)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

void load_catalog(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(app::load_catalog(support::source_file("assets"), {}).catalog.get());
}
BENCHMARK(load_catalog)->Unit(benchmark::kMillisecond);

void load_content(benchmark::State& state) {
  bench::assets();
  for (auto _ : state) benchmark::DoNotOptimize(app::load_content(bench::assets()).claims.size());
}
BENCHMARK(load_content)->Unit(benchmark::kMillisecond);

/// A scenario with every input of a lab named: parsed, checked, applied.
void scenario_parse(benchmark::State& state) {
  bench::assets();
  const auto lab = chapters::make_lab_by_id(chapters::all_labs().front().id);
  const std::string text = app::scenario_to_json(*lab).dump();
  for (auto _ : state) {
    const auto scenario = app::parse_scenario(text);
    benchmark::DoNotOptimize(app::apply_inputs(*lab, app::Json::parse(scenario->inputs_text)).error.size());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(scenario_parse)->Unit(benchmark::kMicrosecond);

}  // namespace
