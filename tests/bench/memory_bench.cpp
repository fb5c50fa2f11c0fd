#include <benchmark/benchmark.h>

#include "models/memory/step_timeline.h"
#include "tests/support/models/decoders.h"

namespace {

/// Llama 3.1 405B.
models::Architecture deep_model() { return support::decoder({16384, 126, 128, 8, 128, 53248, 128256}); }

constexpr models::Machine bench_chip{.peak_flops_per_s = 989.4e12, .bandwidth_bytes_per_s = 3.35e12};

// One step of 126 layers, every operation with what it allocates and frees.
void memory_timeline(benchmark::State& state) {
  const models::Architecture a = deep_model();
  models::memory::TimelineSetting s;
  s.plan = {.batch = 1, .sequence = 8192};
  s.layers = models::memory::first_layers(126, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(models::memory::step_timeline(a, s, bench_chip)->peak_bytes);
}
BENCHMARK(memory_timeline)->Name("memory/timeline_126_layers")->Arg(0)->Arg(126)->Unit(benchmark::kMillisecond);

// The best plan for every number of layers that run again.
void checkpoint_frontier(benchmark::State& state) {
  const auto setting =
      models::memory::checkpoint_setting(deep_model(), {.batch = 1, .sequence = 8192}, bench_chip, 0.7, 0);
  for (auto _ : state)
    benchmark::DoNotOptimize(models::memory::checkpoint_frontier(setting->layers, setting->ends).size());
}
BENCHMARK(checkpoint_frontier)->Name("memory/checkpoint_frontier_126_layers")->Unit(benchmark::kMillisecond);

}  // namespace
