#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>
#include <string>

#include "models/base/json_text.h"

// A list of so many small objects, as a file of the person's own may hold: time that grows with its square would make
// the window wait for minutes.
static void json_failure_of_objects(benchmark::State& state) {
  std::string text = "[";
  for (int i = 0; i < state.range(0); ++i) text += i > 0 ? ",{}" : "{}";
  text += "]";
  for (auto _ : state) benchmark::DoNotOptimize(models::find_json_failure(text).kind);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(json_failure_of_objects)->Arg(10'000)->Arg(20'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

static void json_shallow_value_of_objects(benchmark::State& state) {
  std::string text = "{\"kept\": [";
  for (int i = 0; i < state.range(0); ++i) text += i > 0 ? ",{\"a\":[[1]]}" : "{}";
  text += "]}";
  for (auto _ : state) benchmark::DoNotOptimize(models::parse_shallow_json(text, 3).size());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(json_shallow_value_of_objects)->Arg(10'000)->Arg(20'000)->Unit(benchmark::kMillisecond);
