// A million allocator events a second on one core: replays of generated lists.
#include <benchmark/benchmark.h>

#include "models/memory/allocator_replay.h"
#include "models/memory/allocator_workload.h"

namespace bench {
namespace {

void replay_list(benchmark::State& state) {
  using namespace models::memory;
  const AllocatorProgram program = make_allocator_program(
      {.workload = static_cast<AllocatorWorkload>(state.range(0)), .batch = 32, .steps = 40, .longest = 8192});
  AllocatorConfig config;
  config.capacity_bytes = 1024 * gib;
  config.expandable_segments = state.range(1) != 0;
  double events = 0;
  for (auto _ : state) {
    const AllocatorRun run = replay_allocator(program.list, config);
    events += static_cast<double>(run.events);
    benchmark::DoNotOptimize(run.figures.reserved_large_bytes);
  }
  state.counters["events"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}
BENCHMARK(replay_list)->Name("allocator/replay")->ArgsProduct({{0, 1, 2, 4}, {0, 1}})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench
