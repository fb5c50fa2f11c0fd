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
constexpr double l2_bytes_a_clock = 35;  ///< what each SM gets: gpu-benches on A100 and H100 PCIe

std::string_view limit_words(const gpu::FusedKernel& k) {
  constexpr std::array<std::string_view, gpu::occupancy_limit_count> words{"warps", "registers", "shared memory",
                                                                           "blocks", "barriers"};
  return words[static_cast<std::size_t>(k.occupancy.limit)];
}

std::string run_name(const gpu::FusionChain& c, int first, int last) {
  const auto name = [&](int i) { return std::string(c.operations[static_cast<std::size_t>(i)].name); };
  return first == last ? name(first) : name(first) + " to " + name(last);
}

KernelRow row_of(const Asked& a, const gpu::FusionPlan& alone, const gpu::FusedKernel& k) {
  const gpu::FusionChain& c = a.chain;
  double apart_s = 0;
  for (int i = k.first; i <= k.last; ++i)
    apart_s += alone.kernels[static_cast<std::size_t>(i)].time_s + a.machine.start_s;
  return {.name = run_name(c, k.first, k.last),
          .kind = std::string(gpu::kernel_kind(c, {k.first, k.last})),
          .tile = std::to_string(k.tile_rows) + " × " + std::to_string(k.tile_columns),
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
          .time_s = k.time_s,
          .in_one_s = k.time_s + a.machine.start_s,
          .apart_s = apart_s};
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
      {"eager", "kernels, one a box", c.count(), out.unfused_bytes, out.unfused_s},
      {"capture", out.graphs > 1 ? "graphs, cut by Python" : "graph of them all", out.graphs, no_figure, no_figure},
      {"rewrite", "biases folded in", folded, no_figure, no_figure},
      {"fuse", "kernels", static_cast<std::int64_t>(runs.size()), out.compiled_bytes, out.compiled_s},
      {"plan memory", "buffers, most alive", out.buffers.buffers, out.buffers.peak_bytes, no_figure},
      {"choose kernels", "from a library", libraries, no_figure, out.compiled_s},
  };
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

/// The chain with one run fused, and the rest as the inputs say.
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

int kernel_at(const gpu::FusionPlan& plan, int op) {
  for (std::size_t k = 0; k < plan.kernels.size(); ++k)
    if (op >= plan.kernels[k].first && op <= plan.kernels[k].last) return static_cast<int>(k);
  return -1;
}

bool reads_tensor(const gpu::FusionChain& c, int tensor, int op) {
  const auto& in = c.operations[static_cast<std::size_t>(op)].inputs;
  return std::find(in.begin(), in.end(), tensor) != in.end();
}

/// What becomes of a tensor: it is written where a kernel other than its maker's needs it, or somebody outside.
TensorFate fate_of(const Asked& a, const gpu::FusionPlan& plan, int id, bool backward) {
  const gpu::FusionChain& c = a.chain;
  const gpu::FusionTensor& t = c.tensors[static_cast<std::size_t>(id)];
  const int maker = t.producer >= 0 ? kernel_at(plan, t.producer) : -1;
  bool outside = t.producer < 0 || t.result || (backward && t.saved);
  for (int i = 0; i < c.count(); ++i) outside = outside || (reads_tensor(c, id, i) && kernel_at(plan, i) != maker);
  TensorFate fate{.never = !outside};
  int last_kernel = -1;
  for (int i = 0; i < c.count(); ++i) {
    if (!reads_tensor(c, id, i)) continue;
    const int k = kernel_at(plan, i);
    if (k == last_kernel && !fate.never) continue;
    last_kernel = k;
    if (maker >= 0 && k == maker && !fate.never) continue;  // written for others, and read from registers here
    const int first = plan.kernels[static_cast<std::size_t>(k)].first;
    fate.reads.push_back({i, !fate.never && gpu::read_from_l2(c, id, first, a.machine)});
  }
  return fate;
}

/// The chain as it is set, beside the one in which nothing is fused.
void fill_chain(const Inputs& in, const Run& run, Outputs& out) {
  out.time_s = run.plan.time_s;
  out.unfused_s = run.alone.time_s;
  out.saved_s = out.unfused_s - out.time_s;
  out.speedup = out.unfused_s / out.time_s;
  out.bytes = run.plan.bytes;
  out.bytes_s = out.bytes / run.asked.machine.bandwidth_bytes_per_s;
  out.unfused_bytes = run.alone.bytes;
  out.saved_bytes = out.unfused_bytes - out.bytes;
  out.traffic_ratio = out.unfused_bytes / out.bytes;
  out.layers_bytes = out.saved_bytes * static_cast<double>(in.layers);
  out.kernels = static_cast<std::int64_t>(run.plan.kernels.size());
  out.unfused_kernels = static_cast<std::int64_t>(run.alone.kernels.size());
  out.trips = run.plan.trips;
  out.unfused_trips = run.alone.trips;
  out.launches_s = run.plan.host_s;
  out.device_s = run.plan.device_s;
  out.unfused_launches_s = run.alone.host_s;
  out.unfused_device_s = run.alone.device_s;
}

