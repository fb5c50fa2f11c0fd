#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/framework/fusion/lab.h"
#include "models/machine/hardware.h"
#include "widgets/number/number.h"

namespace chapters::framework::fusion {
namespace {

namespace gpu = models::gpu;

constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();
constexpr double l2_bytes_a_clock = 35;  ///< of each SM: gpu-benches on A100 and H100 PCIe

std::string_view limit_words(const gpu::FusedKernel& k) {
  constexpr std::array<std::string_view, gpu::occupancy_limit_count> words{"warps", "registers", "shared memory",
                                                                           "blocks", "barriers"};
  return words[static_cast<std::size_t>(k.occupancy.limit)];
}

std::string run_name(const gpu::FusionChain& c, int first, int last) {
  const auto name = [&](int i) { return std::string(c.operations[static_cast<std::size_t>(i)].name); };
  return first == last ? name(first) : name(first) + " to " + name(last);
}

KernelRow row_of(const gpu::FusionChain& c, const gpu::FusedKernel& k) {
  return {.name = run_name(c, k.first, k.last),
          .kind = std::string(gpu::kernel_kind(c, {k.first, k.last})),
          .tile = std::to_string(k.tile_rows) + " x " + std::to_string(k.tile_columns),
          .waits = std::string(waits_for(k.bound)),
          .limit = std::string(limit_words(k)),
          .registers = k.registers,
          .spilled = k.spilled,
          .resident = k.occupancy.blocks,
          .shared_bytes = static_cast<double>(k.shared_bytes),
          .occupancy = 100 * k.occupancy.share,
          .bytes = k.bytes(),
          .l2_bytes = k.l2_bytes,
          .weight_reads = k.weight_reads,
          .repeats = k.repeats,
          .time_s = k.time_s};
}

void add_stages(const Inputs& in, const Asked& a, Outputs& out) {
  const gpu::FusionChain& c = a.chain;
  const auto runs = gpu::compiled_runs(c, 0, c.count() - 1, a.break_after, in.epilogues);
  out.buffers = gpu::plan_buffers(c, runs, in.backward);
  std::vector<gpu::OpRun> alone;
  for (int i = 0; i < c.count(); ++i) alone.push_back({i, i});
  out.alone_buffers = gpu::plan_buffers(c, alone, in.backward);
  out.graphs = a.break_after > 0 ? 2 : 1;
  std::int64_t folded = 0, libraries = 0;
  for (const gpu::OpRun& r : runs) {
    const std::string_view kind = gpu::kernel_kind(c, r);
    libraries += kind == "library product" || kind == "attention";
    folded += kind == "library product" && r.last > r.first;
  }
  out.stages = {
      {"eager", "kernels, one a box", c.count(), out.alone.bytes, out.alone.time_s},
      {"capture", out.graphs > 1 ? "graphs, cut by Python" : "graph of them all", out.graphs, no_figure, no_figure},
      {"rewrite", "biases folded in", folded, no_figure, no_figure},
      {"fuse", "kernels", static_cast<std::int64_t>(runs.size()), out.compiled_bytes, out.compiled_s},
      {"plan memory", "buffers, most alive", out.buffers.buffers, out.buffers.peak_bytes, no_figure},
      {"choose kernels", "from a library", libraries, no_figure, out.compiled_s},
  };
}

}  // namespace

std::string_view waits_for(gpu::KernelBound bound) {
  constexpr std::array<std::string_view, gpu::kernel_bound_count> words{"memory", "L2", "matrix units", "vector units",
                                                                        "latency"};
  return words[static_cast<std::size_t>(bound)];
}

models::Result<Asked> asked_of(const Inputs& in) {
  using Out = models::Result<Asked>;
  const auto chip = find_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  const models::Chip& c = **chip;
  const auto capability = gpu::capability_in(c.architecture);
  const gpu::SmLimits* sm = capability ? gpu::sm_limits(*capability) : nullptr;
  if (!sm)
    return Out::fail("The registers and shared memory of the " + c.name +
                     " follow other rules than those of NVIDIA's SMs since Volta: choose a V100, an A100 or an H100.");
  if (sm->capability >= 100 && sm->capability < 120)
    return Out::fail("The " + c.name +
                     " accumulates in tensor memory and not in registers, which is not modelled: choose a GPU up to "
                     "Hopper.");
  const auto matrix = c.peak_flops_per_s(models::Format::fp16), vector = c.peak_flops_per_s(models::Format::fp32);
  if (!matrix || !vector || !c.compute_units || !c.boost_clock_hz || !(c.memory_bandwidth_bytes_per_s > 0))
    return Out::fail("The " + c.name +
                     " states no FP16 or FP32 peak, clock, number of SMs or bandwidth: choose another chip.");
  if (in.cluster > 1 && sm->capability < 90)
    return Out::fail("Blocks of the " + c.name +
                     " cannot share a row, since clusters came with Hopper: set the cluster to 1 or choose an H100.");
  Asked a;
  a.memory = c.memory_type.empty() ? "memory" : c.memory_type;
  a.bandwidth_bytes_per_s = c.memory_bandwidth_bytes_per_s;
  a.chain = gpu::make_chain(in.chain, {.tokens = static_cast<double>(in.tokens),
                                       .width = static_cast<double>(in.width),
                                       .inner_ratio = in.inner_ratio,
                                       .heads = static_cast<double>(in.heads)});
  a.machine = {
      .sm = sm,
      .sms = *c.compute_units,
      .bandwidth_bytes_per_s = c.memory_bandwidth_bytes_per_s * in.roof_share,
      .l2_bytes_per_s = c.measured.l2_bytes_per_s.value_or(l2_bytes_a_clock * *c.compute_units * *c.boost_clock_hz),
      .l2_bytes = c.l2_bytes.value_or(0),
      .matrix_flops_per_s = *matrix * in.matrix_share,
      .vector_per_s = *vector / 2,
      .latency_s = in.latency_s,
      .start_s = in.start_s,
      .host_s = in.host_s,
      .break_s = in.break_s,
      .cluster = in.cluster,
      .l2_keeps = in.l2_keeps,
      .backward = in.backward,
  };
  const int end = a.chain.count() - 1;
  a.first = std::min(end, static_cast<int>(in.first) - 1);
  a.last = std::min(end, static_cast<int>(in.last) - 1);
  if (a.first > a.last) std::swap(a.first, a.last);
  a.break_after = in.break_after <= end ? static_cast<int>(in.break_after) : 0;
  return Out::ok(std::move(a));
}

models::Result<gpu::FusionPlan> plan_with(const Inputs& in, const Asked& a, int first, int last) {
  const int end = a.chain.count() - 1;
  std::vector<gpu::OpRun> runs;
  if (in.rest == Rest::alone) {
    runs = gpu::lasso(a.chain, first, last, a.break_after);
  } else if (first == last) {
    runs = gpu::compiled_runs(a.chain, 0, end, a.break_after, in.epilogues);
  } else {
    runs = gpu::compiled_runs(a.chain, 0, first - 1, a.break_after, in.epilogues);
    for (const gpu::OpRun& r : gpu::lasso(a.chain, first, last, a.break_after))
      if (r.first >= first && r.last <= last) runs.push_back(r);
    for (const gpu::OpRun& r : gpu::compiled_runs(a.chain, last + 1, end, a.break_after, in.epilogues))
      runs.push_back(r);
  }
  return gpu::price_plan(a.chain, runs, a.break_after > 0, a.machine);
}

Outputs compute(const Inputs& in) {
  const auto asked = asked_of(in);
  if (!asked) return {.reason = asked.error};
  Outputs out;
  const Asked& a = *asked;
  const int n = a.chain.count();
  Inputs none = in;
  none.rest = Rest::alone;
  auto plan = plan_with(in, a, a.first, a.last), alone = plan_with(none, a, 0, 0);
  const auto runs = gpu::compiled_runs(a.chain, 0, n - 1, a.break_after, in.epilogues);
  const auto compiled = gpu::price_plan(a.chain, runs, a.break_after > 0, a.machine);
  if (!plan || !alone || !compiled) {
    out.reason = !plan ? plan.error : !alone ? alone.error : compiled.error;
    return out;
  }
  out.plan = std::move(*plan);
  out.alone = std::move(*alone);
  out.time_s = out.plan.time_s;
  out.unfused_s = out.alone.time_s;
  out.saved_s = out.unfused_s - out.time_s;
  out.speedup = out.unfused_s / out.time_s;
  out.bytes = out.plan.bytes;
  out.bytes_s = out.bytes / a.machine.bandwidth_bytes_per_s;
  out.unfused_bytes = out.alone.bytes;
  out.saved_bytes = out.unfused_bytes - out.bytes;
  out.traffic_ratio = out.unfused_bytes / out.bytes;
  out.layers_bytes = out.saved_bytes * static_cast<double>(in.layers);
  out.kernels = static_cast<std::int64_t>(out.plan.kernels.size());
  out.unfused_kernels = static_cast<std::int64_t>(out.alone.kernels.size());
  out.trips = out.plan.trips;
  out.unfused_trips = out.alone.trips;
  for (const gpu::FusedKernel& k : out.plan.kernels) {
    if (k.first <= a.first && k.last >= a.first) out.lasso = k;
    out.kernel_rows.push_back(row_of(a.chain, k));
  }
  out.occupancy = 100 * out.lasso.occupancy.share;
  out.shared_bytes = static_cast<double>(out.lasso.shared_bytes);
  out.limit = limit_words(out.lasso);
  out.waits = waits_for(out.lasso.bound);
  const auto kernel_of = [&](int op) {
    for (std::size_t k = 0; k < out.plan.kernels.size(); ++k)
      if (op >= out.plan.kernels[k].first && op <= out.plan.kernels[k].last) return static_cast<int>(k);
    return -1;
  };
  for (const gpu::FusionTensor& t : a.chain.tensors) {
    if (t.producer < 0 || t.result) continue;
    out.intermediate_bytes = std::max(out.intermediate_bytes, t.bytes);
    const gpu::FusedKernel& k = out.plan.kernels[static_cast<std::size_t>(kernel_of(t.producer))];
    bool outside = in.backward && t.saved;
    for (int i = 0; i < n; ++i) {
      const auto& inputs = a.chain.operations[static_cast<std::size_t>(i)].inputs;
      const auto id = static_cast<int>(&t - a.chain.tensors.data());
      outside = outside || (i > k.last && std::find(inputs.begin(), inputs.end(), id) != inputs.end());
    }
    if (!outside) out.never_bytes += t.bytes;
  }
  for (int i = 0; i < n; ++i) {
    const gpu::FusedKernel& k = out.alone.kernels[static_cast<std::size_t>(i)];
    out.boxes.push_back({.name = std::string(a.chain.operations[static_cast<std::size_t>(i)].name),
                         .waits = std::string(waits_for(k.bound)),
                         .kernel = kernel_of(i) + 1,
                         .bytes = k.bytes(),
                         .time_s = k.time_s,
                         .registers = k.registers});
  }
  out.best_s = std::numeric_limits<double>::infinity();
  const auto run_s = [&](std::int64_t first, std::int64_t last) {
    for (const RunRow& r : out.runs)
      if (r.first == first && r.last == last) return r.time_s;
    return no_figure;
  };
  for (int first = 0; first < n; ++first)
    for (int last = first + 1; last < n; ++last) {
      const auto p = plan_with(in, a, first, last);
      out.runs.push_back({first + 1, last + 1, p ? p->time_s : no_figure, p ? p->bytes : no_figure});
      if (!p || p->time_s >= out.best_s) continue;
      out.best_s = p->time_s;
      out.best_first = first + 1;
      out.best_last = last + 1;
    }
  out.next_s = run_s(a.first + 1, a.last + 2);
  out.best_next_s = run_s(out.best_first, out.best_last + 1);
  out.compiled_s = compiled->time_s;
  out.compiled_bytes = compiled->bytes;
  out.compiled_kernels = static_cast<std::int64_t>(compiled->kernels.size());
  add_stages(in, a, out);
  return out;
}

}  // namespace chapters::framework::fusion
