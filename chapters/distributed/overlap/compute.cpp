#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "chapters/distributed/overlap/lab.h"
#include "models/base/integer_math.h"
#include "models/transformer/layer_ops.h"
#include "widgets/number/number.h"

namespace chapters::distributed::overlap {
namespace {

using namespace models::parallel;

constexpr std::size_t most_rows = 1024;

/// Bandwidth of one direction between the chips of a node, or a sentence.
models::Result<double> inside_bytes_per_s(const models::Chip& chip) {
  using Out = models::Result<double>;
  if (chip.interconnect.bytes_per_s_per_direction) return Out::ok(*chip.interconnect.bytes_per_s_per_direction);
  if (chip.pcie_generation)
    if (const auto rate = models::pcie_bytes_per_s_per_direction(*chip.pcie_generation)) return Out::ok(*rate);
  return Out::fail("No link between chips is known for " + chip.name + ": choose another chip.");
}

std::string row_name(const OverlapTask& task, const OverlapWork& work) {
  if (task.kind == OverlapKind::all_gather) return "gather " + work.units[static_cast<std::size_t>(task.item)].name;
  if (task.kind == OverlapKind::reduce_scatter) return "reduce " + work.units[static_cast<std::size_t>(task.item)].name;
  return {};
}

void fill_rows(const Scenario& scenario, const Run& run, Outputs& out) {
  const bool ddp = scenario.setup.method == OverlapMethod::ddp;
  for (std::size_t i = 0; i < run.plan.tasks.size(); ++i) {
    const OverlapTask& task = run.plan.tasks[i];
    if (!is_network(task.kind)) continue;
    ++out.collectives;
    out.largest_bytes = std::max(out.largest_bytes, task.bytes);
    out.last_bytes = task.bytes;
    out.last_s = task.work_s;
    if (out.rows.size() >= most_rows) continue;
    CollectiveRow row{.what = row_name(task, run.work), .bytes = task.bytes};
    const auto item = static_cast<std::size_t>(task.item);
    if (task.kind == OverlapKind::all_reduce) {
      row.what = ddp ? "bucket " + std::to_string(item) : "replicas, " + run.work.units[item].name;
      if (ddp) row.tensors = static_cast<std::int64_t>(run.plan.buckets[item].last - run.plan.buckets[item].first);
    }
    for (const std::int32_t need : task.needs)
      if (need >= 0) row.ready_s = std::max(row.ready_s, run.run.end_s[static_cast<std::size_t>(need)]);
    row.start_s = run.run.start_s[i];
    row.end_s = run.run.end_s[i];
    row.waits_s = row.start_s - row.ready_s;
    out.rows.push_back(std::move(row));
  }
}

/// Where the compute stream waits: in the forward, in the backward, after it.
void fill_waits(const Run& run, Outputs& out) {
  double free_s = 0;
  for (std::size_t i = 0; i < run.plan.tasks.size(); ++i) {
    const OverlapKind kind = run.plan.tasks[i].kind;
    if (is_network(kind)) continue;
    const double waited_s = std::max(0.0, run.run.start_s[i] - free_s);
    (kind == OverlapKind::forward    ? out.forward_wait_s
     : kind == OverlapKind::backward ? out.backward_wait_s
                                     : out.tail_wait_s) += waited_s;
    free_s = run.run.end_s[i];
  }
}

/// The bucket, or with FSDP the layers a unit, of the shortest step that was tried.
void fill_best(const Scenario& scenario, const Run& run, const Inputs& in, Outputs& out) {
  if (scenario.setup.gpus < 2) return;
  const bool ddp = scenario.setup.method == OverlapMethod::ddp;
  double best_s = out.step.makespan_s, best = ddp ? in.bucket_bytes : models::as_double(in.layers_per_unit);
  for (std::size_t i = 0; i < run.sizes.at.size(); ++i) {
    if (!(run.sizes.step_s[i] < best_s * (1 - 1e-9))) continue;
    best_s = run.sizes.step_s[i];
    best = run.sizes.at[i];
  }
  (ddp ? out.best_bucket_bytes : out.best_unit_layers) = best;
  (ddp ? out.best_step_s : out.best_unit_step_s) = best_s;
  if (ddp) out.best_gain_s = out.step.makespan_s - best_s;
}

/// One layer of the middle: its forward, the gather of its weights, the reduction of its gradients.
void fill_layer(const Scenario& scenario, Outputs& out) {
  const OverlapUnit& unit = scenario.work.units[1];
  const OverlapSetup& s = scenario.setup;
  out.layer_forward_s = unit.forward_s;
  out.layer_gather_s = gather_time_s(s, unit.elements * s.weight_bytes);
  out.layer_reduce_s = s.method == OverlapMethod::ddp ? reduce_time_s(s, unit.elements * s.gradient_bytes)
                                                      : gather_time_s(s, unit.elements * s.gradient_bytes);
  const double exchanged_s = s.method == OverlapMethod::ddp ? out.layer_reduce_s : out.layer_gather_s;
  const double beside_s = s.method == OverlapMethod::ddp ? unit.backward_s : unit.forward_s;
  out.layer_ratio = exchanged_s > 0 ? beside_s / exchanged_s : std::numeric_limits<double>::quiet_NaN();
}

/// Tokens at which a layer of the middle is as long as its own collectives, each with its latency.
double balance_of(const Scenario& scenario, const OverlapPlan& plan) {
  const OverlapWork& work = scenario.work;
  const std::size_t middle = work.units.size() / 2;
  const bool ddp = scenario.setup.method == OverlapMethod::ddp;
  std::array<double, overlap_kind_count> network_s{};
  for (const OverlapTask& task : plan.tasks) {
    if (!is_network(task.kind)) continue;
    const auto item = static_cast<std::size_t>(task.item);
    double share = item == middle ? 1 : 0;
    if (ddp) {  // of a bucket that is of other layers too, the layer's part
      double of_middle = 0, of_all = 0;
      for (std::size_t i = plan.buckets[item].first; i < plan.buckets[item].last; ++i) {
        const double elements = models::as_double(work.tensors[i].elements);
        of_all += elements;
        if (static_cast<std::size_t>(work.tensors[i].unit) == middle) of_middle += elements;
      }
      share = of_all > 0 ? of_middle / of_all : 0;
    }
    network_s[static_cast<std::size_t>(task.kind)] += share * task.work_s;
  }
  const auto of = [&](OverlapKind kind) { return network_s[static_cast<std::size_t>(kind)]; };
  const double m = models::as_double(scenario.setup.micro_batches);
  if (ddp) return work.tokens * of(OverlapKind::all_reduce) / work.units[middle].backward_s;
  const bool twice = scenario.setup.reshard_after_forward;
  const double gather_s = of(OverlapKind::all_gather) / m / (twice ? 2 : 1);
  const double reduce_s = (of(OverlapKind::reduce_scatter) + of(OverlapKind::all_reduce)) / m;
  return work.tokens * std::max(gather_s / work.units[middle].forward_s,
                                ((twice ? gather_s : 0) + reduce_s) / work.units[middle].backward_s);
}

}  // namespace

models::Result<Scenario> read_scenario(const Inputs& in) {
  using Out = models::Result<Scenario>;
  const auto cluster = find_cluster(in.model, in.chip, in.network);
  if (!cluster) return Out::fail(cluster.error);
  const auto& [model, chip, network] = *cluster;
  const auto machine = models::machine_of(*chip, models::Format::bf16);
  if (!machine) return Out::fail(machine.error);
  const auto inside = inside_bytes_per_s(*chip);
  if (!inside) return Out::fail(inside.error);
  Scenario out;
  out.chip = chip;
  OverlapSetup& s = out.setup;
  const bool fsdp = in.method == OverlapMethod::fsdp;
  s.method = in.method;
  s.gradient_bytes = in.gradient_format == Summed::fp32 ? 4 : 2;
  s.bucket_bytes = in.bucket_bytes;
  s.first_bucket_bytes = in.first_bucket_bytes;
  s.beside_backward = in.beside_backward;
  s.reshard_after_forward = in.reshard_after_forward;
  s.forward_ahead = in.forward_ahead;
  s.backward_ahead = in.backward_ahead;
  s.gpus = in.gpus;
  s.micro_batches = in.micro_batches;
  s.gpus_per_node = in.gpus_per_node;
  s.shards = fsdp && in.hybrid ? in.shards : in.gpus;
  s.algorithm = in.algorithm;
  s.links = {*inside * in.inside_share / 100, network->bytes_per_s_per_direction * in.between_share / 100,
             in.inside_hop_s, in.between_hop_s, in.call_s};
  s.slowdown = in.slowdown / 100;
  if (const models::Status fit = check(s); !fit) return Out::fail(fit.error);
  models::memory::TrainingPlan plan;
  plan.recipe =
      in.gradient_format == Summed::fp32 ? models::memory::StateRecipe::fp32 : models::memory::StateRecipe::zero;
  plan.batch = in.batch;
  plan.sequence = in.sequence;
  plan.data = fsdp ? s.shards : s.gpus;
  plan.zero_stage = fsdp ? 3 : 0;
  plan.recompute = in.layers_again ? models::Recompute::full : models::Recompute::none;
  auto work = overlap_work(model->architecture, plan, *machine, in.roof_share);
  if (!work) return Out::fail(work.error);
  out.work = fsdp ? with_units_of(*work, in.layers_per_unit) : std::move(*work);
  out.reached_flops_per_s = machine->peak_flops_per_s * in.roof_share;
  if (out.work.state_bytes > out.chip->memory_bytes)
    return Out::fail("Weights, gradients and optimizer states take " + widgets::format_text(out.work.state_bytes, "B") +
                     " on each GPU, which has " + widgets::format_text(out.chip->memory_bytes, "B") +
                     (fsdp ? ": split them over more GPUs." : ": split them with FSDP."));
  return Out::ok(std::move(out));
}

OverlapRun step_of(const Scenario& scenario) {
  return run_overlap(overlap_plan(scenario.work, scenario.setup).tasks, scenario.setup.slowdown);
}

models::Result<SteppedScenario> run_scenario(const Scenario& scenario) {
  using Out = models::Result<SteppedScenario>;
  SteppedScenario out;
  out.plan = overlap_plan(scenario.work, scenario.setup);
  out.run = run_overlap(out.plan.tasks, scenario.setup.slowdown);
  out.held = held_weights(scenario.work, scenario.setup, out.plan, out.run);
  for (const HeldWeights& held : out.held) out.held_peak_bytes = std::max(out.held_peak_bytes, held.bytes);
  if (scenario.work.state_bytes + out.held_peak_bytes > scenario.chip->memory_bytes)
    return Out::fail("Gathered weights and whole gradients take " + widgets::format_text(out.held_peak_bytes, "B") +
                     " next to " + widgets::format_text(scenario.work.state_bytes, "B") + " of states on a GPU of " +
                     widgets::format_text(scenario.chip->memory_bytes, "B") +
                     ": reshard after the forward, gather fewer units ahead, or wrap fewer layers in one.");
  return Out::ok(std::move(out));
}

namespace {

void fill_shares(const Scenario& scenario, Outputs& out) {
  const double step_s = out.step.makespan_s;
  out.exposed_share = 100 * out.step.exposed_s / step_s;
  out.hidden_share = out.step.network_s > 0 ? 100 * (1 - std::min(1.0, out.step.exposed_s / out.step.network_s)) : 100;
  out.apart_s = out.step.compute_s + out.step.network_s;
  out.saved_s = out.apart_s - step_s;
  out.tokens_per_s = models::as_double(scenario.setup.micro_batches) * out.work.tokens / step_s;
  out.memory_bytes = out.work.state_bytes + out.held_peak_bytes;
}

/// What a GPU does next to what it does in the smaller cluster, %.
double scaling_percent(const Inputs& in, double step_s) {
  Inputs base = in;
  base.gpus = std::min(in.baseline_gpus, in.gpus);
  base.hybrid = in.hybrid && base.gpus % in.shards == 0;
  const auto fewer = read_scenario(base);
  const auto on_fewer = fewer ? run_scenario(*fewer) : models::Result<SteppedScenario>::fail(fewer.error);
  return on_fewer ? 100 * on_fewer->run.makespan_s / step_s : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, bool facts_alone) {
  const auto scenario = read_scenario(in);
  if (!scenario) return {.facts = {.reason = scenario.error}};
  auto stepped = run_scenario(*scenario);
  if (!stepped) return {.facts = {.reason = stepped.error}};
  Outputs out;
  Run run;
  run.plan = std::move(stepped->plan);
  run.run = std::move(stepped->run);
  run.held = std::move(stepped->held);
  run.work = scenario->work;
  out.step = run.run;
  out.work = run.work;
  out.sent_bytes = run.plan.sent_bytes;
  out.held_peak_bytes = stepped->held_peak_bytes;
  if (!(out.step.makespan_s > 0 && std::isfinite(out.step.makespan_s)))
    return {.facts = {.reason = "A step takes no time that can be told here: change the batch or the sequence."}};
  if (in.method == OverlapMethod::ddp)
    sweep_buckets(*scenario, run);
  else
    sweep_units(in, run);
  if (!facts_alone) sweep_inputs(in, run);
  fill_shares(*scenario, out);
  fill_waits(run, out);
  fill_rows(*scenario, run, out);
  fill_best(*scenario, run, in, out);
  fill_layer(*scenario, out);
  out.critical_tokens = critical_tokens(scenario->work, scenario->setup, scenario->reached_flops_per_s);
  out.balance_tokens = balance_of(*scenario, run.plan);
  out.scaling_percent = scaling_percent(in, out.step.makespan_s);
  return {.facts = std::move(out), .run = std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::distributed::overlap
