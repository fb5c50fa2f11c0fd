#include "models/training/launch_queue.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

std::int64_t launch_ns(double seconds) { return std::llround(seconds * 1e9); }

void append(LaunchList& list, std::int32_t operation, std::int32_t layer) {
  const LaunchOperation& op = list.operations[static_cast<std::size_t>(operation)];
  const std::int64_t duration_ns = std::max<std::int64_t>(1, launch_ns(op.kernel_s));
  for (std::int64_t k = 0; k < op.kernels; ++k) {
    list.kernels.push_back({duration_ns, operation, layer});
    list.kernels_s += op.kernel_s;
  }
}

}  // namespace

const std::array<RecordedLaunches, 4>& recorded_launches() {
  static const std::array<RecordedLaunches, 4> all{{
      {"h100_qwen", "H100, Qwen 0.5B generating", "h100_qwen_infer_mem_pystack", 3.391e-6, 16.74e-6, 1.39e-6, 1.70e-6,
       111},
      {"h100_timesformer", "H100, TimeSformer training", "h100_timesformer_healthy", 5.26e-6, 40.981e-6, 1.49e-6,
       1.41e-6, 409},
      {"a100_dlrm", "A100, rank 3 of 8", "a100_rank3of8_async_cpu_to_gpu", 6e-6, 30e-6, 2e-6, 2e-6, 288},
      {"v100_resnet", "V100, ResNet-50 training", "k2021_resnet50_v100_mem.pt.trace", 9e-6, 39e-6, 3e-6, 1e-6, 569},
  }};
  return all;
}

std::int64_t eager_kernels(const LayerOperation& op, const Architecture& architecture) {
  constexpr std::int64_t rms_norm = 8, rotation = 10, static_cache = 2;
  if (op.group == OperationGroup::norm) return architecture.norm_bias ? 1 : rms_norm;
  if (op.name == "rope") return rotation;
  if (op.name == "cache write") return static_cache;
  return 1;
}

Result<LaunchList> launch_list(const Architecture& architecture, Workload workload, const Machine& machine,
                               bool compiled, double least_kernel_s) {
  using Out = Result<LaunchList>;
  if (workload.phase == Phase::train)
    return Out::fail(
        "A training step is launched forward and backward: choose prefill or decode here, or open the step trace.");
  workload.fused_elementwise = compiled;
  if (std::string why = workload_problem(workload); !why.empty()) return Out::fail(std::move(why));
  if (!(machine.peak_flops_per_s > 0 && machine.bandwidth_bytes_per_s > 0))
    return Out::fail("The chip states no peak or no bandwidth for this format.");
  LaunchList list;
  const std::vector<LayerOperation> operations = model_operations(architecture, workload);
  const auto add = [&](const LayerOperation& op) {
    const std::int64_t kernels = compiled ? 1 : eager_kernels(op, architecture);
    // Each of an operation's element-wise kernels reads and writes what the fused one does; products have one kernel,
    // and of the cache's two each writes its half.
    const double parts = op.name == "cache write" ? static_cast<double>(kernels) : 1;
    const double s = std::max(op.forward.flops / machine.peak_flops_per_s,
                              op.forward.bytes() / parts / machine.bandwidth_bytes_per_s);
    list.operations.push_back({op.name, kernels, op.count, std::max(s, least_kernel_s), op.group});
  };
  std::size_t i = 0;
  while (i < operations.size()) {
    // Operations of one kind of layer stand together and run layer by layer.
    std::size_t end = i + 1;
    while (end < operations.size() && operations[end].layer == operations[i].layer) ++end;
    const auto first = static_cast<std::int32_t>(list.operations.size());
    for (std::size_t k = i; k < end; ++k) add(operations[k]);
    const bool layers = operations[i].layer != "embedding" && operations[i].layer != "output";
    const std::int64_t repeats = layers ? operations[i].count : 1;
    if (static_cast<double>(list.kernels.size()) + static_cast<double>(repeats) * 64 > 1e6)
      return Out::fail("The model has more kernels than can be shown.");
    for (std::int64_t r = 0; r < repeats; ++r) {
      if (layers) ++list.layers;
      for (auto k = first; k < static_cast<std::int32_t>(list.operations.size()); ++k)
        append(list, k,
               layers ? static_cast<std::int32_t>(list.layers)
                      : static_cast<std::int32_t>(list.layers > 0 ? list.layers + 1 : 0));
    }
    i = end;
  }
  if (list.kernels.empty()) return Out::fail("The model runs no kernel here.");
  return Out::ok(std::move(list));
}

