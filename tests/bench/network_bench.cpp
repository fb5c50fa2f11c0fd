// The playground retrains while the learner waits: under two seconds on one core is the target, a tenth of that the
// habit.
#include <benchmark/benchmark.h>

#include "models/compression/small_network_study.h"
#include "tests/bench/stage.h"

namespace bench {
namespace {

void retrain(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(models::make_study(1, {})->front.size());
}
BENCHMARK(retrain)->Name("compression/playground_retrain")->Unit(benchmark::kMillisecond);

void compress_again(benchmark::State& state) {
  const auto study = models::make_study(1, {}, 1, false);
  const models::Plan plan{
      .pruning = models::Pruning::magnitude,
      .share = 0.6,
      .weights = {.bits = 4},
      .activation_bits = 8,
      .fine_tune = state.range(0) != 0,
  };
  for (auto _ : state)
    benchmark::DoNotOptimize(models::compress(study->networks[0], study->training, study->held_out, plan).accuracy);
}
BENCHMARK(compress_again)->Name("compression/playground_compress")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench
