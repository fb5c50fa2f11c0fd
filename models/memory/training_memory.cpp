#include "models/memory/training_memory.h"

#include <algorithm>

#include "models/base/integer_math.h"
#include "models/memory/activation_formulas.h"
#include "models/memory/loss_peak.h"
#include "models/memory/state_bytes.h"
#include "models/memory/unit_moments.h"

namespace models::memory {
namespace {

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

/// Buckets that gradients leave through where they are split or offloaded (those of plain DDP are views of the
/// gradients), and 16-bit copies of wider weights, which autocast keeps for the backward pass where nothing is
/// gathered.
double buffers_of(const Architecture& a, const TrainingPlan& p, const StageParameters& n) {
  if (gathers_units(p)) return 0;
  const double weights = bytes_per_parameter(a, p).weights, each = gathered_bytes_each(a, p);
  double bytes = weights > each ? each * n.total() : 0;
  const bool split = p.zero_stage == 2 && p.data * p.context > 1;
  if (split || (p.offload != Offload::none && p.zero_stage >= 2)) bytes += 2 * p.bucket_bytes;
  return bytes;
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
  const double t = as_double(p.tensor), h = as_double(a.hidden);
  const double stream = stream_bytes(a, p);
  const bool last = p.stage == p.pipeline - 1;

  std::vector<KindFigures> kinds;
  for (const LayerKind& kind : layer_kinds(a)) kinds.push_back(kind_figures(a, kind, p, stream));
  const std::vector<double> counts = layers_by_kind(a, p, kinds);
  double layers = 0;
  for (const double count : counts) layers += count;
  const double chunks = chunks_held(p) / as_double(p.virtual_pipeline);

  TrainingMemory out;
  out.states = state_bytes(a, p);
  out.host = offloaded_bytes(a, p);
  const StageParameters n = stage_parameters(a, p);
  out.parameters = n.total();
  out.bytes_per_parameter = bytes_per_parameter(a, p).total();
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

  out.gradients_late = gradients_grow(p);
  const LossPeak loss = last ? loss_peak(a, p, out.gradients_late) : LossPeak();
  out.logits_spike_bytes = loss.spike;
  out.backward_spike_bytes = backward;

  const double extra = p.gradient_stand_ins ? 2 * (stand_ins + (last ? as_double(a.vocab) * h / t : 0)) : 0;
  std::vector<double> kept;
  for (const KindFigures& kind : kinds)
    kept.push_back(by_formula ? out.formula_layer_bytes : kind.memory.kept(p.recompute));
  const double activations = by_formula ? out.formula_bytes : out.operations_bytes;
  if (gathers_units(p) || out.gradients_late) {
    for (const StepMoment& m : unit_moments(a, p, kinds, kept, activations, stream, out.states)) {
      if (!m.backward || m.held.total() <= out.held.total()) continue;
      out.held = m.held;
      out.whole = m.whole;
      out.moment = m.moment;
    }
  } else {
    out.held = out.states;
    out.held[MemoryOwner::activations] = activations;
    out.moment = last && loss.total() >= backward ? FullestMoment::loss : FullestMoment::layer_backward;
    const bool at_loss = out.moment == FullestMoment::loss;
    out.held[MemoryOwner::logits] = at_loss ? loss.logits : 0;
    out.held[MemoryOwner::temporary] = at_loss ? loss.ends + loss.beside : backward;
  }
  out.held[MemoryOwner::buffers] += buffers_of(a, p, n) + extra + options.fixed_bytes;
  if (p.step_gradients) out.held[MemoryOwner::buffers] += 4 * n.total() / as_double(p.data * p.context);
  out.held[MemoryOwner::slack] = options.slack_share * out.held.total();
  return Outcome::ok(std::move(out));
}

Result<std::vector<StepMoment>> step_moments(const Architecture& a, const TrainingPlan& p,
                                             const TrainingMemoryOptions& options) {
  using Outcome = Result<std::vector<StepMoment>>;
  const auto fullest = training_memory(a, p, options);
  if (!fullest) return Outcome::fail(fullest.error);
  const bool by_formula = options.count == ActivationCount::formula;
  const double stream = stream_bytes(a, p);
  std::vector<KindFigures> kinds;
  std::vector<double> kept;
  for (const LayerKind& kind : layer_kinds(a)) {
    kinds.push_back(kind_figures(a, kind, p, stream));
    kept.push_back(by_formula ? fullest->formula_layer_bytes : kinds.back().memory.kept(p.recompute));
  }
  const double activations = by_formula ? fullest->formula_bytes : fullest->operations_bytes;
  auto moments = unit_moments(a, p, kinds, kept, activations, stream, fullest->states);
  const double fixed = fullest->held[MemoryOwner::buffers] - fullest->whole.total();
  for (StepMoment& m : moments) {
    m.held[MemoryOwner::buffers] += fixed;
    m.held[MemoryOwner::slack] = options.slack_share * m.held.total();
  }
  return Outcome::ok(std::move(moments));
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
