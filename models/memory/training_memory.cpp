#include "models/memory/training_memory.h"

#include <algorithm>

#include "models/base/integer_math.h"
#include "models/memory/activation_formulas.h"
#include "models/memory/layer_walk.h"
#include "models/memory/loss_peak.h"
#include "models/memory/operation_times.h"
#include "models/memory/state_bytes.h"
#include "models/memory/training_memory_parts.h"

namespace models::memory {
namespace {

WalkRules rules_of(const Architecture& a, const TrainingPlan& p, double stream) {
  const bool late = late_gradients(p);
  return {
      .weight_gradients_stay = late,
      .stay_bytes = bytes_per_parameter(a, p.recipe, p.optimizer).gradients,
      .weight_gradients_pass = !late && !p.fused_gradients,
      .pass_bytes = workload_of(p).activation_bytes,
      .stream_bytes = stream,
  };
}

LayerKindMemory figures_of(const Architecture& a, const LayerKind& kind, const TrainingPlan& p, double stream) {
  LayerKindMemory f{.kind = kind, .memory = {}};
  const Workload w = workload_of(p);
  const auto operations = layer_operations(a, kind, w);
  const auto memory = operation_memory(a, operations, p);
  f.memory = layer_memory(a, operations, p);
  HighestSum sum;
  if (p.recompute == Recompute::full) {
    walk_forward(memory, Recompute::none, MemoryOwner::temporary, sum);
    sum.held(MemoryOwner::temporary, -stream);  // the layer's input is the checkpoint itself
    sum.held(MemoryOwner::temporary, stream);
    walk_backward(memory, Recompute::none, MemoryOwner::temporary, rules_of(a, p, stream), sum);
  } else {
    sum.held(MemoryOwner::temporary, stream);
    walk_backward(memory, p.recompute, MemoryOwner::activations, rules_of(a, p, stream), sum);
  }
  f.backward = sum.highest;
  // The experts of a layer have one shape, and share its stand-in.
  const double experts = std::max(1.0, as_double(a.moe.routed) / as_double(p.expert));
  for (const OperationMemory& m : memory) f.gradients += m.weight_gradient;
  for (const OperationMemory& m : memory)
    if (operations[m.operation].shape.k > 0)
      f.stand_ins += m.weight_gradient / (operations[m.operation].group == OperationGroup::experts ? experts : 1);
  return f;
}

/// The fullest moment of a single micro-batch whose gradients come late, without buffers: the loss, the backward pass
/// of each layer from the last to the first, or its end. `kept` are the activations of one layer of each kind.
void held_with_late_gradients(const TrainingPlan& p, const MicroBatchMemory& micro, const StageMemory& stage,
                              bool by_formula, double formula_layer, TrainingMemory& out) {
  HeldBytes base = out.states;
  const double all = base[MemoryOwner::gradients], each = micro.per_parameter.gradients;
  const auto kept = [&](std::size_t kind) {
    return by_formula ? formula_layer : micro.kinds[kind].memory.kept(p.recompute);
  };
  base[MemoryOwner::gradients] = 0;
  const auto offer = [&](FullestMoment moment, const HeldBytes& held) {
    if (held.total() <= out.held.total()) return;
    out.held = held;
    out.moment = moment;
  };
  double activations = 0, gradients = 0;
  for (const std::size_t kind : stage.layers) activations += kept(kind);
  out.held = HeldBytes();
  if (p.stage == p.pipeline - 1) {
    const LossPeak& loss = micro.loss;
    HeldBytes held = base;
    held[MemoryOwner::activations] = activations;
    held[MemoryOwner::logits] = loss.logits;
    held[MemoryOwner::gradients] = loss.gradient;
    held[MemoryOwner::temporary] = loss.ends + loss.beside - loss.gradient;
    offer(FullestMoment::loss, held);
    gradients = each * micro.head_elements / as_double(p.tensor);
  }
  for (std::size_t i = stage.layers.size(); i-- > 0;) {
    const LayerKindMemory& kind = micro.kinds[stage.layers[i]];
    const double own = std::min(kind.backward, each * kind.gradients);
    HeldBytes held = base;
    held[MemoryOwner::activations] = activations;
    held[MemoryOwner::gradients] = gradients + own;
    held[MemoryOwner::temporary] = kind.backward - own;
    offer(FullestMoment::layer_backward, held);
    activations -= kept(stage.layers[i]);
    gradients += each * kind.gradients;
  }
  base[MemoryOwner::gradients] = all;
  base[MemoryOwner::temporary] = micro.stream_bytes;
  offer(FullestMoment::end_of_backward, base);
}

double buffers_of(const TrainingPlan& p, const StageParameters& n, double weight_bytes) {
  constexpr double ddp_bucket = 25 * 1048576.0;  // torch.nn.parallel.DistributedDataParallel, bucket_cap_mb
  if (p.data * p.context == 1) return 0;
  if (p.zero_stage == 3)
    return 2 * n.largest_unit * weight_bytes;     // the unit at work and the one that is gathered ahead
  return p.zero_stage == 2 ? 2 * ddp_bucket : 0;  // buckets of plain DDP are views of the gradients
}

}  // namespace

double chunks_held(const TrainingPlan& p) {
  const double m = as_double(p.micro_batches), v = as_double(p.virtual_pipeline), stages = as_double(p.pipeline),
               behind = as_double(p.pipeline - p.stage - 1);
  if (p.virtual_pipeline == 1) return std::min(behind + 1, m);
  return std::min(2 * behind + (v - 1) * stages + 1, m * v);
}

bool late_gradients(const TrainingPlan& p) { return gradients_come_late(p) && p.micro_batches == 1; }

MicroBatchMemory micro_batch_memory(const Architecture& a, const TrainingPlan& p) {
  const Workload w = workload_of(p);
  const double t = as_double(p.tensor), h = as_double(a.hidden);
  MicroBatchMemory out;
  out.stream_bytes = new_tokens(w) * h * w.activation_bytes * (p.sequence_parallel ? 1 / t : 1);
  for (const LayerKind& kind : layer_kinds(a)) out.kinds.push_back(figures_of(a, kind, p, out.stream_bytes));
  out.per_parameter = bytes_per_parameter(a, p.recipe, p.optimizer);
  out.loss = loss_peak(a, p, late_gradients(p));
  out.sizes = {
      .sequence = as_double(p.sequence) / as_double(p.context),
      .batch = as_double(p.batch),
      .hidden = h,
      .heads = as_double(a.heads),
      .keys = as_double(p.sequence),
      .tensor = t,
      .sequence_parallel = p.sequence_parallel,
      .dropout = p.dropout,
      .value_bytes = w.activation_bytes,
  };
  const ParameterCount count = count_parameters(a);
  out.head_elements = as_double(a.tied ? count.embedding : count.head);
  return out;
}

StageMemory stage_memory(const Architecture& a, const TrainingPlan& p) {
  const std::vector<LayerKind> kinds = layer_kinds(a);
  StageMemory out{.parameters = stage_parameters(a, p), .layers = {}, .counts = std::vector<double>(kinds.size())};
  for (const auto& [first, end] : stage_layers(a, p))
    for (std::int64_t layer = first; layer < end; ++layer) {
      const LayerForm form = layer_form(a, layer);
      const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const LayerKind& k) { return k.form == form; });
      out.layers.push_back(static_cast<std::size_t>(at - kinds.begin()));
      out.counts[out.layers.back()] += 1;
    }
  return out;
}

