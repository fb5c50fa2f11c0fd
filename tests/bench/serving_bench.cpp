// What issue-level targets say of the serving engine: two million scheduler events a second on one core.
#include <benchmark/benchmark.h>

#include "chapters/mechanism/catalog.h"
#include "models/serving/fleet/fleet.h"
#include "tests/bench/stage.h"

namespace bench {
namespace {

using models::ServingPolicy;

void simulate(benchmark::State& state, const std::vector<models::ServingRequest>& requests,
              const models::ServingSetup& setup) {
  double events = 0;
  for (auto _ : state) {
    const models::ServingRun run = models::simulate_serving(requests, setup);
    events += static_cast<double>(run.events);
    benchmark::DoNotOptimize(run.end_s);
  }
  state.counters["events"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}

void plain_queue(benchmark::State& state) {
  const auto requests =
      models::make_requests({.requests = 1'000'000, .rate_per_s = 0.8 * static_cast<double>(state.range(0))});
  simulate(state, requests, {.policy = ServingPolicy::single, .servers = state.range(0)});
}
BENCHMARK(plain_queue)->Name("serving/plain_queue")->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

void language_model(benchmark::State& state) {
  assets();
  const auto& catalog = chapters::catalog();
  const auto cost =
      models::serving_cost(catalog.model("llama-3-70b")->architecture, {.chip = catalog.chip("h100_sxm"), .chips = 8});
  const auto requests =
      models::make_requests({.requests = 200'000, .rate_per_s = static_cast<double>(state.range(1)) * 0.6});
  simulate(state, requests,
           {.policy = static_cast<ServingPolicy>(state.range(0)), .cost = &*cost, .slots = state.range(1)});
}
BENCHMARK(language_model)
    ->Name("serving/language_model")
    ->ArgsProduct({{static_cast<int>(ServingPolicy::fixed), static_cast<int>(ServingPolicy::continuous),
                    static_cast<int>(ServingPolicy::chunked)},
                   {8, 64}})
    ->Unit(benchmark::kMillisecond);

/// Each block is followed, with several answers to a prompt.
void followed(benchmark::State& state) {
  assets();
  const auto& catalog = chapters::catalog();
  const auto cost =
      models::serving_cost(catalog.model("llama-3-70b")->architecture, {.chip = catalog.chip("h100_sxm"), .chips = 8});
  const auto requests = models::make_requests({.requests = 20'000, .rate_per_s = 20});
  models::ServingSetup setup{.cost = &*cost, .slots = 64, .blocks = 1 << 16, .keeping = models::CacheKeeping::tables};
  setup.answers.count = static_cast<std::int32_t>(state.range(0));
  double tokens = 0;
  for (auto _ : state) {
    const models::ServingRun run = models::simulate_serving(requests, setup);
    tokens += static_cast<double>(run.answers.tokens);
    benchmark::DoNotOptimize(run.end_s);
  }
  state.counters["tokens"] = benchmark::Counter(tokens, benchmark::Counter::kIsRate);
}
BENCHMARK(followed)->Name("serving/followed")->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

/// A million requests before a fleet: eight replicas behind a router, or two and six in two pools.
void fleet(benchmark::State& state) {
  assets();
  const auto& catalog = chapters::catalog();
  const auto cost =
      models::serving_cost(catalog.model("llama-3-70b")->architecture, {.chip = catalog.chip("h100_sxm"), .chips = 8});
  const auto requests = models::make_requests({.requests = 1'000'000, .rate_per_s = 60});
  models::FleetSetup setup{
      .replica = {.policy = models::ServingPolicy::chunked, .cost = &*cost, .servers = 8, .slots = 64},
      .router = static_cast<models::FleetRouter>(state.range(0))};
  if (state.range(1) > 0) {
    setup.replica.servers = 6;
    setup.parting.prefill_replicas = 2;
  }
  double events = 0;
  for (auto _ : state) {
    const models::FleetRun run = models::simulate_fleet(requests, setup);
    events += static_cast<double>(run.events);
    benchmark::DoNotOptimize(run.end_s);
  }
  state.counters["events"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}
BENCHMARK(fleet)
    ->Name("serving/fleet")
    ->Args({static_cast<int>(models::FleetRouter::round_robin), 0})
    ->Args({static_cast<int>(models::FleetRouter::least_requests), 0})
    ->Args({static_cast<int>(models::FleetRouter::least_requests), 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench
