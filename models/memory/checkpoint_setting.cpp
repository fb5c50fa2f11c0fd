#include <algorithm>

#include "models/base/integer_math.h"
#include "models/memory/checkpoint_plan.h"
#include "models/memory/layer_walk.h"
#include "models/memory/loss_peak.h"
#include "models/memory/operation_times.h"
#include "models/memory/state_bytes.h"

namespace models::memory {

std::vector<DropOption> drop_options(std::span<const LayerOperation> operations,
                                     std::span<const OperationMemory> memory, std::span<const double> forward_s) {
  std::vector<DropOption> options;
  std::size_t from = memory.size();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].saved <= 0) continue;
    if (from < memory.size()) {
      DropOption o{.operation = operations[i].name, .by = operations[from].name, .bytes = memory[i].saved};
      if (from + 1 < i) o.by += " to " + operations[i - 1].name;
      for (std::size_t j = from; j < i; ++j) o.time_s += forward_s[j];
      options.push_back(std::move(o));
    }
    from = i;
  }
  std::stable_sort(options.begin(), options.end(),
                   [](const DropOption& a, const DropOption& b) { return a.bytes_per_s() > b.bytes_per_s(); });
  return options;
}

namespace {

/// What the layers of a plan have in common, for their costs.
struct LayerSetting {
  const Architecture& architecture;
  const TrainingPlan& plan;
  double stream_bytes = 0;    ///< the residual stream of a rank
  double gradient_bytes = 0;  ///< a parameter's, where gradients are made layer by layer; else 0
  std::size_t dropped = 0;    ///< operations whose results a kept layer drops, at most
};

/// A layer of a kind, and in `drops` what it could drop.
LayerCost layer_cost(const LayerSetting& s, const KindTimes& kind, std::size_t index, std::vector<DropOption>& drops) {
  const auto memory = operation_memory(s.architecture, kind.operations, s.plan);
  const LayerMemory sum = layer_memory(s.architecture, kind.operations, s.plan);
  drops = drop_options(kind.operations, memory, kind.forward_s);
  LayerCost c{.saved = sum.saved, .kept = sum.saved, .selective = sum.kept(Recompute::selective)};
  c.checkpoint = sum.checkpoint;
  c.kind = index;
  for (std::size_t i = 0; i < std::min(s.dropped, drops.size()); ++i) {
    c.kept -= drops[i].bytes;
    c.kept_s += drops[i].time_s;
  }
  for (std::size_t i = 0; i < memory.size(); ++i) {
    c.forward_s += kind.forward_s[i];
    const std::string& name = kind.operations[i].name;
    if (name == "scores" || name == "softmax" || name == "values") c.selective_s += kind.forward_s[i];
    c.gradient += memory[i].weight_gradient * s.gradient_bytes;
  }
  HighestSum highest;
  highest.held(MemoryOwner::temporary, s.stream_bytes);
  walk_backward(memory, Recompute::none, MemoryOwner::activations,
                {.weight_gradients_pass = !gradients_come_late(s.plan) && !s.plan.fused_gradients,
                 .pass_bytes = workload_of(s.plan).activation_bytes},
                highest);
  c.backward = highest.highest;
  return c;
}

}  // namespace

Result<CheckpointSetting> checkpoint_setting(const Architecture& a, const TrainingPlan& p, const Machine& machine,
                                             double roof_share, std::size_t dropped) {
  using Outcome = Result<CheckpointSetting>;
  if (std::string problem = plan_problem(a, p); !problem.empty()) return Outcome::fail(std::move(problem));
  const auto times = operation_times(a, p, machine, roof_share);
  if (!times) return Outcome::fail(times.error);
  const Workload w = workload_of(p);
  const BytesPerParameter per = bytes_per_parameter(a, p);
  const bool stays = gradients_come_late(p);
  const LayerSetting setting{
      .architecture = a,
      .plan = p,
      .stream_bytes = new_tokens(w) * as_double(a.hidden) * w.activation_bytes *
                      (p.sequence_parallel ? 1 / as_double(p.tensor) : 1),
      .gradient_bytes = stays ? per.gradients : 0,
      .dropped = dropped,
  };
  CheckpointSetting out;
  const HeldBytes states = state_bytes(a, p);
  out.states = states.total() - (stays ? states[MemoryOwner::gradients] : 0);
  std::vector<LayerCost> kinds;
  std::int64_t most = 0;
  for (const KindTimes& kind : times->kinds) {
    std::vector<DropOption> drops;
    kinds.push_back(layer_cost(setting, kind, kinds.size(), drops));
    for (std::size_t i = 0; i < kind.forward_s.size(); ++i)
      out.step_s += as_double(kind.kind.count) * (kind.forward_s[i] + kind.backward_s[i]);
    out.forward_s += as_double(kind.kind.count) * kinds.back().forward_s;
    if (kind.kind.count <= most) continue;
    most = kind.kind.count;
    out.drops = std::move(drops);
  }
  for (std::int64_t i = 0; i < a.layers; ++i) {
    const LayerForm form = layer_form(a, i);
    const auto at = std::find_if(times->kinds.begin(), times->kinds.end(),
                                 [&](const KindTimes& kind) { return kind.kind.form == form; });
    out.layers.push_back(kinds[static_cast<std::size_t>(at - times->kinds.begin())]);
  }
  out.forward_s += times->ends_forward_s;
  out.step_s += times->ends_forward_s + times->ends_backward_s;
  out.ends.loss = loss_peak(a, p, stays).total();
  if (stays) {
    const ParameterCount count = count_parameters(a);
    out.ends.head_gradient = per.gradients * as_double(a.tied ? count.embedding : count.head) / as_double(p.tensor);
  }
  return Outcome::ok(std::move(out));
}

}  // namespace models::memory