LaunchRun run_launches(const LaunchList& list, const LaunchHost& host, LaunchMode mode, LaunchSync sync) {
  const bool graph = mode == LaunchMode::graph || mode == LaunchMode::compiled_graph;
  // Inside a graph nobody can wait for a layer.
  const bool waits_in_layers = sync == LaunchSync::layer && !graph;
  const std::int64_t launch = launch_ns(graph ? host.graph_launch_s : host.launch_s),
                     latency = launch_ns(host.latency_s),
                     between = launch_ns(graph ? host.graph_between_s : host.between_s);
  constexpr int steps = 3;
  LaunchRun out;
  const std::size_t n = list.kernels.size(), depth = static_cast<std::size_t>(host.queue_depth);
  const LaunchKernel* const kernels = list.kernels.data();
  std::vector<LaunchEvent> last, now(n);
  std::int64_t host_ns = 0, free_ns = 0;
  for (int step = 0; step < steps; ++step) {
    LaunchEvent* const events = now.data();
    const LaunchEvent* const before = last.empty() ? nullptr : last.data();
    const std::int64_t origin_ns = free_ns;
    std::int64_t between_ns = 0, host_wait_ns = 0, busy_ns = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!graph) {  // room in the queue: the kernel `depth` before has begun
        if (i >= depth)
          host_ns = std::max(host_ns, events[i - depth].start_ns);
        else if (before && i + n >= depth)
          host_ns = std::max(host_ns, before[i + n - depth].start_ns);
      }
      const bool calls = !graph || i == 0, first_ever = step == 0 && i == 0;
      const std::int64_t called_ns = calls ? host_ns : events[0].called_ns;
      if (calls) host_ns += launch;
      const std::int64_t returned_ns = called_ns + launch, queued_ns = first_ever ? 0 : free_ns + between;
      const std::int64_t start_ns = std::max(queued_ns, returned_ns + latency), gap = start_ns - free_ns,
                         own = std::min(gap, first_ever ? 0 : between), end_ns = start_ns + kernels[i].duration_ns;
      between_ns += own;
      host_wait_ns += gap - own;
      busy_ns += kernels[i].duration_ns;
      free_ns = end_ns;
      events[i] = {called_ns, returned_ns, start_ns, end_ns, static_cast<std::int32_t>(i)};
      if (waits_in_layers && i + 1 < n && kernels[i + 1].layer != kernels[i].layer)
        host_ns = std::max(host_ns, end_ns + latency);
    }
    if (sync != LaunchSync::none) host_ns = std::max(host_ns, free_ns + latency);
    const std::int64_t launches = graph ? 1 : static_cast<std::int64_t>(n);
    out = {.origin_ns = origin_ns,
           .end_ns = free_ns,
           .busy_ns = busy_ns,
           .host_wait_ns = host_wait_ns,
           .between_ns = between_ns,
           .host_ns = launches * launch,
           .launches = launches};
    std::swap(last, now);
    now.resize(n);
  }
  out.events = std::move(last);
  // Launched and not begun: starts come in the order of launches.
  std::size_t begun = 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (begun < i && out.events[begun].start_ns <= out.events[i].returned_ns) ++begun;
    out.most_queued = std::max(out.most_queued, static_cast<std::int64_t>(i - begun + 1));
  }
  return out;
}

std::vector<DryStretch> dry_stretches(const LaunchList& list, const LaunchRun& run, const LaunchHost& host,
                                      LaunchMode mode, std::int32_t last_layer) {
  const bool graph = mode == LaunchMode::graph || mode == LaunchMode::compiled_graph;
  const std::int64_t between = launch_ns(graph ? host.graph_between_s : host.between_s);
  std::vector<DryStretch> out;
  std::int64_t free_ns = run.origin_ns;
  bool dry = false;
  for (const LaunchEvent& e : run.events) {
    if (list.kernels[static_cast<std::size_t>(e.kernel)].layer > last_layer) break;
    const std::int64_t gap = e.start_ns - free_ns;
    const std::int32_t operation = list.kernels[static_cast<std::size_t>(e.kernel)].operation;
    const OperationGroup group = list.operations[static_cast<std::size_t>(operation)].group;
    if (gap > between) {
      if (!dry || out.back().group != group) out.push_back({.begin_ns = free_ns, .group = group});
      out.back().end_ns = e.end_ns;
      out.back().idle_ns += gap;
      ++out.back().kernels;
    }
    dry = gap > between;
    free_ns = e.end_ns;
  }
  return out;
}

std::vector<std::int64_t> layer_ends(const LaunchList& list, const LaunchRun& run) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(std::max<std::int64_t>(0, list.layers)), run.origin_ns);
  for (const LaunchEvent& e : run.events) {
    const std::int32_t layer = list.kernels[static_cast<std::size_t>(e.kernel)].layer;
    if (layer >= 1 && layer <= list.layers) out[static_cast<std::size_t>(layer - 1)] = e.end_ns;
  }
  return out;
}

Result<std::int64_t> batch_without_launch_cost(const Architecture& architecture, const Workload& workload,
                                               const Machine& machine, const LaunchHost& host, bool compiled,
                                               double least_kernel_s) {
  using Out = Result<std::int64_t>;
  constexpr std::int64_t most = 65536;
  std::string error;
  const auto covered = [&](std::int64_t batch) {
    Workload w = workload;
    w.batch = batch;
    const auto list = launch_list(architecture, w, machine, compiled, least_kernel_s);
    if (!list) {
      error = list.error;
      return true;
    }
    const auto n = static_cast<double>(list->kernels.size());
    return list->kernels_s + n * host.between_s >= n * host.launch_s;
  };
  if (covered(1)) return error.empty() ? Out::ok(1) : Out::fail(error);
  if (!covered(most)) return Out::ok(0);
  std::int64_t low = 1, high = most;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (covered(middle) ? high : low) = middle;
  }
  return error.empty() ? Out::ok(high) : Out::fail(error);
}

}  // namespace models
