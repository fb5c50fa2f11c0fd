// The two large pictures: a plot of a million points and a timeline of ten million spans, at most 8 ms of CPU a frame.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "tests/bench/allocations.h"
#include "tests/bench/stage.h"
#include "widgets/plot/plot.h"
#include "widgets/timeline/timeline.h"

namespace {

/// Steady frames of `draw` in a window over the whole display.
template <class Draw>
void measure(benchmark::State& state, Draw draw) {
  bench::Canvas canvas({1600, 1000});
  const auto frame = [&] {
    canvas.begin();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
    draw();
    ImGui::End();
    canvas.end();
  };
  for (int i = 0; i < 10; ++i) frame();
  const auto before = bench::allocations();
  for (auto _ : state) frame();
  state.counters["allocations_per_frame"] =
      static_cast<double>(bench::allocations() - before) / static_cast<double>(state.iterations());
  state.counters["vertices"] = ImGui::GetDrawData()->TotalVtxCount;
}

/// With a version the plot may keep its decimation; without one it reads all points every frame. Argument 1: the view
/// moves.
void plot_million(benchmark::State& state, bool versioned) {
  constexpr std::size_t n = 1'000'000;
  std::vector<double> xs(n), ys(n);
  for (std::size_t i = 0; i < n; ++i) {
    xs[i] = static_cast<double>(i);
    ys[i] = std::sin(xs[i] * 1e-4) + 0.2 * std::sin(xs[i] * 0.7);
  }
  widgets::PlotView view;
  const bool pans = state.range(0) != 0;
  double step = 0;
  measure(state, [&] {
    if (pans) {
      view.zoomed = true;
      step = std::fmod(step + 137, 1e5);
      view.x_lo = step;
      view.x_hi = step + 8e5;
      view.y_lo = -1.3;
      view.y_hi = 1.3;
    }
    widgets::Plot plot("million", view, {.size = {1500, 900}});
    plot.line("signal", xs, ys, {.version = versioned ? 1u : 0u});
  });
}
BENCHMARK_CAPTURE(plot_million, versioned, true)->ArgName("pans")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plot_million, unversioned, false)->ArgName("pans")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// Ten million spans in eight lanes: kernels of 1 to 9 us with gaps, three nested under each.
struct Trace {
  std::vector<std::vector<widgets::TimelineSpan>> spans;
  std::vector<widgets::TimelineLane> lanes;
  widgets::TimelineData data;
  double seconds = 0;

  Trace() : spans(8) {
    constexpr std::size_t each = 10'000'000 / 8;
    for (std::size_t lane = 0; lane < spans.size(); ++lane) {
      std::int64_t at = 0;
      spans[lane].reserve(each);
      for (std::size_t i = 0; spans[lane].size() < each; ++i) {
        const auto length = static_cast<std::int64_t>(1000 + (i * 2654435761u + lane) % 8000);
        for (std::uint16_t depth = 0; depth < 4 && spans[lane].size() < each; ++depth)
          spans[lane].push_back({at + depth * 100, length - 200 * depth, static_cast<std::uint32_t>(i % 64), depth,
                                 widgets::Tint::series(i % 8)});
        at += length + static_cast<std::int64_t>(i % 7) * 150;
      }
      seconds = static_cast<double>(at) * 1e-9;
      lanes.push_back({.label = "stream", .spans = spans[lane]});
    }
    data.lanes = lanes;
    data.name = [](const void*, std::uint32_t) -> std::string_view { return "kernel"; };
  }
};

const Trace& trace() {
  static const Trace made;
  return made;
}

/// Argument: the whole trace divided by 10^n is shown. The window pans a pixel a frame, so every frame lays out anew.
void timeline_ten_million(benchmark::State& state) {
  const Trace& t = trace();
  const widgets::TimelineIndex index = widgets::index_timeline(t.data);
  widgets::TimelineData data = t.data;
  data.index = &index;
  widgets::TimelineView view;
  const double shown = t.seconds / std::pow(10.0, static_cast<double>(state.range(0)));
  double start = t.seconds * 0.3 * (state.range(0) > 0 ? 1 : 0);
  measure(state, [&] {
    start += shown / 1500;
    if (start > t.seconds * 0.6) start = 0;
    view.window = {start, shown};
    widgets::draw_timeline("trace", data, view, {.height = 960});
  });
}
BENCHMARK(timeline_ten_million)->ArgName("zoom_decades")->DenseRange(0, 6)->Unit(benchmark::kMillisecond);

void timeline_index(benchmark::State& state) {
  const Trace& t = trace();
  for (auto _ : state) benchmark::DoNotOptimize(widgets::index_timeline(t.data).fingerprint);
}
BENCHMARK(timeline_index)->Unit(benchmark::kMillisecond);

}  // namespace
