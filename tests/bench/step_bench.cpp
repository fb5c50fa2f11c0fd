// What the step simulation promises: a recording of five steps of a job of 64 GPUs in 20 ms.
#include <benchmark/benchmark.h>

#include "models/training/step_simulation.h"

namespace bench {
namespace {

void steps_of_64_gpus(benchmark::State& state) {
  models::StepSetup setup;
  setup.ranks = 64;
  setup.kernels_per_layer = 1;
  setup.optimizer = models::OptimizerCode::fused;
  setup.loader.workers = 2;
  double events = 0;
  for (auto _ : state) {
    const auto run =
        models::simulate_steps(setup, {.steps = 5, .record_traces = true, .simulated_ranks = 64, .rank_spread = 0.05});
    events = 0;
    for (const auto& trace : run->traces) events += static_cast<double>(trace.events.size());
    benchmark::DoNotOptimize(run->steps.back().end_ns);
  }
  state.counters["events"] = events;
}
BENCHMARK(steps_of_64_gpus)->Name("training/steps_of_64_gpus")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench
