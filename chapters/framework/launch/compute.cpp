#include <algorithm>
#include <limits>

#include "chapters/described/step_choices.h"
#include "chapters/framework/launch/lab.h"
#include "chapters/mechanism/catalog.h"

namespace chapters::framework::launch {

models::Result<Asked> asked_of(const Inputs& in) {
  using Out = models::Result<Asked>;
  const auto model = find_model(in.model);
  if (!model) return Out::fail(model.error);
  const auto chip = find_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  // What is known to be programmed otherwise; a chip of one's own counts as one with a queue of launches.
  for (const std::string_view vendor : {"Google", "AWS", "Intel"})
    if ((*chip)->vendor == vendor)
      return Out::fail("The " + (*chip)->name +
                       " runs programs that are compiled whole, and no kernels that a host launches one by one: choose "
                       "an NVIDIA or an AMD GPU.");
  const auto machine = models::machine_of(**chip, models::Format::bf16);
  if (!machine) return Out::fail(machine.error + ".");
  Asked out;
  out.architecture = &(*model)->architecture;
  out.model = (*model)->name;
  out.chip = (*chip)->name;
  out.hip = (*chip)->vendor == "AMD";
  out.machine = *machine;
  out.machine.peak_flops_per_s *= in.reached;
  out.machine.bandwidth_bytes_per_s *= in.reached;
  out.workload.phase = in.phase;
  out.workload.batch = in.batch;
  out.workload.sequence = in.sequence;
  out.workload.context = in.context;
  out.host = {.launch_s = in.launch_s, .latency_s = in.latency_s, .between_s = in.between_s};
  if (in.host != Host::own) {
    const models::RecordedLaunches& r = models::recorded_launches()[static_cast<std::size_t>(in.host)];
    out.host = {.launch_s = r.interval_s, .latency_s = r.latency_s, .between_s = r.between_s};
  }
  out.host.graph_launch_s = in.graph_launch_s;
  out.host.graph_between_s = in.graph_between_s;
  out.host.queue_depth = in.queue_depth;
  return Out::ok(std::move(out));
}

models::Result<ModeRun> run_mode(const Inputs& in, const Asked& asked, models::LaunchMode mode, models::LaunchSync sync,
                                 double faster) {
  const bool compiled = mode == models::LaunchMode::compiled || mode == models::LaunchMode::compiled_graph;
  auto list = models::launch_list(*asked.architecture, asked.workload, asked.machine, compiled, in.least_kernel_s);
  if (!list) return models::Result<ModeRun>::fail(list.error);
  for (models::LaunchKernel& k : list->kernels)
    k.duration_ns = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(k.duration_ns) / faster));
  ModeRun out;
  out.run = models::run_launches(*list, asked.host, mode, sync);
  out.list = std::move(*list);
  const auto period_ns = static_cast<double>(out.run.end_ns - out.run.origin_ns);
  out.step_s = period_ns * 1e-9;
  out.idle = 100 * static_cast<double>(out.run.host_wait_ns + out.run.between_ns) / period_ns;
  out.host_s = static_cast<double>(out.run.host_ns) * 1e-9;
  return models::Result<ModeRun>::ok(std::move(out));
}

bool one_mode(const Inputs& in) { return in.mode == in.beside && in.sync == in.beside_sync; }

std::string mode_name(models::LaunchMode mode, bool hip) {
  if (mode == models::LaunchMode::graph) return hip ? "HIP graph" : "CUDA graph";
  return launch_mode_choices()[static_cast<std::size_t>(mode)].label;
}

Outputs compute(const Inputs& in) {
  const auto asked = asked_of(in);
  if (!asked) return {.reason = asked.error};
  Outputs out;
  auto now = run_mode(in, *asked, in.mode, in.sync), beside = run_mode(in, *asked, in.beside, in.beside_sync);
  const auto twice = run_mode(in, *asked, in.mode, in.sync, 2);
  if (!now || !beside || !twice) {
    out.reason = !now ? now.error : !beside ? beside.error : twice.error;
    return out;
  }
  out.now = std::move(*now);
  out.beside = std::move(*beside);
  out.speedup = out.now.step_s / out.beside.step_s;
  out.twice = out.now.step_s / twice->step_s;
  out.kernels_s = static_cast<double>(out.now.run.busy_ns) * 1e-9;
  out.launch_s = asked->host.launch_s;
  out.host_bound = out.now.run.host_wait_ns > out.now.run.busy_ns + out.now.run.between_ns ||
                   out.now.host_s > out.kernels_s + static_cast<double>(out.now.run.between_ns) * 1e-9;
  out.tokens_per_s = models::new_tokens(asked->workload) / out.now.step_s;
  const auto step_s = [&](models::LaunchSync sync) {
    const models::LaunchRun run = models::run_launches(out.now.list, asked->host, in.mode, sync);
    return static_cast<double>(run.end_ns - run.origin_ns) * 1e-9;
  };
  const double never_s = step_s(models::LaunchSync::none);
  out.sync_step_s = step_s(models::LaunchSync::step) - never_s;
  out.sync_layer_s = step_s(models::LaunchSync::layer) - never_s;
  out.host_times = in.host == Host::own ? "your own" : "those of the recording";
  if (asked->hip) out.host_times += ", assumed for HIP";
  const bool compiled = in.mode == models::LaunchMode::compiled || in.mode == models::LaunchMode::compiled_graph;
  const auto batch = models::batch_without_launch_cost(*asked->architecture, asked->workload, asked->machine,
                                                       asked->host, compiled, in.least_kernel_s);
  const bool graph = in.mode == models::LaunchMode::graph || in.mode == models::LaunchMode::compiled_graph;
  out.free_batch = batch && *batch > 0 ? static_cast<double>(*batch) : std::numeric_limits<double>::quiet_NaN();
  // A graph has one launch, which any batch covers that runs longer than it.
  if (graph) out.free_batch = out.now.host_s <= out.kernels_s ? 1 : out.free_batch;
  std::int64_t in_layers = 0;
  for (const models::LaunchKernel& k : out.now.list.kernels) in_layers += k.layer > 0 && k.layer <= out.now.list.layers;
  out.kernels_a_layer =
      static_cast<double>(in_layers) / static_cast<double>(std::max<std::int64_t>(1, out.now.list.layers));
  for (const models::LaunchOperation& op : out.now.list.operations) {
    const auto all = static_cast<double>(op.kernels * op.count);
    out.operations.push_back(
        {op.name, op.kernels, op.count, op.kernel_s, graph ? 0 : all * out.launch_s, all * op.kernel_s});
  }
  for (const models::RecordedLaunches& r : models::recorded_launches())
    out.recorded.push_back({std::string(r.name), r.call_s, r.interval_s, r.latency_s, r.between_s, r.lead});
  return out;
}

}  // namespace chapters::framework::launch
