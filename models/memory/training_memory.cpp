#include "models/memory/training_memory.h"

#include <algorithm>

#include "models/base/integer_math.h"
#include "models/memory/activation_formulas.h"
#include "models/memory/loss_peak.h"
#include "models/memory/state_bytes.h"
#include "models/memory/training_memory_parts.h"

namespace models::memory {
namespace {

/// Activations of one layer of each kind.
std::vector<double> kept_by_kind(const TrainingPlan& p, bool by_formula, double formula_layer,
                                 const std::vector<KindFigures>& kinds) {
  std::vector<double> out;
  for (const KindFigures& kind : kinds) out.push_back(by_formula ? formula_layer : kind.memory.kept(p.recompute));
  return out;
}

/// What a stage keeps for its backward passes on the GPU: by kind of layer, and all together.
struct KeptHere {
  std::vector<double> by_kind;
  double activations = 0, on_host = 0;
};
/// Where activations wait in the host's memory, two layers' worth has room on the GPU throughout: that at work, and the
/// one that leaves or comes meanwhile.
KeptHere kept_here(const TrainingPlan& p, std::vector<double> by_kind, double activations,
                   const std::vector<double>& counts) {
  KeptHere out{std::move(by_kind), activations};
  if (!p.host_activations) return out;
  double largest = 0;
  for (std::size_t i = 0; i < out.by_kind.size(); ++i)
    if (counts[i] > 0) largest = std::max(largest, out.by_kind[i]);
  out.activations = std::min(activations, 2 * largest);
  out.on_host = activations - out.activations;
  out.by_kind.assign(out.by_kind.size(), 0.0);
  return out;
}

/// Buckets that gradients leave through where they are split or offloaded (those of plain DDP are views of the
/// gradients), and 16-bit copies of wider weights, which autocast keeps for the backward pass where nothing is
/// gathered.
double buffers_of(const Architecture& a, const TrainingPlan& p, const BytesPerParameter& each_parameter,
                  const StageParameters& n) {
  if (gathers_units(p)) return 0;
  const double weights = each_parameter.weights, each = gathered_bytes_each(a, p);
  double bytes = weights > each ? each * n.total() : 0;
  const bool split = p.zero_stage == 2 && p.data * p.context > 1;
  if (split || (p.offload != Offload::none && p.zero_stage >= 2)) bytes += 2 * p.bucket_bytes;
  return bytes;
}

/// What the plan's stage keeps of its chunks' results until the step ends.
double kept_output_bytes(const Architecture& a, const TrainingPlan& p, double stream) {
  if (!p.kept_outputs || p.pipeline < 2) return 0;
  const Workload w = workload_of(p);
  const double chunks = as_double(chunks_of_model(p)) / as_double(p.pipeline);
  const double logits = new_tokens(w) * as_double(a.vocab) / as_double(p.tensor) * w.activation_bytes;
  return as_double(p.micro_batches) * (stage_ends(p).last ? (chunks - 1) * stream + logits : chunks * stream);
}

}  // namespace

double chunks_held(const TrainingPlan& p) {
  if (p.in_flight > 0) return p.in_flight * as_double(p.virtual_pipeline);
  const double m = as_double(p.micro_batches), v = as_double(p.virtual_pipeline), stages = as_double(p.pipeline),
               behind = as_double(p.pipeline - p.stage - 1);
  if (p.virtual_pipeline == 1) return std::min(behind + 1, m);
  return std::min(2 * behind + (v - 1) * stages + 1, m * v);
}

MicroBatchMemory micro_batch_memory(const Architecture& a, const TrainingPlan& p) {
  const Workload w = workload_of(p);
  const double t = as_double(p.tensor), h = as_double(a.hidden);
  MicroBatchMemory out;
  out.stream_bytes = stream_bytes(a, p);
  for (const LayerKind& kind : layer_kinds(a)) out.kinds.push_back(kind_figures(a, kind, p, out.stream_bytes));
  out.per_parameter = bytes_per_parameter(a, p);
  out.loss = loss_peak(a, p, gradients_grow(p));
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
  return out;
}

StageMemory stage_memory(const Architecture& a, const TrainingPlan& p) {
  const std::vector<LayerKind> kinds = layer_kinds(a);
  StageMemory out;
  out.parameters = stage_parameters(a, p);
  out.ends = stage_ends(p);
  out.counts.assign(kinds.size(), 0.0);
  for (const auto& [first, end] : stage_layers(a, p))
    for (std::int64_t layer = first; layer < end; ++layer) {
      const LayerForm form = layer_form(a, layer);
      const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const LayerKind& k) { return k.form == form; });
      out.layers.push_back(static_cast<std::size_t>(at - kinds.begin()));
      out.counts[out.layers.back()] += 1;
    }
  out.units = gather_units(a, p);
  for (const GatherUnit& unit : out.units) out.largest_unit = std::max(out.largest_unit, unit.parameters);
  return out;
}

namespace {

/// Activations by the formula and counted operation by operation: of the stage, of a layer, and of a layer by what is
/// run again. Needs out.layers_held.
void count_activations(const TrainingPlan& p, bool by_formula, double chunks, const MicroBatchMemory& micro,
                       const StageMemory& stage, TrainingMemory& out) {
  out.formula_layer_bytes = formula_layer_bytes(micro.sizes, p.recompute);
  out.formula_bytes = out.formula_layer_bytes * out.layers_held;
  double layers = 0, none = 0, selective = 0, checkpoint = 0;
  for (std::size_t i = 0; i < micro.kinds.size(); ++i) {
    layers += stage.counts[i];
    out.operations_bytes += stage.counts[i] * chunks * micro.kinds[i].memory.kept(p.recompute);
    none += stage.counts[i] * micro.kinds[i].memory.saved;
    selective += stage.counts[i] * micro.kinds[i].memory.kept(Recompute::selective);
    checkpoint += stage.counts[i] * micro.kinds[i].memory.checkpoint;
  }
  out.operations_layer_bytes = out.layers_held > 0 ? out.operations_bytes / out.layers_held : 0;
  out.layer_none_bytes = by_formula ? formula_layer_bytes(micro.sizes, Recompute::none) : none / std::max(1.0, layers);
  out.layer_selective_bytes =
      by_formula ? formula_layer_bytes(micro.sizes, Recompute::selective) : selective / std::max(1.0, layers);
  out.layer_full_bytes =
      by_formula ? formula_layer_bytes(micro.sizes, Recompute::full) : checkpoint / std::max(1.0, layers);
}

/// 16-bit gradients that stand in for those that are kept wider, where the plan has them.
double stand_in_bytes(const Architecture& a, const TrainingPlan& p, const MicroBatchMemory& micro,
                      const StageMemory& stage) {
  if (!p.gradient_stand_ins) return 0;
  double stand_ins = 0;
  for (std::size_t i = 0; i < micro.kinds.size(); ++i)
    if (stage.counts[i] > 0) stand_ins += micro.kinds[i].stand_ins;
  const bool last = stage.ends.last;
  return 2 * (stand_ins + (last ? as_double(a.vocab) * as_double(a.hidden) / as_double(p.tensor) : 0));
}

/// The fullest moment of the step, and what is held then: found along the step where units are gathered or gradients
/// grow, else the loss or the backward pass of a layer, which alone differ.
void find_fullest(const Architecture& a, const TrainingPlan& p, bool by_formula, const MicroBatchMemory& micro,
                  const StageMemory& stage, const LossPeak& loss, TrainingMemory& out) {
  double activations = by_formula ? out.formula_bytes : out.operations_bytes;
  const bool along = gathers_units(p) || out.gradients_late;
  KeptHere here;
  if (along || p.host_activations) {
    here = kept_here(p, kept_by_kind(p, by_formula, out.formula_layer_bytes, micro.kinds), activations, stage.counts);
    activations = here.activations;
    out.host[MemoryOwner::activations] = here.on_host;
  }
  if (along) {
    const StepMoment m = fullest_unit_moment(a, p, {stage.units, stage.layers},
                                             {micro.kinds, here.by_kind, activations, micro.stream_bytes, out.states});
    out.held = m.held;
    out.whole = m.whole;
    out.moment = m.moment;
    return;
  }
  out.held = out.states;
  out.held[MemoryOwner::activations] = activations;
  const bool at_loss = stage.ends.last && loss.total() >= out.backward_spike_bytes;
  out.moment = at_loss ? FullestMoment::loss : FullestMoment::layer_backward;
  out.held[MemoryOwner::logits] = at_loss ? loss.logits : 0;
  out.held[MemoryOwner::temporary] = at_loss ? loss.ends + loss.beside : out.backward_spike_bytes;
}

}  // namespace

