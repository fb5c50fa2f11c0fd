// What the planner promises: at least half a million plans a second on one core, so that a cluster of 16,384 GPUs
// answers while a slider moves.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

#include "models/parallel/planner/planner_search.h"
#include "models/transformer/language_model.h"
#include "tests/support/base/paths.h"

namespace bench {
namespace {

using namespace models;
using namespace models::parallel;

std::string asset_text(const std::string& path) {
  std::ifstream file(support::source_file(path));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

PlannerJob planner_bench_job(const char* file, std::string_view model, std::int64_t gpus, std::int64_t batch,
                             StackId stack) {
  PlannerJob job;
  const auto all = parse_language_models(asset_text("assets/models/" + std::string(file) + ".json"), file);
  for (const LanguageModel& m : *all)
    if (m.id == model) job.architecture = m.architecture;
  const auto chips = parse_chips(asset_text("assets/hardware/nvidia.json"), "nvidia");
  for (const Chip& c : *chips)
    if (c.id == "h100_sxm") job.cluster = *planner_cluster(c, {.gpus = gpus}, Format::bf16);
  job.stack = planner_stack(stack);
  job.global_batch = batch;
  job.sequence = 8192;
  return job;
}

void search(benchmark::State& state, const char* file, std::string_view model, std::int64_t gpus, std::int64_t batch,
            StackId stack = StackId::megatron_core) {
  const PlannerJob job = planner_bench_job(file, model, gpus, batch, stack);
  double plans = 0;
  for (auto _ : state) {
    const PlannerSearch found = search_plans(job, {});
    benchmark::DoNotOptimize(found.fitting);
    plans += static_cast<double>(found.points.size());
  }
  state.counters["plans/s"] = benchmark::Counter(plans, benchmark::Counter::kIsRate);
  state.counters["plans"] = plans / static_cast<double>(state.iterations());
}

void planner_70b(benchmark::State& state) { search(state, "llama", "llama-3-70b", 1024, 256); }
void planner_405b(benchmark::State& state) { search(state, "llama", "llama-3.1-405b", 16384, 2048); }
void planner_v3(benchmark::State& state) { search(state, "deepseek", "deepseek-v3", 2048, 15360); }
// Orders that are run for their bubble, DualPipe and DualPipe-V, from nothing in every search.
void planner_v3_dualpipe(benchmark::State& state) {
  search(state, "deepseek", "deepseek-v3", 2048, 15360, StackId::deepseek);
}
BENCHMARK(planner_70b)->Name("planner/llama_3_70b_1024_gpus")->Unit(benchmark::kMillisecond);
BENCHMARK(planner_405b)->Name("planner/llama_3_405b_16384_gpus")->Unit(benchmark::kMillisecond);
BENCHMARK(planner_v3)->Name("planner/deepseek_v3_2048_gpus")->Unit(benchmark::kMillisecond);
BENCHMARK(planner_v3_dualpipe)->Name("planner/deepseek_v3_2048_gpus_dualpipe")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench
