#include <algorithm>

#include "chapters/training/optimizer/lab.h"

namespace chapters::training::optimizer {
namespace {

using models::OptimizerKind;
using models::UpdateCode;

double bytes_of(const std::vector<models::OptimizerPass>& passes) {
  double sum = 0;
  for (const models::OptimizerPass& p : passes) sum += p.bytes();
  return sum;
}

CodeRun code_run(OptimizerKind kind, UpdateCode code, models::OptimizerRecipe recipe, models::TimedOptimizer time) {
  return {
      .kind = kind,
      .code = code,
      .passes = models::optimizer_passes(kind, code, recipe),
      .time = std::move(time),
      .temporary_bytes = models::optimizer_storage(kind, code, recipe).temporary_bytes,
  };
}

/// What every optimizer is timed with.
struct Setting {
  std::vector<models::ParameterTensor> tensors;
  models::OptimizerMachine machine;
  models::OptimizerRecipe recipe{};
  double shards = 1, width = 1;
  models::TimedOptimizer time(OptimizerKind kind, UpdateCode code) const {
    return models::time_optimizer(kind, code, recipe, tensors, shards, machine);
  }
};

/// The same model under every optimizer, written in every way that there is.
std::vector<ChoiceRow> every_choice(const Setting& setting, const Outputs& out) {
  std::vector<ChoiceRow> rows;
  for (int k = 0; k < models::optimizer_kind_count; ++k)
    for (int c = 0; c < models::update_code_count; ++c) {
      const auto kind = static_cast<OptimizerKind>(k);
      const auto code = static_cast<UpdateCode>(c);
      if (kind == OptimizerKind::adamw_8bit && code != UpdateCode::fused) continue;
      const models::OptimizerTime t = setting.time(kind, code);
      const std::string_view home = models::optimizer_home(kind, code);
      rows.push_back({
          .optimizer = kind_choices()[static_cast<std::size_t>(k)].label,
          .code = kind == OptimizerKind::adamw_8bit ? "a kernel per tensor"
                                                    : code_choices()[static_cast<std::size_t>(c)].label,
          .home = home.empty() ? "hypothetical" : std::string(home),
          .traffic_bytes = t.bytes * setting.shards / out.parameters,
          .state_bytes = models::mean_state_bytes(kind, setting.recipe, setting.tensors, setting.width),
          .time_s = t.time_s,
          .launches = t.launches,
          .step_share = 100 * t.time_s / (out.forward_backward_s + t.time_s),
      });
    }
  return rows;
}

/// The optimizer that is chosen, which takes `chosen` (and `fused` if it is fused), beside the one to compare it with.
std::shared_ptr<const Run> run_of(const Inputs& in, const Setting& setting, const models::TimedOptimizer& chosen,
                                  const models::TimedOptimizer& fused) {
  Run run;
  if (in.kind == OptimizerKind::adamw_8bit) {
    run.upper = code_run(OptimizerKind::adamw, UpdateCode::fused, in.recipe,
                         setting.time(OptimizerKind::adamw, UpdateCode::fused));
    run.lower = code_run(in.kind, in.code, in.recipe, chosen);
    run.chosen_lower = true;
  } else {
    run.chosen_lower = in.code == UpdateCode::fused;
    const UpdateCode code = run.chosen_lower ? UpdateCode::looped : in.code;
    run.upper = code_run(in.kind, code, in.recipe, run.chosen_lower ? setting.time(in.kind, code) : chosen);
    run.lower = code_run(in.kind, UpdateCode::fused, in.recipe, fused);
  }
  return std::make_shared<const Run>(std::move(run));
}

/// What one update reads and writes, and what a fused one would. A mean over the parameters: Muon's own passes are
/// those of matrices inside layers, the rest is AdamW's.
void fill_traffic(const Inputs& in, const Setting& setting, Outputs& out) {
  double in_matrices = out.parameters;
  if (in.kind == OptimizerKind::muon) {
    in_matrices = 0;
    for (const models::ParameterTensor& t : setting.tensors) in_matrices += t.side > 0 ? t.count * t.elements : 0;
  }
  const double share = in_matrices / out.parameters;
  const auto passes_of = [&](OptimizerKind kind, UpdateCode code) {
    return models::optimizer_passes(kind, code, in.recipe);
  };
  const auto passes = passes_of(in.kind, in.code), rest = passes_of(OptimizerKind::adamw, in.code);
  const auto add = [&](const std::vector<models::OptimizerPass>& some, double part) {
    for (const models::OptimizerPass& p : some) {
      out.read_bytes += part * p.read_bytes();
      out.write_bytes += part * p.write_bytes();
    }
  };
  add(passes, share);
  if (share < 1) add(rest, 1 - share);
  out.matrix_bytes = bytes_of(passes);
  out.vector_bytes = share < 1 ? bytes_of(rest) : out.matrix_bytes;
  out.passes_count = static_cast<double>(passes.size());
  out.traffic_bytes = out.read_bytes + out.write_bytes;
  out.fused_bytes = share * bytes_of(passes_of(in.kind, UpdateCode::fused)) +
                    (1 - share) * bytes_of(passes_of(OptimizerKind::adamw, UpdateCode::fused));
  out.traffic_ratio = out.traffic_bytes / out.fused_bytes;
}

/// What lies in memory for a parameter, and on each of the GPUs.
void fill_storage(const Inputs& in, const Setting& setting, Outputs& out) {
  const models::OptimizerStorage storage = models::optimizer_storage(in.kind, in.code, in.recipe);
  out.state_bytes = models::mean_state_bytes(in.kind, in.recipe, setting.tensors, setting.width);
  out.stored_bytes = storage.total() - storage.state_bytes + out.state_bytes;
  out.temporary_bytes = storage.temporary_bytes;
  out.chip_state_bytes = out.stored_bytes * out.parameters / setting.shards;
  out.chip_temporary_bytes = out.temporary_bytes * out.parameters / setting.shards;
}

/// The update's time, and its part of a step with `step_flops` of forward and backward passes.
void fill_times(const Inputs& in, const Setting& setting, const models::TimedOptimizer& chosen,
                const models::TimedOptimizer& fused, double step_flops, Outputs& out) {
  out.time = chosen;
  out.fused_time = fused;
  out.speedup = out.time.time_s / out.fused_time.time_s;
  out.over_adamw = out.time.time_s / setting.time(OptimizerKind::adamw, in.code).time_s;
  double products_s = 0;
  for (const models::OptimizerPassTime& p : chosen.passes) {
    out.launch_wait_s += p.launch_s;
    products_s += p.product_s;
  }
  out.product_time_share = 100 * products_s / out.time.time_s;
  out.forward_backward_s = step_flops / setting.machine.matrix_flops_per_s;
  out.product_share = 100 * out.time.flops / step_flops;
  out.step_s = out.forward_backward_s + out.time.time_s;
  out.step_share = 100 * out.time.time_s / out.step_s;
  out.step_speedup = out.step_s / (out.forward_backward_s + out.fused_time.time_s);
  // One multiplication or addition an operation and element, and a dozen in AdamW's one pass; Muon's products on top.
  constexpr double update_flops = 14;
  out.intensity = (out.time.flops + update_flops * out.parameters / setting.shards) / out.time.bytes;
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in) {
  Outputs out;
  const auto model = find_model(in.model);
  const auto chip = find_chip(in.chip);
  if (!model || !chip) {
    out.reason = !model ? model.error : chip.error;
    return {std::move(out)};
  }
  const models::Architecture& a = (*model)->architecture;
  const double peak = (*chip)->peak_flops_per_s(models::Format::bf16).value_or(0),
               bandwidth = (*chip)->memory_bandwidth_bytes_per_s;
  if (!(peak > 0) || !(bandwidth > 0)) {
    out.reason = (*chip)->name + " has no published BF16 peak or bandwidth: choose another chip.";
    return {std::move(out)};
  }
  const Setting setting{
      .tensors = models::parameter_tensors(a),
      .machine = {.bandwidth_bytes_per_s = bandwidth * in.roof_share,
                  .matrix_flops_per_s = peak * in.matrix_share,
                  .launch_s = in.launch_s},
      .recipe = in.recipe,
      .shards = static_cast<double>(in.shards),
      .width = static_cast<double>(a.hidden),
  };
  const models::ParameterCount count = models::count_parameters(a);
  out.parameters = static_cast<double>(count.total);
  for (const models::ParameterTensor& t : setting.tensors) out.tensors += t.count;
  fill_traffic(in, setting, out);
  fill_storage(in, setting, out);
  // Forward and backward: 6 FLOPs a parameter and token (Kaplan et al. 2020), without the input embedding and without
  // attention's products between positions.
  const models::TimedOptimizer chosen = setting.time(in.kind, in.code),
                               fused = setting.time(in.kind, UpdateCode::fused);
  fill_times(in, setting, chosen, fused, 6 * static_cast<double>(count.active_without_input_embedding) * in.tokens,
             out);
  out.ridge = peak / bandwidth;
  out.choices = every_choice(setting, out);
  return {std::move(out), run_of(in, setting, chosen, fused)};
}

}  // namespace chapters::training::optimizer