TrainingMemory training_memory_of(const Architecture& a, const TrainingPlan& p, const TrainingMemoryOptions& options,
                                  const MicroBatchMemory& micro, const StageMemory& stage) {
  const bool by_formula = options.count == ActivationCount::formula;
  double layers = 0;
  for (const double count : stage.counts) layers += count;
  const double chunks = chunks_held(p) / as_double(p.virtual_pipeline);
  TrainingMemory out;
  out.states = state_bytes(p, micro.per_parameter, stage.parameters);
  out.host = offloaded_bytes(p, micro.per_parameter, stage.parameters);
  const StageParameters& n = stage.parameters;
  out.parameters = n.total();
  out.trained = trained_of(p, n).total();
  if (p.frozen)
    out.frozen_bytes =
        out.states[MemoryOwner::weights] - trained_state_bytes(p, micro.per_parameter, n)[MemoryOwner::weights];
  out.bytes_per_parameter = micro.per_parameter.total();
  out.layers_held = layers * chunks;
  count_activations(p, by_formula, chunks, micro, stage, out);
  out.gradients_late = gradients_grow(p);
  const LossPeak loss = stage.ends.last ? micro.loss : LossPeak();
  out.logits_spike_bytes = loss.spike;
  for (std::size_t i = 0; i < micro.kinds.size(); ++i)
    if (stage.counts[i] > 0) out.backward_spike_bytes = std::max(out.backward_spike_bytes, micro.kinds[i].backward);
  find_fullest(a, p, by_formula, micro, stage, loss, out);
  out.held[MemoryOwner::buffers] += buffers_of(a, p, micro.per_parameter, n) + stand_in_bytes(a, p, micro, stage) +
                                    kept_output_bytes(a, p, micro.stream_bytes) + options.fixed_bytes;
  if (p.step_gradients) out.held[MemoryOwner::buffers] += 4 * trained_of(p, n).total() / as_double(p.data * p.context);
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
  if (options.count == ActivationCount::formula && p.frozen)
    return Outcome::fail(
        "Korthikanti's formula is of a layer whose weights are trained, and here adapters are; count operation by "
        "operation.");
  return Outcome::ok(training_memory_of(a, p, options, micro_batch_memory(a, p), stage_memory(a, p)));
}

Result<std::vector<StepMoment>> step_moments(const Architecture& a, const TrainingPlan& p,
                                             const TrainingMemoryOptions& options) {
  using Outcome = Result<std::vector<StepMoment>>;
  const auto fullest = training_memory(a, p, options);
  if (!fullest) return Outcome::fail(fullest.error);
  const bool by_formula = options.count == ActivationCount::formula;
  const double stream = stream_bytes(a, p);
  std::vector<KindFigures> kinds;
  for (const LayerKind& kind : layer_kinds(a)) kinds.push_back(kind_figures(a, kind, p, stream));
  const StageMemory stage = stage_memory(a, p);
  const KeptHere here = kept_here(p, kept_by_kind(p, by_formula, fullest->formula_layer_bytes, kinds),
                                  by_formula ? fullest->formula_bytes : fullest->operations_bytes, stage.counts);
  auto moments =
      unit_moments(a, p, {stage.units, stage.layers}, {kinds, here.by_kind, here.activations, stream, fullest->states});
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
