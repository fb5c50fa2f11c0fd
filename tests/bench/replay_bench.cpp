#include <benchmark/benchmark.h>

#include <stdexcept>

#include "models/trace/replay/recorded_job.h"
#include "tests/bench/training_trace.h"

// A recording becomes a job and is run again. Items are events of the recording, and tasks of the job.
namespace {

struct Recorded {
  models::trace::Trace trace;
  models::trace::Metrics metrics;
  std::vector<models::trace::RecordedRank> ranks;

  explicit Recorded(std::int64_t events)
      : trace(std::move(*models::trace::read_trace(bench::training_trace(events), "bench"))),
        metrics(models::trace::measure(trace)) {
    for (const auto& d : metrics.devices) ranks.push_back({&trace, d.device, metrics.steps});
  }
};

void replay_graph(benchmark::State& state) {
  const Recorded r(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(models::trace::recorded_job(r.ranks).value->fit.explained);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(replay_graph)->Arg(30'000)->Arg(999'999)->Unit(benchmark::kMillisecond);

void replay_run(benchmark::State& state) {
  const Recorded r(state.range(0));
  const auto job = models::trace::recorded_job(r.ranks);
  if (!job) throw std::runtime_error(job.error);
  models::trace::JobTimes times;
  for (auto _ : state) {
    job->replay->run({}, times);
    benchmark::DoNotOptimize(times.length_ns);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(job->replay->graph().tasks.size()));
}
BENCHMARK(replay_run)->Arg(30'000)->Arg(999'999)->Unit(benchmark::kMillisecond);

}  // namespace
