#include <benchmark/benchmark.h>

#include "models/compression/gptq.h"
#include "models/compression/method_study.h"
#include "models/compression/quantization_sample.h"

// GPTQ on a square layer: Cholesky, inverse, all columns; the Hessian is given. items: weights.
static void gptq_square(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const models::Layer layer = models::sample_layer({.inputs = n, .outputs = n, .tokens = 2 * n});
  const models::Matrix g = models::gram(layer.calibration);
  const models::GptqOptions options{
      .spec = {.format = models::QuantFormat::int4, .grain = models::QuantGrain::group, .group = 128}};
  for (auto _ : state) benchmark::DoNotOptimize(models::gptq(layer.weights, g, options)->bits_per_weight);
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(0));
}
BENCHMARK(gptq_square)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

static void inverse_root(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  models::Matrix g = models::gram(models::sample_layer({.inputs = n, .outputs = 1, .tokens = 2 * n}).calibration);
  for (auto _ : state) benchmark::DoNotOptimize(models::inverse_root(g)->rows);
}
BENCHMARK(inverse_root)->Arg(1024)->Unit(benchmark::kMillisecond);

static void round_to_nearest(benchmark::State& state) {
  const models::Matrix w = models::sample_weights({.rows = 1024, .cols = 1024});
  const models::QuantSpec spec{.format = static_cast<models::QuantFormat>(state.range(0)),
                               .grain = models::QuantGrain::group};
  for (auto _ : state) benchmark::DoNotOptimize(models::quantize(w, spec).bits_per_weight);
  state.SetItemsProcessed(state.iterations() * 1024 * 1024);
}
BENCHMARK(round_to_nearest)->Arg(3)->Arg(6)->Arg(7)->Unit(benchmark::kMillisecond);

// The whole study of the methods lab at its defaults.
static void methods_study(benchmark::State& state) {
  const models::Layer layer = models::sample_layer({.inputs = 64, .outputs = 32, .tokens = 160});
  for (auto _ : state)
    benchmark::DoNotOptimize(
        models::study_methods(layer, {.weights = {.grain = models::QuantGrain::group, .group = 32}})->awq_alpha);
}
BENCHMARK(methods_study)->Unit(benchmark::kMillisecond);
