#include "models/memory/training_memory.h"

#include <algorithm>

#include "models/base/integer_math.h"
#include "models/memory/activation_formulas.h"
#include "models/memory/layer_walk.h"
#include "models/memory/loss_peak.h"
#include "models/memory/operation_times.h"
#include "models/memory/state_bytes.h"

namespace models::memory {
namespace {

/// One kind of layer, walked once.
struct KindFigures {
  LayerKind kind;
  LayerMemory memory;
  double backward = 0;   ///< beyond what is kept
  double stand_ins = 0;  ///< elements of its weights, of one expert where there are many
  double gradients = 0;  ///< elements of all its weights on this GPU
};

/// Gradients of a single micro-batch: there is no earlier one whose gradients wait.
bool late_gradients(const TrainingPlan& p) { return gradients_come_late(p) && p.micro_batches == 1; }

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

KindFigures figures_of(const Architecture& a, const LayerKind& kind, const TrainingPlan& p, double stream) {
  KindFigures f{.kind = kind, .memory = {}};
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
void held_with_late_gradients(const Architecture& a, const TrainingPlan& p, const std::vector<KindFigures>& kinds,
                              const std::vector<double>& kept, double stream, TrainingMemory& out) {
  HeldBytes base = out.states;
  const double all = base[MemoryOwner::gradients], each = bytes_per_parameter(a, p.recipe, p.optimizer).gradients;
  base[MemoryOwner::gradients] = 0;
  const auto offer = [&](FullestMoment moment, const HeldBytes& held) {
    if (held.total() <= out.held.total()) return;
    out.held = held;
    out.moment = moment;
  };
  std::vector<std::size_t> layers;  // the kind of each layer of the stage
  for (const auto& [first, end] : stage_layers(a, p))
    for (std::int64_t layer = first; layer < end; ++layer) {
      const LayerForm form = layer_form(a, layer);
      const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.kind.form == form; });
      layers.push_back(static_cast<std::size_t>(at - kinds.begin()));
    }
  double activations = 0, gradients = 0;
  for (const std::size_t kind : layers) activations += kept[kind];
  out.held = HeldBytes();
  if (p.stage == p.pipeline - 1) {
    const LossPeak loss = loss_peak(a, p, true);
    const ParameterCount count = count_parameters(a);
    HeldBytes held = base;
    held[MemoryOwner::activations] = activations;
    held[MemoryOwner::logits] = loss.logits;
    held[MemoryOwner::gradients] = loss.gradient;
    held[MemoryOwner::temporary] = loss.ends + loss.beside - loss.gradient;
    offer(FullestMoment::loss, held);
    gradients = each * as_double(a.tied ? count.embedding : count.head) / as_double(p.tensor);
  }
  for (std::size_t i = layers.size(); i-- > 0;) {
    const KindFigures& kind = kinds[layers[i]];
    const double own = std::min(kind.backward, each * kind.gradients);
    HeldBytes held = base;
    held[MemoryOwner::activations] = activations;
    held[MemoryOwner::gradients] = gradients + own;
    held[MemoryOwner::temporary] = kind.backward - own;
    offer(FullestMoment::layer_backward, held);
    activations -= kept[layers[i]];
    gradients += each * kind.gradients;
  }
  base[MemoryOwner::gradients] = all;
  base[MemoryOwner::temporary] = stream;
  offer(FullestMoment::end_of_backward, base);
}

/// Layers of each kind on the plan's stage.
std::vector<double> layers_by_kind(const Architecture& a, const TrainingPlan& p,
                                   const std::vector<KindFigures>& kinds) {
  std::vector<double> count(kinds.size());
  for (const auto& [first, end] : stage_layers(a, p))
    for (std::int64_t layer = first; layer < end; ++layer) {
      const LayerForm form = layer_form(a, layer);
      const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.kind.form == form; });
      count[static_cast<std::size_t>(at - kinds.begin())] += 1;
    }
  return count;
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

Result<TrainingMemory> training_memory(const Architecture& a, const TrainingPlan& p,
                                       const TrainingMemoryOptions& options) {
  using Outcome = Result<TrainingMemory>;
  if (std::string problem = plan_problem(a, p); !problem.empty()) return Outcome::fail(std::move(problem));
  const bool by_formula = options.count == ActivationCount::formula;
  if (by_formula && a.moe.routed > 0)
    return Outcome::fail(
        "Korthikanti's formula is of a dense GPT layer, and this model has experts; count operation by operation.");
  const Workload w = workload_of(p);
  const double tokens = new_tokens(w), t = as_double(p.tensor), h = as_double(a.hidden);
  const double stream = tokens * h * w.activation_bytes * (p.sequence_parallel ? 1 / t : 1);
  const bool last = p.stage == p.pipeline - 1;

  std::vector<KindFigures> kinds;
  for (const LayerKind& kind : layer_kinds(a)) kinds.push_back(figures_of(a, kind, p, stream));
  const std::vector<double> counts = layers_by_kind(a, p, kinds);
  double layers = 0;
  for (const double count : counts) layers += count;
  const double chunks = chunks_held(p) / as_double(p.virtual_pipeline);

  TrainingMemory out;
  out.states = state_bytes(a, p);
  const StageParameters n = stage_parameters(a, p);
  out.parameters = n.total();
  out.bytes_per_parameter = bytes_per_parameter(a, p.recipe, p.optimizer).total();
  out.layers_held = layers * chunks;

  const FormulaSizes sizes{
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
  out.formula_layer_bytes = formula_layer_bytes(sizes, p.recompute);
  out.formula_bytes = out.formula_layer_bytes * out.layers_held;
  double backward = 0, stand_ins = 0, none = 0, selective = 0, checkpoint = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (counts[i] == 0) continue;
    out.operations_bytes += counts[i] * chunks * kinds[i].memory.kept(p.recompute);
    none += counts[i] * kinds[i].memory.saved;
    selective += counts[i] * kinds[i].memory.kept(Recompute::selective);
    checkpoint += counts[i] * kinds[i].memory.checkpoint;
    backward = std::max(backward, kinds[i].backward);
    stand_ins += kinds[i].stand_ins;
  }
  out.operations_layer_bytes = out.layers_held > 0 ? out.operations_bytes / out.layers_held : 0;
  out.layer_none_bytes = by_formula ? formula_layer_bytes(sizes, Recompute::none) : none / std::max(1.0, layers);
  out.layer_selective_bytes =
      by_formula ? formula_layer_bytes(sizes, Recompute::selective) : selective / std::max(1.0, layers);
  out.layer_full_bytes = by_formula ? formula_layer_bytes(sizes, Recompute::full) : checkpoint / std::max(1.0, layers);

  out.gradients_late = late_gradients(p);
  const LossPeak loss = last ? loss_peak(a, p, out.gradients_late) : LossPeak();
  out.logits_spike_bytes = loss.spike;
  out.backward_spike_bytes = backward;

  const double extra = p.gradient_stand_ins ? 2 * (stand_ins + (last ? as_double(a.vocab) * h / t : 0)) : 0;
  if (out.gradients_late) {
    std::vector<double> kept;
    for (const KindFigures& kind : kinds)
      kept.push_back(by_formula ? out.formula_layer_bytes : kind.memory.kept(p.recompute));
    held_with_late_gradients(a, p, kinds, kept, stream, out);
  } else {
    out.held = out.states;
    out.held[MemoryOwner::activations] = by_formula ? out.formula_bytes : out.operations_bytes;
    out.moment = last && loss.total() >= backward ? FullestMoment::loss : FullestMoment::layer_backward;
    const bool at_loss = out.moment == FullestMoment::loss;
    out.held[MemoryOwner::logits] = at_loss ? loss.logits : 0;
    out.held[MemoryOwner::temporary] = at_loss ? loss.ends + loss.beside : backward;
  }
  out.held[MemoryOwner::buffers] = buffers_of(p, n, w.weight_bytes) + extra + options.fixed_bytes;
  if (p.step_gradients) out.held[MemoryOwner::buffers] += 4 * n.total() / as_double(p.data * p.context);
  out.held[MemoryOwner::slack] = options.slack_share * out.held.total();
  return Outcome::ok(std::move(out));
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
