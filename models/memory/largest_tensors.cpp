#include "models/memory/largest_tensors.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/memory/state_bytes.h"

namespace models::memory {
namespace {

/// Rows by name and owner, and what each owner has in them.
struct Tensors {
  std::vector<TensorRow> rows;
  HeldBytes listed;

  void add(std::string name, MemoryOwner owner, double each, double count) {
    if (!(each > 0 && count > 0)) return;
    listed[owner] += each * count;
    for (TensorRow& r : rows)
      if (r.name == name && r.owner == owner && r.each_bytes == each) {
        r.count += count;
        return;
      }
    rows.push_back({std::move(name), owner, each, count});
  }
};

bool alike_everywhere(OptimizerKind kind) {
  return kind == OptimizerKind::adamw || kind == OptimizerKind::lion || kind == OptimizerKind::sgd_momentum;
}

void add_states(const Architecture& a, const TrainingPlan& p, const HeldBytes& held, Tensors& out) {
  const BytesPerParameter per = bytes_per_parameter(a, p);
  const HeldBytes all = state_bytes(a, p);
  const auto whole = [&](MemoryOwner owner) { return std::abs(held[owner] - all[owner]) <= 1e-6 * all[owner]; };
  const auto add = [&](const std::string& name, double elements, double count) {
    const auto one = [&](MemoryOwner owner, const char* of, double bytes) {
      if (held[owner] > 0 && whole(owner)) out.add(of + name, owner, bytes * elements, count);
    };
    one(MemoryOwner::weights, "weights, ", per.weights);
    one(MemoryOwner::gradients, "gradient, ", per.gradients);
    one(MemoryOwner::master, "master, ", per.master);
    if (alike_everywhere(p.optimizer)) one(MemoryOwner::optimizer, "moments, ", per.optimizer);
  };
  const ParameterCount count = count_parameters(a);
  add("token embedding", as_double(count.embedding) / as_double(p.tensor), 1);
  if (!a.tied) add("output matrix", as_double(count.head) / as_double(p.tensor), 1);
  for (const LayerKind& kind : layer_kinds(a)) {
    const auto operations = layer_operations(a, kind, workload_of(p));
    for (const OperationMemory& m : operation_memory(a, operations, p))
      if (operations[m.operation].shape.k > 0)
        add(operations[m.operation].name, m.weight_gradient, static_cast<double>(kind.count));
  }
}

/// Layers that are held whole while layer `at` of the phase is at work.
std::size_t whole_layers(const StepSpan& span, std::size_t layers) {
  if (span.phase == StepPhase::loss) return layers;
  if (span.phase == StepPhase::optimizer) return 0;
  return span.layer < 0 ? 0 : static_cast<std::size_t>(span.layer);
}

void add_activations(const Architecture& a, const TimelineSetting& s, const StepSpan& span, Tensors& out) {
  const TrainingPlan& p = s.plan;
  const Workload w = workload_of(p);
  const double stream =
      new_tokens(w) * as_double(a.hidden) * w.activation_bytes * (p.sequence_parallel ? 1 / as_double(p.tensor) : 1);
  const auto kinds = layer_kinds(a);
  std::vector<std::vector<LayerOperation>> operations;
  std::vector<std::vector<OperationMemory>> memory;
  for (const LayerKind& kind : kinds) {
    operations.push_back(layer_operations(a, kind, w));
    memory.push_back(operation_memory(a, operations.back(), p));
  }
  const std::size_t until = whole_layers(span, static_cast<std::size_t>(a.layers));
  // A piece that runs again together has given up its first input only when its last layer is done.
  const auto keep = [&](std::size_t i) { return i < s.layers.size() ? s.layers[i] : LayerKeep::kept; };
  for (std::size_t i = 0; i < until; ++i) {
    const bool joined =
        keep(i) == LayerKeep::joined && i > 0 && (keep(i - 1) == LayerKeep::joined || keep(i - 1) == LayerKeep::again);
    if (joined) continue;
    if (keep(i) == LayerKeep::again || keep(i) == LayerKeep::joined) {
      out.add("input of what runs again", MemoryOwner::activations, stream, 1);
      continue;
    }
    const LayerForm form = layer_form(a, static_cast<std::int64_t>(i));
    const auto kind = static_cast<std::size_t>(
        std::find_if(kinds.begin(), kinds.end(), [&](const LayerKind& k) { return k.form == form; }) - kinds.begin());
    for (const OperationMemory& m : memory[kind])
      out.add(operations[kind][m.operation].name + ": " + std::string(m.what), MemoryOwner::activations,
              m.saved - (keep(i) == LayerKeep::selective ? m.dropped : 0), 1);
  }
}

void add_logits(const Architecture& a, const TrainingPlan& p, double held, Tensors& out) {
  if (!(held > 0)) return;
  const double logits = new_tokens(workload_of(p)) * as_double(a.vocab) / as_double(p.tensor);
  const double arrays = held / (4 * logits);
  if (std::abs(arrays - std::round(arrays)) < 1e-9 && arrays > 0.5)
    out.add("logits or their gradient in FP32", MemoryOwner::logits, 4 * logits, std::round(arrays));
  else
    out.add("logits and what the loss makes of them", MemoryOwner::logits, held, 1);
}

}  // namespace

std::vector<TensorRow> largest_tensors(const Architecture& a, const TimelineSetting& s, const StepTimeline& t) {
  const MemoryPoint& peak = t.points[t.peak];
  Tensors out;
  add_states(a, s.plan, peak.held, out);
  add_activations(a, s, t.spans[peak.span], out);
  add_logits(a, s.plan, peak.held[MemoryOwner::logits], out);
  for (std::size_t k = 0; k < memory_owner_count; ++k) {
    const auto owner = static_cast<MemoryOwner>(k);
    const double rest = peak.held[owner] - out.listed[owner];
    if (!(rest > 1e-9 * t.peak_bytes)) continue;
    const bool any = out.listed[owner] > 0;
    const bool layer = owner == MemoryOwner::activations;
    if (owner == MemoryOwner::optimizer && !any) {
      out.rows.push_back({"moments of all parameters", owner, rest, 1});
      continue;
    }
    out.rows.push_back(
        {layer ? "the layer at work and the ends" : (any ? "the rest: " : "") + std::string(owner_name(owner)), owner,
         rest, 1});
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const TensorRow& x, const TensorRow& y) { return x.each_bytes > y.each_bytes; });
  return out.rows;
}

}  // namespace models::memory
