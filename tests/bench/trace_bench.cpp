#include <benchmark/benchmark.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "app/platform/file_bytes.h"
#include "chapters/profiling/trace_viewer/lanes.h"
#include "models/trace/measure/metrics.h"
#include "tests/bench/stage.h"
#include "tests/bench/training_trace.h"
#include "tests/support/base/gzip.h"

using bench::training_trace;

static void read(benchmark::State& state, bool gz) {
  const std::string plain = training_trace(state.range(0));
  const std::string bytes = gz ? support::gzipped(plain, 1) : plain;
  for (auto _ : state) {
    state.PauseTiming();
    std::string copy = bytes;
    state.ResumeTiming();
    benchmark::DoNotOptimize(models::trace::read_trace(std::move(copy), "bench").value->events.size());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(plain.size()));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_resident_bytes"] = 1024.0 * static_cast<double>(usage.ru_maxrss);
}
static void trace_read_plain(benchmark::State& state) { read(state, false); }
static void trace_read_gz(benchmark::State& state) { read(state, true); }
BENCHMARK(trace_read_plain)->Arg(300'000)->Arg(999'999)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(trace_read_gz)->Arg(999'999)->Unit(benchmark::kMillisecond)->UseRealTime();

static void trace_measure(benchmark::State& state) {
  const auto trace = models::trace::read_trace(training_trace(state.range(0)), "bench");
  for (auto _ : state) benchmark::DoNotOptimize(models::trace::measure(*trace).devices.size());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(trace_measure)->Arg(999'999)->Unit(benchmark::kMillisecond);

// What this process holds; what is free but not given back yet, such as the text made here, is given back first.
static double resident_bytes() {
  malloc_trim(0);
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmRSS:")) return 1024.0 * std::stod(line.substr(6));
  throw std::runtime_error("/proc/self/status names no VmRSS");
}

// A frame of the whole program with a recording of so many events open, panned by a pixel or so each frame; by decades
// of zoom.
static void trace_viewer_frame(benchmark::State& state) {
  static std::unique_ptr<bench::Stage> stage;
  static std::int64_t open_events = 0;
  static double resident_per_event = 0;
  if (open_events != state.range(0)) {
    stage = nullptr;
    stage = std::make_unique<bench::Stage>("profiling/trace-viewer");
    stage->settle();
    const double before = resident_bytes();
    app::Workspace& w = stage->shell().workspace;
    const auto path = std::filesystem::temp_directory_path() / "ridgeline-bench.json";  // 350 bytes an event
    {
      std::ofstream to(path, std::ios::binary);
      to << training_trace(state.range(0), [&](std::string& s) { to << s, s.clear(); });
      if (!to.flush()) throw std::runtime_error("there is no room for the recording in " + path.string());
    }
    chapters::FileInput& file = w.lab().inputs().find("file")->file();
    file.path = path.string();
    file.bytes = *app::read_file_bytes(file.path);
    std::filesystem::remove(path);  // stays open
    w.current().finish();
    stage->settle();
    resident_per_event = (resident_bytes() - before) / static_cast<double>(state.range(0));
    open_events = state.range(0);
  }
  stage->settle();
  const chapters::Lab& lab = stage->shell().workspace.lab();
  const double events = lab.outputs().find("events")->number(), span_s = lab.outputs().find("span_s")->number();
  if (!lab.reason().empty() || events < static_cast<double>(state.range(0)))
    throw std::runtime_error("the recording did not open: " + lab.reason());
  const double shown_s = span_s / std::pow(10.0, static_cast<double>(state.range(1)));
  double& start_s = lab.view().find("start_s")->real();
  lab.view().find("duration_s")->real() = state.range(1) == 0 ? 0 : shown_s;
  start_s = 0.3 * span_s;
  for (auto _ : state) {
    if (state.range(1) > 0) start_s = start_s > 0.6 * span_s ? 0.3 * span_s : start_s + shown_s / 1500;
    stage->frame();
  }
  state.counters["resident_bytes_per_event"] = resident_per_event;
  state.counters["vertices"] = ImGui::GetDrawData()->TotalVtxCount;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_resident_bytes"] = 1024.0 * static_cast<double>(usage.ru_maxrss);
}
BENCHMARK(trace_viewer_frame)
    ->ArgNames({"events", "zoom_decades"})
    ->ArgsProduct({{999'999, 9'999'999}, {0, 1, 2, 3, 4, 5, 6}})
    ->Unit(benchmark::kMillisecond);

// Laying a recording out as lanes, which a change of the search or of the rank does anew.
static void trace_lanes(benchmark::State& state) {
  auto recording = std::make_shared<chapters::profiling::trace_viewer::Recording>();
  recording->trace = std::move(*models::trace::read_trace(training_trace(state.range(0)), "bench"));
  recording->metrics = models::trace::measure(recording->trace);
  for (auto _ : state)
    benchmark::DoNotOptimize(chapters::profiling::trace_viewer::Lanes::make({{.recording = recording, .label = ""}}, "")
                                 ->index()
                                 .link_count);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(trace_lanes)->Arg(999'999)->Unit(benchmark::kMillisecond);
