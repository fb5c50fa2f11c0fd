#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "app/store/progress.h"

// A year of use: 60 labs with 50 predictions each, saved with its merge and its syncs.
static void store_save_progress(benchmark::State& state) {
  const auto folder = std::filesystem::temp_directory_path() / ("ridgeline-bench-" + std::to_string(getpid()));
  app::store::Progress progress;
  for (int lab = 0; lab < 60; ++lab)
    for (int i = 0; i < 50; ++i)
      progress.predict("chapter/lab-" + std::to_string(lab), {"question", 1.0 * i, 2.0 * i, i});
  for (auto _ : state) benchmark::DoNotOptimize(app::store::save(folder / "progress.json", progress).saved);
  std::filesystem::remove_all(folder);
}
BENCHMARK(store_save_progress)->Unit(benchmark::kMillisecond);
