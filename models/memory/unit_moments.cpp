#include "models/memory/unit_moments.h"

#include <algorithm>

#include "models/base/integer_math.h"
#include "models/memory/layer_walk.h"
#include "models/memory/loss_peak.h"
#include "models/memory/operation_times.h"

namespace models::memory {
namespace {

WalkRules rules_of(const Architecture& a, const TrainingPlan& p, double stream) {
  const bool late = gradients_grow(p), whole = gathers_units(p);
  return {
      .weight_gradients_stay = late || whole,
      .stay_bytes = whole ? gathered_bytes_each(a, p) : bytes_per_parameter(a, p).gradients,
      .weight_gradients_pass = !late && !whole && !p.fused_gradients,
      .pass_bytes = workload_of(p).activation_bytes,
      .stream_bytes = stream,
  };
}

/// The highest sum, and how much of it was gradients of weights.
struct HighestWithGradients {
  double now = 0, gradients = 0, highest = 0, gradients_then = 0;
  void begin(std::size_t) {}
  void held(MemoryOwner owner, double bytes) {
    now += bytes;
    if (owner == MemoryOwner::gradients) gradients += bytes;
    if (now <= highest) return;
    highest = now;
    gradients_then = gradients;
  }
  void end(std::size_t) {}
};

/// The highest sum of what passes; what is kept is not counted.
struct HighestPassing {
  double now = 0, highest = 0;
  void begin(std::size_t) {}
  void held(MemoryOwner owner, double bytes) {
    if (owner != MemoryOwner::temporary) return;
    now += bytes;
    highest = std::max(highest, now);
  }
  void end(std::size_t) {}
};

/// Writes the moments of one step.
class MomentWriter {
 public:
  MomentWriter(const Architecture& a, const TrainingPlan& p, const StageUnits& stage, const StepFigures& step)
      : a_(a),
        p_(p),
        kinds_(step.kinds),
        kept_(step.kept),
        stream_(step.stream),
        base_(step.states),
        units_(stage.units),
        layers_(stage.layers),
        first_layer_(stage.units.front().kind == UnitKind::embedding ? 1 : 0) {
    each_ = gathered_bytes_each(a, p);
    if (p.parameters > 0 && !p.frozen) scale_ = p.parameters / as_double(count_parameters(a).total);
    if (late_) base_[MemoryOwner::gradients] = 0;
    const double each = bytes_per_parameter(a, p).gradients;
    all_gradients_ = step.states[MemoryOwner::gradients];
    late_each_ = late_ ? each : 0;
  }

  std::vector<StepMoment> write(double activations) {
    double own = 0;  // Activations of the micro-batch that is followed.
    for (std::size_t i = 0; i < units_.size(); ++i)
      if (units_[i].kind == UnitKind::layer) own += kept_[kind_of(i)];
    activations_ = std::max(0.0, activations - own);
    for (std::size_t i = 0; i < units_.size(); ++i)
      if (units_[i].kind != UnitKind::head) forward(i);
    activations_ = activations;
    if (units_.back().kind == UnitKind::head) loss();
    for (std::size_t i = units_.size(); i-- > 0;)
      if (units_[i].kind == UnitKind::layer) backward(i);
    end();
    return std::move(moments_);
  }

  StepMoment fullest(double activations) {
    fullest_alone_ = true;
    activations_ = activations;
    if (units_.back().kind == UnitKind::head) loss();
    for (std::size_t i = units_.size(); i-- > 0;) {
      if (units_[i].kind != UnitKind::layer) continue;
      if (as_the_one_before(i))
        activations_ = std::max(0.0, activations_ - kept_[kind_of(i)]);
      else
        backward(i);
    }
    end();
    return fullest_;
  }

 private:
  std::size_t kind_of(std::size_t unit) const { return layers_[unit - first_layer_]; }

  /// Whether the backward pass of a layer finds all as that of the layer behind it did, but for activations that are
  /// gone: the same layer, and neighbours of the same size.
  bool as_the_one_before(std::size_t i) const {
    const auto ahead = static_cast<std::size_t>(p_.gather_ahead);
    if (late_ || !gathers_ || !p_.reshard || i < ahead + 1 || i + 2 >= units_.size()) return false;
    if (units_[i + 1].kind != UnitKind::layer || kind_of(i) != kind_of(i + 1)) return false;
    for (std::size_t k = i - ahead; k <= i + 1; ++k)
      if (units_[k].parameters != units_[k + 1].parameters) return false;
    return true;
  }
  bool tied() const { return a_.tied && p_.pipeline == 1; }

  void add(std::size_t unit, FullestMoment moment, bool is_backward, double logits, double temporary, double gradients,
           WholeUnits whole) {
    if (!gathers_) whole = {};
    if (gathers_ && tied() && is_backward && moment != FullestMoment::loss)
      whole.gradient += each_ * units_.front().trained;
    StepMoment m{.unit = unit, .backward = is_backward, .moment = moment, .held = base_, .whole = whole};
    // Gradients of a layer's weights come as its activations go: what is below nothing is activations that are gone.
    m.held[MemoryOwner::activations] = std::max(0.0, activations_ + std::min(0.0, temporary));
    m.held[MemoryOwner::logits] = logits;
    m.held[MemoryOwner::temporary] = std::max(0.0, temporary);
    if (late_) m.held[MemoryOwner::gradients] = gradients;
    m.held[MemoryOwner::buffers] = whole.total();
    if (!fullest_alone_) {
      moments_.push_back(m);
    } else if (const double total = m.held.total(); is_backward && total > fullest_bytes_) {
      fullest_ = m;
      fullest_bytes_ = total;
    }
  }

  /// The moment behind a unit's backward pass, in which its gradient is copied into the reduction's input and its
  /// weights are given up already, takes the place of the last one where it holds more.
  void copied_to_reduce(std::size_t i, FullestMoment moment) {
    if (!gathers_ || stays_whole(p_)) return;
    WholeUnits whole = whole_in_backward(units_, i, a_, p_);
    whole.at_work = std::max(0.0, whole.at_work - each_ * units_[i].parameters);
    whole.gradient = each_ * units_[i].trained;
    whole.reducing = reduced_bytes_each(a_, p_) * units_[i].trained;
    if (fullest_alone_) return add(i, moment, true, 0, stream_, gradients_, whole);
    const StepMoment before = moments_.back();
    add(i, moment, true, 0, stream_, gradients_, whole);
    if (moments_.back().held.total() <= before.held.total()) moments_.back() = before;
    moments_.erase(moments_.end() - 2);
  }

  void forward(std::size_t i) {
    double passing = stream_;
    if (units_[i].kind == UnitKind::layer) {
      const std::size_t kind = kind_of(i);
      activations_ += kept_[kind];
      passing = std::max(passing, kinds_[kind].forward);
    }
    add(i, FullestMoment::layer_backward, false, 0, passing, 0, whole_in_forward(units_, i, a_, p_));
  }

  void loss() {
    const std::size_t i = units_.size() - 1;
    WholeUnits whole = whole_in_backward(units_, i, a_, p_);
    TrainingPlan plan = p_;
    if (gathers_) plan.fused_gradients = false;  // a gathered unit's gradient exists before it is reduced
    const LossPeak peak = loss_peak(a_, plan, late_, gathers_ ? whole.ahead : 0);
    if (!peak.head_backward) whole.ahead = 0;
    whole.gradient = scale_ * peak.gradient;
    const double apart = gathers_ || late_ ? peak.gradient : 0;
    add(i, FullestMoment::loss, true, peak.logits, peak.ends + peak.beside - apart, peak.gradient, whole);
    copied_to_reduce(i, FullestMoment::layer_backward);
    const ParameterCount count = count_parameters(a_);
    gradients_ = p_.frozen ? 0 : late_each_ * as_double(a_.tied ? count.embedding : count.head) / as_double(p_.tensor);
  }

