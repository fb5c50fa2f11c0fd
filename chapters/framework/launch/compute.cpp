#include <algorithm>
#include <limits>

#include "chapters/described/step_choices.h"
#include "chapters/framework/launch/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/transformer/step_time.h"
#include "widgets/number/number.h"

namespace chapters::framework::launch {
namespace {

/// What the inputs name, as the model takes it.
struct Asked {
  const models::Architecture* architecture = nullptr;
  bool hip = false;  ///< an AMD GPU: graphs are HIP's, and the host's times are assumed
  models::Machine machine;
  models::Workload workload;
  models::LaunchHost host;
};

bool is_compiled(models::LaunchMode mode) {
  return mode == models::LaunchMode::compiled || mode == models::LaunchMode::compiled_graph;
}

models::Result<Asked> asked_of(const Inputs& in) {
  using Out = models::Result<Asked>;
  const auto model = find_model(in.model);
  if (!model) return Out::fail(model.error);
  const auto chip = find_launched_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  const auto machine = models::machine_of(**chip, models::Format::bf16);
  if (!machine) return Out::fail(machine.error);
  Asked out;
  out.architecture = &(*model)->architecture;
  if (const double weights = models::resident_bytes(*out.architecture, {}).weights; weights > (*chip)->memory_bytes)
    return Out::fail("The weights take " + widgets::format_text(weights, "B") + ", and the " + (*chip)->name + " has " +
                     widgets::format_text((*chip)->memory_bytes, "B") + ": choose a smaller model or a larger chip.");
  if (out.architecture->moe.routed > 0 && !(is_compiled(in.mode) && is_compiled(in.beside)))
    return Out::fail(
        "Without a compiler a layer of experts is a loop with a synchronisation, whose launches depend on the tokens "
        "and are not counted here: choose compiled modes for both, or a model without experts.");
  out.hip = (*chip)->vendor == "AMD";
  out.machine = *machine;
  out.machine.peak_flops_per_s *= in.reached;
  out.machine.bandwidth_bytes_per_s *= in.reached;
  out.workload.phase = phase_of(in.phase);
  out.workload.batch = in.batch;
  out.workload.sequence = in.sequence;
  out.workload.context = in.context;
  out.host = host_of(in.launching);
  out.host.queue_depth = in.queue_depth;
  return Out::ok(std::move(out));
}

double period_of(const models::LaunchRun& run) { return static_cast<double>(run.end_ns - run.origin_ns) * 1e-9; }

ModeFigures figures_of(const models::LaunchRun& run) {
  return {.step_s = period_of(run),
          .idle = 100 * static_cast<double>(run.host_wait_ns + run.between_ns) /
                  static_cast<double>(run.end_ns - run.origin_ns),
          .host_s = static_cast<double>(run.host_ns) * 1e-9,
          .launches = run.launches,
          .most_queued = run.most_queued};
}

models::Result<models::LaunchList> list_of(const Inputs& in, const Asked& asked, models::LaunchMode mode) {
  return models::launch_list(*asked.architecture, asked.workload, asked.machine, is_compiled(mode),
                             in.launching.least_kernel_s);
}

/// The same kernels on a GPU that is twice as fast.
void halve_times(models::LaunchList& list) {
  for (models::LaunchKernel& k : list.kernels) k.duration_ns = std::max<std::int64_t>(1, k.duration_ns / 2);
}

ModeRun run_mode(models::LaunchList list, const Asked& asked, models::LaunchMode mode, models::LaunchSync sync) {
  ModeRun out{.list = std::move(list)};
  out.run = models::run_launches(out.list, asked.host, mode, sync);
  out.figures = figures_of(out.run);
  return out;
}

/// What waiting adds to a step in which the host never waits.
void fill_waits(const Inputs& in, const Run& run, Outputs& out) {
  const auto step_s = [&](models::LaunchSync sync) {
    return sync == in.sync ? out.now.step_s : period_of(models::run_launches(run.now.list, run.host, in.mode, sync));
  };
  const double never_s = step_s(models::LaunchSync::none);
  out.sync_step_s = step_s(models::LaunchSync::step) - never_s;
  out.sync_layer_s = step_s(models::LaunchSync::layer) - never_s;
}

void fill_operations(const Run& run, bool graph, Outputs& out) {
  const models::LaunchList& list = run.now.list;
  std::int64_t in_layers = 0;
  for (const models::LaunchKernel& k : list.kernels) in_layers += k.layer > 0 && k.layer <= list.layers;
  out.kernels_a_layer = static_cast<double>(in_layers) / static_cast<double>(std::max<std::int64_t>(1, list.layers));
  for (const models::LaunchOperation& op : list.operations) {
    const auto all = static_cast<double>(op.kernels * op.count);
    out.operations.push_back(
        {op.name, op.kernels, op.count, op.kernel_s, graph ? 0 : all * out.launch_s, all * op.kernel_s});
  }
}

/// The steps of every power of two as a batch.
std::vector<BatchSteps> steps_over_batch(const Inputs& in, const Asked& asked) {
  std::vector<BatchSteps> steps;
  for (std::int64_t batch = 1; batch <= 512; batch *= 2) {
    Asked other = asked;
    other.workload.batch = batch;
    auto list = list_of(in, other, in.mode);
    if (!list) continue;
    BatchSteps at{.batch = static_cast<double>(batch)};
    const models::LaunchRun now = models::run_launches(*list, asked.host, in.mode, in.sync);
    at.now_s = period_of(now);
    at.host_s = figures_of(now).host_s;
    if (is_compiled(in.mode) == is_compiled(in.beside)) {
      at.beside_s = period_of(models::run_launches(*list, asked.host, in.beside, in.beside_sync));
    } else {
      const auto beside = list_of(in, other, in.beside);
      if (!beside) continue;
      at.beside_s = period_of(models::run_launches(*beside, asked.host, in.beside, in.beside_sync));
    }
    halve_times(*list);
    at.twice_s = period_of(models::run_launches(*list, asked.host, in.mode, in.sync));
    steps.push_back(at);
  }
  return steps;
}

}  // namespace

bool one_mode(const Inputs& in) { return in.mode == in.beside && in.sync == in.beside_sync; }

std::string mode_name(models::LaunchMode mode, bool hip) {
  if (mode == models::LaunchMode::graph) return hip ? "HIP graph" : "CUDA graph";
  return launch_mode_choices()[static_cast<std::size_t>(mode)].label;
}

Computed compute(const Inputs& in, Progress& progress) {
  const auto fail = [](std::string reason) { return Computed{.facts = {.reason = std::move(reason)}}; };
  const auto asked = asked_of(in);
  if (!asked) return fail(asked.error);
  auto list = list_of(in, *asked, in.mode), beside = list_of(in, *asked, in.beside);
  if (!list || !beside) return fail(!list ? list.error : beside.error);
  const auto run = std::make_shared<Run>();
  run->now = run_mode(*list, *asked, in.mode, in.sync);
  run->beside = run_mode(std::move(*beside), *asked, in.beside, in.beside_sync);
  halve_times(*list);
  run->twice = run_mode(std::move(*list), *asked, in.mode, in.sync);
  run->host = asked->host;
  run->hip = asked->hip;

  Outputs out;
  out.now = run->now.figures;
  out.beside = run->beside.figures;
  out.speedup = out.now.step_s / out.beside.step_s;
  out.twice = out.now.step_s / run->twice.figures.step_s;
  const models::LaunchRun& history = run->now.run;
  out.kernels_s = static_cast<double>(history.busy_ns) * 1e-9;
  out.launch_s = asked->host.launch_s;
  out.host_bound = history.host_wait_ns > history.busy_ns + history.between_ns ||
                   out.now.host_s > out.kernels_s + static_cast<double>(history.between_ns) * 1e-9;
  out.tokens_per_s = models::new_tokens(asked->workload) / out.now.step_s;
  fill_waits(in, *run, out);
  out.host_times = in.launching.host == LaunchedBy::own ? "your own" : "those of the recording";
  if (asked->hip) out.host_times += ", assumed for HIP";
  const auto batch = models::batch_without_launch_cost(*asked->architecture, asked->workload, asked->machine,
                                                       asked->host, is_compiled(in.mode), in.launching.least_kernel_s);
  const bool graph = in.mode == models::LaunchMode::graph || in.mode == models::LaunchMode::compiled_graph;
  out.free_batch = batch && *batch > 0 ? static_cast<double>(*batch) : std::numeric_limits<double>::quiet_NaN();
  // A graph has one launch, which any batch covers that runs longer than it.
  if (graph) out.free_batch = out.now.host_s <= out.kernels_s ? 1 : out.free_batch;
  fill_operations(*run, graph, out);
  for (const models::RecordedLaunches& r : models::recorded_launches())
    out.recorded.push_back({std::string(r.name), r.call_s, r.interval_s, r.latency_s, r.between_s, r.lead});
  if (!progress.facts_alone) run->steps = steps_over_batch(in, *asked);
  return {.facts = std::move(out), .run = run};
}

}  // namespace chapters::framework::launch