/// Kernels and boxes, and the kernel of the lasso's first box.
void fill_kernels(const Run& run, Outputs& out) {
  const Asked& a = run.asked;
  for (const gpu::FusedKernel& k : run.plan.kernels) {
    if (k.first <= a.first && k.last >= a.first) out.lasso = k;
    out.kernel_rows.push_back(row_of(a, run.alone, k));
  }
  out.occupancy = 100 * out.lasso.occupancy.share;
  out.shared_bytes = static_cast<double>(out.lasso.shared_bytes);
  out.limit = limit_words(out.lasso);
  out.waits = waits_for(out.lasso.bound);
  for (int i = 0; i < a.chain.count(); ++i) {
    const gpu::FusedKernel& k = run.alone.kernels[static_cast<std::size_t>(i)];
    out.boxes.push_back({.name = std::string(a.chain.operations[static_cast<std::size_t>(i)].name),
                         .waits = std::string(waits_for(k.bound)),
                         .kernel = kernel_at(run.plan, i) + 1,
                         .bytes = k.bytes(),
                         .time_s = k.time_s,
                         .registers = k.registers});
  }
}

/// The tensors between boxes.
void fill_tensors(const Inputs& in, Run& run, Outputs& out) {
  const gpu::FusionChain& c = run.asked.chain;
  for (int id = 0; id < static_cast<int>(c.tensors.size()); ++id) {
    const gpu::FusionTensor& t = c.tensors[static_cast<std::size_t>(id)];
    run.tensors.push_back(fate_of(run.asked, run.plan, id, in.backward));
    if (t.producer < 0 || t.result) continue;
    out.intermediate_bytes = std::max(out.intermediate_bytes, t.bytes);
    if (run.tensors.back().never) out.never_bytes += t.bytes;
  }
}

/// The chain with every run of boxes as one kernel, and the best of them.
void fill_runs(const Inputs& in, Run& run, Outputs& out) {
  const Asked& a = run.asked;
  const int n = a.chain.count();
  std::vector<gpu::FusionPlan> plans;  // in the order of out.runs
  out.best_s = std::numeric_limits<double>::infinity();
  for (int first = 0; first < n; ++first)
    for (int last = first + 1; last < n; ++last) {
      const bool set = first == a.first && last == a.last;
      auto p = set ? models::Result<gpu::FusionPlan>::ok(run.plan) : plan_with(in, a, first, last);
      out.runs.push_back({first + 1, last + 1, p ? p->time_s : no_figure, p ? p->bytes : no_figure});
      plans.push_back(p ? std::move(*p) : gpu::FusionPlan());
      if (!(out.runs.back().time_s < out.best_s)) continue;
      out.best_s = out.runs.back().time_s;
      out.best_first = first + 1;
      out.best_last = last + 1;
    }
  const auto take = [&](std::int64_t first, std::int64_t last, double& time_s, gpu::FusionPlan& plan) {
    time_s = no_figure;
    for (std::size_t i = 0; i < out.runs.size(); ++i)
      if (out.runs[i].first == first && out.runs[i].last == last) {
        time_s = out.runs[i].time_s;
        plan = plans[i];
      }
  };
  take(a.first + 1, a.last + 2, out.next_s, run.next);
  take(out.best_first, out.best_last + 1, out.best_next_s, run.best_next);
}

}  // namespace

std::string_view waits_for(gpu::KernelBound bound) {
  constexpr std::array<std::string_view, gpu::kernel_bound_count> words{"memory", "L2", "matrix units", "vector units",
                                                                        "latency"};
  return words[static_cast<std::size_t>(bound)];
}

Computed compute(const Inputs& in) {
  auto asked = asked_of(in);
  if (!asked) return {.facts = {.reason = asked.error}};
  const auto run = std::make_shared<Run>();
  run->asked = std::move(*asked);
  const Asked& a = run->asked;
  Inputs none = in;
  none.rest = Rest::alone;
  auto plan = plan_with(in, a, a.first, a.last), alone = plan_with(none, a, 0, 0);
  const auto runs = gpu::compiled_runs(a.chain, 0, a.chain.count() - 1, a.break_after, in.epilogues);
  const auto compiled = gpu::price_plan(a.chain, runs, a.break_after > 0, a.machine);
  if (!plan || !alone || !compiled)
    return {.facts = {.reason = !plan ? plan.error : !alone ? alone.error : compiled.error}};
  run->plan = std::move(*plan);
  run->alone = std::move(*alone);
  Outputs out;
  fill_chain(in, *run, out);
  fill_kernels(*run, out);
  fill_tensors(in, *run, out);
  fill_runs(in, *run, out);
  out.compiled_s = compiled->time_s;
  out.compiled_bytes = compiled->bytes;
  out.compiled_kernels = static_cast<std::int64_t>(compiled->kernels.size());
  add_stages(in, a, out);
  return {.facts = std::move(out), .run = run};
}

}  // namespace chapters::framework::fusion