  void backward(std::size_t i) {
    const std::size_t at = kind_of(i);
    const KindFigures& kind = kinds_[at];
    WholeUnits whole = whole_in_backward(units_, i, a_, p_);
    whole.gradient = scale_ * kind.unreduced;
    const double own = std::min(kind.backward, late_each_ * kind.gradients);
    add(i, FullestMoment::layer_backward, true, 0, kind.backward - own - kind.unreduced, gradients_ + own, whole);
    activations_ = std::max(0.0, activations_ - kept_[at]);
    gradients_ += late_each_ * kind.gradients;
    copied_to_reduce(i, FullestMoment::layer_backward);
  }

  void end() {
    WholeUnits whole = whole_in_backward(units_, 0, a_, p_);
    if (units_.front().kind != UnitKind::embedding)
      whole = {};
    else if (!tied())
      whole.gradient = each_ * units_.front().trained;
    add(0, FullestMoment::end_of_backward, true, 0, stream_, all_gradients_, whole);
    if (units_.front().kind == UnitKind::embedding && !tied()) copied_to_reduce(0, FullestMoment::end_of_backward);
  }

  const Architecture& a_;
  const TrainingPlan& p_;
  const std::vector<KindFigures>& kinds_;
  const std::vector<double>& kept_;
  double stream_ = 0, each_ = 0, scale_ = 1, late_each_ = 0, all_gradients_ = 0;
  double activations_ = 0, gradients_ = 0;  // as the step goes
  HeldBytes base_;
  const std::vector<GatherUnit>& units_;
  const std::vector<std::size_t>& layers_;
  const std::size_t first_layer_;
  bool fullest_alone_ = false;
  StepMoment fullest_;
  double fullest_bytes_ = 0;
  const bool late_ = gradients_grow(p_), gathers_ = gathers_units(p_);
  std::vector<StepMoment> moments_;
};

}  // namespace

bool gradients_grow(const TrainingPlan& p) { return gradients_come_late(p) && p.micro_batches == 1; }

double stream_bytes(const Architecture& a, const TrainingPlan& p) {
  const Workload w = workload_of(p);
  return new_tokens(w) * as_double(a.hidden) * w.activation_bytes * (p.sequence_parallel ? 1 / as_double(p.tensor) : 1);
}

KindFigures kind_figures(const Architecture& a, const LayerKind& kind, const TrainingPlan& p, double stream) {
  KindFigures f{.kind = kind, .memory = {}};
  const Workload w = workload_of(p);
  const auto operations = layer_operations(a, kind, w);
  const auto memory = operation_memory(a, operations, p);
  f.memory = layer_memory(a, operations, p);
  HighestPassing passing;
  walk_forward(memory, p.recompute, MemoryOwner::activations, passing);
  f.forward = passing.highest + stream;
  HighestWithGradients sum;
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
  if (gathers_units(p)) f.unreduced = sum.gradients_then;
  // The experts of a layer have one shape, and share its stand-in.
  const double experts = std::max(1.0, as_double(a.moe.routed) / as_double(p.expert));
  for (const OperationMemory& m : memory) f.gradients += m.weight_gradient;
  for (const OperationMemory& m : memory)
    if (operations[m.operation].shape.k > 0)
      f.stand_ins += m.weight_gradient / (operations[m.operation].group == OperationGroup::experts ? experts : 1);
  return f;
}

std::vector<StepMoment> unit_moments(const Architecture& a, const TrainingPlan& p, const StageUnits& stage,
                                     const StepFigures& step) {
  return MomentWriter(a, p, stage, step).write(step.activations);
}

StepMoment fullest_unit_moment(const Architecture& a, const TrainingPlan& p, const StageUnits& stage,
                               const StepFigures& step) {
  return MomentWriter(a, p, stage, step).fullest(step.activations);
}

}  // namespace models::memory
