#include "models/parallel/overlap/overlap_work.h"

#include <algorithm>
#include <numeric>
#include "models/base/integer_math.h"
#include "models/memory/operation_times.h"
#include "models/memory/state_bytes.h"

namespace models::parallel {
namespace {

/// Elements of each parameter tensor of an operation: its matrices first, then what is left, a bias or a norm's weight.
void tensors_of(const Architecture& a, const LayerOperation& op, std::vector<std::int64_t>& out) {
  out.clear();
  std::int64_t left = op.parameters;
  if (op.shape.n > 0 && op.shape.k > 0) {
    const auto matrix = static_cast<std::int64_t>(op.shape.n) * static_cast<std::int64_t>(op.shape.k);
    const std::int64_t stored =
        op.group == OperationGroup::experts && op.name != "router" ? a.moe.routed : std::int64_t{1};
    for (std::int64_t i = 0; i < stored && left >= matrix; ++i) {
      out.push_back(matrix);
      left -= matrix;
    }
  }
  if (left > 0) out.push_back(left);
}

struct TimedOperation {
  const LayerOperation* operation = nullptr;
  double backward_s = 0;
};

/// The gradients of a unit whose operations these are; `before_s` of its backward is something else.
void add_gradients(const Architecture& a, std::span<const TimedOperation> operations, double before_s, double whole_s,
                   std::int32_t unit, std::vector<GradientTensor>& out) {
  std::vector<std::int64_t> elements;
  double done_s = before_s;
  for (std::size_t i = operations.size(); i-- > 0;) {
    done_s += operations[i].backward_s;
    tensors_of(a, *operations[i].operation, elements);
    for (const std::int64_t n : elements) out.push_back({n, unit, whole_s > 0 ? std::min(1.0, done_s / whole_s) : 1.0});
  }
}

/// The operations before and behind the layers, with the time of the backward of each, and their parameters.
struct OutermostOperations {
  std::vector<TimedOperation> embedding, output;
  double embedding_elements = 0, output_elements = 0;
};
OutermostOperations outermost_operations(const std::vector<LayerOperation>& operations,
                                         const memory::OperationTimes& times) {
  OutermostOperations out;
  for (const LayerOperation& op : operations) {
    if (op.layer == "embedding") {
      out.embedding.push_back({&op, 0});
      out.embedding_elements += as_double(op.parameters);
    } else if (op.layer == "output") {
      out.output.push_back({&op, op.name == "loss"         ? times.loss_backward_s
                                 : op.name == "final norm" ? times.norm_backward_s
                                                           : times.logits_backward_s});
      out.output_elements += as_double(op.parameters);
    }
  }
  return out;
}

OverlapUnit layer_unit(std::int64_t layer, const memory::KindTimes& kind, bool runs_again) {
  OverlapUnit unit{.name = "layer " + std::to_string(layer)};
  unit.forward_s = std::accumulate(kind.forward_s.begin(), kind.forward_s.end(), 0.0);
  unit.backward_s =
      std::accumulate(kind.backward_s.begin(), kind.backward_s.end(), 0.0) + (runs_again ? unit.forward_s : 0);
  for (const LayerOperation& op : kind.operations) unit.elements += as_double(op.parameters);
  return unit;
}

/// The kind of each layer, in their order.
std::vector<const memory::KindTimes*> kinds_of_layers(const Architecture& a, const memory::OperationTimes& times) {
  std::vector<const memory::KindTimes*> out;
  for (std::int64_t layer = 0; layer < a.layers; ++layer) {
    const LayerForm form = layer_form(a, layer);
    out.push_back(&*std::find_if(times.kinds.begin(), times.kinds.end(),
                                 [&](const memory::KindTimes& k) { return k.kind.form == form; }));
  }
  return out;
}

/// Embedding, layers and output, with the sums of their times.
void add_units(const OutermostOperations& outermost, const std::vector<const memory::KindTimes*>& kinds,
               const memory::OperationTimes& times, OverlapWork& out) {
  out.units.push_back(
      {"embedding", outermost.embedding_elements, times.embedding_forward_s, times.embedding_backward_s});
  for (const memory::KindTimes* kind : kinds)
    out.units.push_back(layer_unit(static_cast<std::int64_t>(out.units.size()) - 1, *kind, out.runs_again));
  out.units.push_back({"output", outermost.output_elements,
                       times.norm_forward_s + times.logits_forward_s + times.loss_forward_s,
                       times.norm_backward_s + times.logits_backward_s + times.loss_backward_s});
  for (const OverlapUnit& unit : out.units) {
    out.forward_s += unit.forward_s;
    out.backward_s += unit.backward_s;
  }
}

/// The gradients of all units in the order in which the backward finds them: output first.
void add_tensors(const Architecture& a, const OutermostOperations& outermost,
                 const std::vector<const memory::KindTimes*>& kinds, OverlapWork& out) {
  add_gradients(a, outermost.output, 0, out.units.back().backward_s, static_cast<std::int32_t>(out.units.size() - 1),
                out.tensors);
  std::vector<TimedOperation> timed;
  for (std::size_t layer = kinds.size(); layer-- > 0;) {
    const memory::KindTimes& kind = *kinds[layer];
    timed.clear();
    for (std::size_t i = 0; i < kind.operations.size(); ++i) timed.push_back({&kind.operations[i], kind.backward_s[i]});
    const OverlapUnit& unit = out.units[layer + 1];
    add_gradients(a, timed, out.runs_again ? unit.forward_s : 0, unit.backward_s, static_cast<std::int32_t>(layer + 1),
                  out.tensors);
  }
  add_gradients(a, outermost.embedding, out.units[0].backward_s, out.units[0].backward_s, 0, out.tensors);
}

}  // namespace

Result<OverlapWork> overlap_work(const Architecture& a, const memory::TrainingPlan& plan, const Machine& machine,
                                 double roof_share) {
  using Out = Result<OverlapWork>;
  if (std::string problem = memory::plan_problem(a, plan); !problem.empty()) return Out::fail(std::move(problem));
  const auto times = memory::operation_times(a, plan, machine, roof_share);
  if (!times) return Out::fail(times.error);
  OverlapWork out;
  const Workload workload = memory::workload_of(plan);
  out.tokens = new_tokens(workload);
  out.tied = a.tied;
  out.runs_again = plan.recompute == Recompute::full;
  out.optimizer_s = times->optimizer_s;
  out.state_bytes = memory::state_bytes(a, plan).total();
  const ParameterCount count = count_parameters(a);
  out.elements = as_double(count.total);
  const double routed = as_double(count.layers.routed_experts);
  if (routed > 0)
    out.active_share =
        1 - routed * (1 - as_double(a.moe.per_token) / as_double(a.moe.routed)) / as_double(count.layers.total());
  const std::vector<LayerOperation> operations = model_operations(a, workload);
  const OutermostOperations outermost = outermost_operations(operations, *times);
  const std::vector<const memory::KindTimes*> kinds = kinds_of_layers(a, *times);
  add_units(outermost, kinds, *times, out);
  add_tensors(a, outermost, kinds, out);
  return Out::ok(std::move(out));
}

OverlapWork with_units_of(const OverlapWork& work, std::int64_t layers) {
  if (layers <= 1 || work.units.size() < 4) return work;
  OverlapWork out = work;
  out.units.assign({work.units.front()});
  std::vector<std::int32_t> place(work.units.size(), 0);
  const std::size_t last = work.units.size() - 1;
  for (std::size_t i = 1; i < last; ++i) {
    if ((i - 1) % static_cast<std::size_t>(layers) == 0) {
      out.units.push_back(work.units[i]);
    } else {
      OverlapUnit& unit = out.units.back();
      unit.elements += work.units[i].elements;
      unit.forward_s += work.units[i].forward_s;
      unit.backward_s += work.units[i].backward_s;
    }
    place[i] = static_cast<std::int32_t>(out.units.size() - 1);
  }
  out.units.push_back(work.units.back());
  place[last] = static_cast<std::int32_t>(out.units.size() - 1);
  for (std::size_t i = 1; i < last; ++i) {
    const std::size_t to = static_cast<std::size_t>(place[i]);
    if (place[i] != place[i - 1]) {
      const std::size_t end = std::min(last, i + static_cast<std::size_t>(layers)) - 1;
      if (end > i)
        out.units[to].name = "layers " + work.units[i].name.substr(6) + " to " + work.units[end].name.substr(6);
    }
  }
  // A merged unit's backward goes from its last layer to its first.
  for (GradientTensor& tensor : out.tensors) {
    const auto from = static_cast<std::size_t>(tensor.unit);
    const std::int32_t to = place[from];
    const OverlapUnit& merged = out.units[static_cast<std::size_t>(to)];
    double before_s = 0;
    for (std::size_t i = from + 1; i < work.units.size() && place[i] == to; ++i) before_s += work.units[i].backward_s;
    if (merged.backward_s > 0)
      tensor.after_share =
          std::min(1.0, (before_s + tensor.after_share * work.units[from].backward_s) / merged.backward_s);
    tensor.unit = to;
  }
  return out;
}

std::vector<GradientBucket> gradient_buckets(std::span<const GradientTensor> tensors, double element_bytes,
                                             double first_bytes, double bytes) {
  std::vector<GradientBucket> out;
  GradientBucket open;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    open.bytes += as_double(tensors[i].elements) * element_bytes;
    open.last = i + 1;
    if (open.bytes >= (out.empty() ? first_bytes : bytes)) {
      out.push_back(open);
      open = {.first = i + 1, .last = i + 1, .bytes = 0};
    }
  }
  if (open.last > open.first) out.push_back(open);
  return out;
}

}  // namespace models::parallel