TrainingMemory training_memory_of(const Architecture& a, const TrainingPlan& p, const TrainingMemoryOptions& options,
                                  const MicroBatchMemory& micro, const StageMemory& stage) {
  const bool by_formula = options.count == ActivationCount::formula;
  const bool last = p.stage == p.pipeline - 1;
  double layers = 0;
  for (const double count : stage.counts) layers += count;
  const double chunks = chunks_held(p) / as_double(p.virtual_pipeline);

  TrainingMemory out;
  out.states = state_bytes(p, micro.per_parameter, stage.parameters);
  const StageParameters& n = stage.parameters;
  out.parameters = n.total();
  out.bytes_per_parameter = micro.per_parameter.total();
  out.layers_held = layers * chunks;

  out.formula_layer_bytes = formula_layer_bytes(micro.sizes, p.recompute);
  out.formula_bytes = out.formula_layer_bytes * out.layers_held;
  double backward = 0, stand_ins = 0, none = 0, selective = 0, checkpoint = 0;
  for (std::size_t i = 0; i < micro.kinds.size(); ++i) {
    if (stage.counts[i] == 0) continue;
    out.operations_bytes += stage.counts[i] * chunks * micro.kinds[i].memory.kept(p.recompute);
    none += stage.counts[i] * micro.kinds[i].memory.saved;
    selective += stage.counts[i] * micro.kinds[i].memory.kept(Recompute::selective);
    checkpoint += stage.counts[i] * micro.kinds[i].memory.checkpoint;
    backward = std::max(backward, micro.kinds[i].backward);
    stand_ins += micro.kinds[i].stand_ins;
  }
  out.operations_layer_bytes = out.layers_held > 0 ? out.operations_bytes / out.layers_held : 0;
  out.layer_none_bytes = by_formula ? formula_layer_bytes(micro.sizes, Recompute::none) : none / std::max(1.0, layers);
  out.layer_selective_bytes =
      by_formula ? formula_layer_bytes(micro.sizes, Recompute::selective) : selective / std::max(1.0, layers);
  out.layer_full_bytes =
      by_formula ? formula_layer_bytes(micro.sizes, Recompute::full) : checkpoint / std::max(1.0, layers);

  out.gradients_late = late_gradients(p);
  const LossPeak loss = last ? micro.loss : LossPeak();
  out.logits_spike_bytes = loss.spike;
  out.backward_spike_bytes = backward;

  const double extra =
      p.gradient_stand_ins
          ? 2 * (stand_ins + (last ? as_double(a.vocab) * as_double(a.hidden) / as_double(p.tensor) : 0))
          : 0;
  if (out.gradients_late) {
    held_with_late_gradients(p, micro, stage, by_formula, out.formula_layer_bytes, out);
  } else {
    out.held = out.states;
    out.held[MemoryOwner::activations] = by_formula ? out.formula_bytes : out.operations_bytes;
    out.moment = last && loss.total() >= backward ? FullestMoment::loss : FullestMoment::layer_backward;
    const bool at_loss = out.moment == FullestMoment::loss;
    out.held[MemoryOwner::logits] = at_loss ? loss.logits : 0;
    out.held[MemoryOwner::temporary] = at_loss ? loss.ends + loss.beside : backward;
  }
  out.held[MemoryOwner::buffers] = buffers_of(p, n, workload_of(p).weight_bytes) + extra + options.fixed_bytes;
  if (p.step_gradients) out.held[MemoryOwner::buffers] += 4 * n.total() / as_double(p.data * p.context);
  out.held[MemoryOwner::slack] = options.slack_share * out.held.total();
  return out;
}

Result<TrainingMemory> training_memory(const Architecture& a, const TrainingPlan& p,
                                       const TrainingMemoryOptions& options) {
  using Outcome = Result<TrainingMemory>;
  if (std::string problem = plan_problem(a, p); !problem.empty()) return Outcome::fail(std::move(problem));
  if (options.count == ActivationCount::formula && a.moe.routed > 0)
    return Outcome::fail(
        "Korthikanti's formula is of a dense GPT layer, and this model has experts; count operation by operation.");
  return Outcome::ok(training_memory_of(a, p, options, micro_batch_memory(a, p), stage_memory(a, p)));
}

std::vector<SavedRow> saved_rows(const Architecture& a, const LayerKind& kind, const TrainingPlan& p) {
  const Workload w = workload_of(p);
  const auto operations = layer_operations(a, kind, w);
  std::vector<SavedRow> rows;
  for (const OperationMemory& m : operation_memory(a, operations, p))
    rows.push_back({
        .operation = operations[m.operation].name,
        .what = m.what,
        .bytes = m.saved,
        .dropped = m.dropped,
        .per_sbh = m.saved / (new_tokens(w) * as_double(a.hidden)),
    });
  return rows;
}

}  // namespace models::memory
