#include "models/memory/step_timeline.h"

#include <algorithm>

#include "models/base/integer_math.h"
#include "models/memory/layer_walk.h"
#include "models/memory/state_bytes.h"

namespace models::memory {
namespace {

/// Writes a point for each operation. It is the sink of the walks.
class TimelineWriter {
 public:
  TimelineWriter(const Architecture& a, const TimelineSetting& s, const OperationTimes& times)
      : a_(a), s_(s), p_(s.plan), times_(times), w_(workload_of(s.plan)) {
    stream_ = new_tokens(w_) * as_double(a.hidden) * w_.activation_bytes *
              (p_.sequence_parallel ? 1 / as_double(p_.tensor) : 1);
    logits_ = new_tokens(w_) * as_double(a.vocab) / as_double(p_.tensor);
    per_ = bytes_per_parameter(a, p_);
    late_ = gradients_come_late(p_);
    for (const KindTimes& kind : times.kinds) {
      memory_.push_back(operation_memory(a, kind.operations, p_));
      first_name_.push_back(out_.operations.size());
      for (const LayerOperation& op : kind.operations) out_.operations.push_back(op.name);
    }
    for (std::int64_t i = 0; i < a.layers; ++i) {
      const LayerForm form = layer_form(a, i);
      kind_of_.push_back(static_cast<std::size_t>(
          std::find_if(times.kinds.begin(), times.kinds.end(), [&](const auto& k) { return k.kind.form == form; }) -
          times.kinds.begin()));
    }
    keep_ = s.layers;
    keep_.resize(static_cast<std::size_t>(a.layers), LayerKeep::kept);
    std::size_t operations = 0;
    for (const std::size_t kind : kind_of_) operations += memory_[kind].size();
    const auto repeats = static_cast<std::size_t>(s.steps * p_.micro_batches);
    out_.points.reserve(repeats * (operations * 3 + 40) + 16);
    out_.spans.reserve(repeats * (3 * kind_of_.size() + 4) + 16);
  }

  StepTimeline run() {
    const HeldBytes states = state_bytes(a_, p_);
    now_ = states;
    if (late_) now_[MemoryOwner::gradients] = 0;
    if (s_.first_step) now_[MemoryOwner::optimizer] = 0;
    for (std::int64_t step = 0; step < s_.steps; ++step) {
      step_ = static_cast<std::int16_t>(step);
      const double began = time_;
      for (std::int64_t m = 0; m < p_.micro_batches; ++m) {
        micro_ = static_cast<std::int16_t>(m);
        fresh_gradients_ = late_ && m == 0 && !(s_.keep_gradients && step > 0);
        forward();
        backward();
      }
      optimizer(states);
      out_.step_s = time_ - began;
      if (step == 0) out_.recompute_s = again_s_;
    }
    point("end", 0);
    out_.rest_bytes = now_.total();
    return std::move(out_);
  }

  void begin(std::size_t) {}
  void end(std::size_t operation) {
    push(static_cast<std::uint32_t>(first_name_[kind_] + operation));
    time_ += (*seconds_)[operation];
  }
  void held(MemoryOwner owner, double bytes) { now_[owner] += bytes; }

 private:
  void push(std::uint32_t operation) {
    const double total = now_.total();
    if (total > out_.peak_bytes) {
      out_.peak_bytes = total;
      out_.peak = out_.points.size();
    }
    if (phase_ == StepPhase::loss) out_.loss_peak_bytes = std::max(out_.loss_peak_bytes, total);
    out_.points.push_back({time_, now_, static_cast<std::uint32_t>(out_.spans.size() - 1), operation});
  }
  void point(const char* name, double seconds) {
    const auto known = std::find(out_.operations.begin(), out_.operations.end(), name);
    const auto index = static_cast<std::uint32_t>(known - out_.operations.begin());
    if (known == out_.operations.end()) out_.operations.emplace_back(name);
    push(index);
    time_ += seconds;
  }
  void open(StepPhase phase, std::int32_t layer = -1) {
    phase_ = phase;
    out_.spans.push_back({time_, time_, phase, layer, micro_, step_});
  }
  void close() { out_.spans.back().end_s = time_; }

  double saved_of(std::size_t layer) const {
    double sum = 0;
    for (const OperationMemory& m : memory_[kind_of_[layer]]) sum += m.saved;
    return sum;
  }
  bool again(std::size_t layer) const { return keep_[layer] == LayerKeep::again || keep_[layer] == LayerKeep::joined; }
  bool starts(std::size_t layer) const {
    return keep_[layer] == LayerKeep::again || (keep_[layer] == LayerKeep::joined && (layer == 0 || !again(layer - 1)));
  }
  static Recompute mode(LayerKeep keep) {
    return keep == LayerKeep::selective ? Recompute::selective : Recompute::none;
  }

  void forward() {
    open(StepPhase::forward);
    point("token embedding", times_.embedding_forward_s);
    close();
    for (std::size_t i = 0; i < kind_of_.size(); ++i) {
      kind_ = kind_of_[i];
      seconds_ = &times_.kinds[kind_].forward_s;
      open(StepPhase::forward, static_cast<std::int32_t>(i));
      if (starts(i)) held(MemoryOwner::activations, stream_);
      walk_forward(memory_[kind_], again(i) ? Recompute::full : mode(keep_[i]), MemoryOwner::activations, *this);
      close();
    }
    out_.end_of_forward_bytes = now_.total();
    loss();
  }

  /// Final norm, product with the output matrix, loss, and the way back through them.
  void loss() {
    open(StepPhase::loss);
    held(MemoryOwner::activations, stream_);  // the norm's input
    held(MemoryOwner::temporary, stream_);
    point("final norm", times_.norm_forward_s);
    held(MemoryOwner::activations, head_input());  // and the product's
    held(MemoryOwner::temporary, -stream_);
    if (p_.loss == LossKind::chunked) {
      loss_in_chunks();
    } else {
      loss_of_logits();
      logits_backward();
    }
    finish_loss();
  }

  /// Bytes a logit more, or fewer.
  void logits(double bytes) { held(MemoryOwner::logits, bytes * logits_); }
  /// The hidden state of all tokens of the GPU, and its gradient.
  double hidden_bytes() const { return new_tokens(w_) * as_double(a_.hidden) * w_.activation_bytes; }
  /// Whether sequence parallelism gathers what the product with the output matrix reads.
  bool gathers() const { return p_.sequence_parallel && p_.tensor > 1; }
  /// What that product keeps of it.
  double head_input() const { return gathers() && p_.gathered_inputs ? hidden_bytes() : stream_; }
  /// The output matrix's gradient in passing, where it is not added up in place.
  double passing_gradient() const {
    return fresh_gradients_ || p_.fused_gradients ? 0 : w_.activation_bytes * head_elements();
  }

  void loss_in_chunks() {
    const double whole = hidden_bytes();
    for (int chunk = 0; chunk < static_cast<int>(loss_chunks); ++chunk) {
      logits(12 / loss_chunks);
      if (chunk == 0) held(MemoryOwner::temporary, whole);  // the gradient of the hidden state is filled chunk by chunk
      point("loss of a chunk",
            (times_.logits_forward_s + times_.logits_backward_s + times_.loss_forward_s + times_.loss_backward_s) /
                loss_chunks);
      logits(-12 / loss_chunks);
    }
    head_gradient();
    const double pass = passing_gradient();
    held(MemoryOwner::temporary, pass);
    point("loss", 0);
    held(MemoryOwner::temporary, -whole - pass);
  }

  /// From the hidden state to the gradient of the logits, which is left.
  void loss_of_logits() {
    const double wide = w_.activation_bytes, fp32 = 4;
    const double forward_s = times_.loss_forward_s, backward_s = times_.loss_backward_s;
    logits(wide);
    point("logits", times_.logits_forward_s);
    if (s_.keep_outputs) held(MemoryOwner::buffers, wide * logits_);
    switch (p_.loss) {
      case LossKind::eager:
        if (s_.keep_outputs) logits(-wide);  // the list owns them
        logits(fp32);
        point("FP32 copy of the logits", forward_s * 6 / 14);
        logits(fp32);
        point("log-softmax", forward_s * 8 / 14);
        logits(s_.keep_outputs ? -fp32 : -fp32 - wide);
        point("loss", 0);
        logits(fp32);
        point("gradient of the loss", backward_s * 4 / 22);
        logits(fp32);
        point("gradient of log-softmax", backward_s * 12 / 22);
        logits(-2 * fp32 + wide);
        point("gradient of the logits in 16 bits", backward_s * 6 / 22);
        logits(-fp32);
        break;
      case LossKind::parallel:
        logits(fp32);
        point("FP32 copy of the logits", forward_s * 6 / 14);
        logits(-wide);
        point("loss in place", (forward_s + backward_s) * 8 / 14);
        logits(wide);
        point("gradient of the logits in 16 bits", backward_s * 6 / 14);
        logits(-fp32);
        break;
      case LossKind::fused:
        point("loss and its gradient in place", forward_s + backward_s);
        break;
      case LossKind::eager_sharded:
        sharded_loss();
        break;
      case LossKind::chunked:
        break;
    }
  }

  /// Behind the 16-bit logits: each operation writes an FP32 tensor of its own.
  void sharded_loss() {
    const double wide = w_.activation_bytes, fp32 = 4;
    const double forward_s = times_.loss_forward_s / 38, backward_s = times_.loss_backward_s / 38;
    if (s_.keep_outputs) logits(-wide);  // the list owns them
    logits(fp32);
    point("FP32 copy of the logits", forward_s * 6);
    logits(fp32);
    point("logits less their maximum", forward_s * 12);
    logits(fp32);
    point("exponentials and their sum", forward_s * 12);
    point("log-softmax", forward_s * 8);
    logits(s_.keep_outputs ? -2 * fp32 : -2 * fp32 - wide);
    point("loss", 0);
    logits(fp32);
    point("gradient of the loss", backward_s * 4);
    logits(fp32);
    point("exponentials", backward_s * 8);
    logits(fp32);
    point("sum of both", backward_s * 12);
    point("gradient of log-softmax", backward_s * 8);
    logits(-3 * fp32 + wide);
    point("gradient of the logits in 16 bits", backward_s * 6);
    logits(-fp32);
  }

  /// The backward pass of the product with the output matrix, which reads the gradient of the logits.
  void logits_backward() {
    const double whole = hidden_bytes();
    const double gathered = gathers() && !p_.gathered_inputs ? whole : 0;
    const double pass = passing_gradient();
    held(MemoryOwner::temporary, whole + gathered + pass);  // the hidden state's gradient among them
    head_gradient();
    point("logits, backward", times_.logits_backward_s);
    logits(-w_.activation_bytes);
    held(MemoryOwner::temporary, -whole - gathered - pass);
  }
  void head_gradient() {
    if (fresh_gradients_) held(MemoryOwner::gradients, per_.gradients * head_elements());
  }
  double head_elements() const {
    const ParameterCount count = count_parameters(a_);
    return as_double(a_.tied ? count.embedding : count.head) / as_double(p_.tensor);
  }
  void finish_loss() {
    held(MemoryOwner::activations, -head_input());
    held(MemoryOwner::temporary, 2 * stream_);
    point("final norm, backward", times_.norm_backward_s);
    held(MemoryOwner::temporary, -2 * stream_);
    held(MemoryOwner::activations, -stream_);
    now_[MemoryOwner::logits] = 0;
    close();
  }

  void backward() {
    const WalkRules rules{
        .weight_gradients_stay = fresh_gradients_,
        .stay_bytes = per_.gradients,
        .weight_gradients_pass = !fresh_gradients_ && !p_.fused_gradients,
        .pass_bytes = w_.activation_bytes,
    };
    held(MemoryOwner::temporary, stream_);  // the gradient of the residual stream goes through all layers
    for (std::size_t end = kind_of_.size(); end > 0;) {
      std::size_t first = end - 1;
      while (first > 0 && again(first) && !starts(first)) --first;
      if (again(first)) {
        for (std::size_t i = first; i < end; ++i) {
          kind_ = kind_of_[i];
          seconds_ = &times_.kinds[kind_].forward_s;
          const double from = time_;
          open(StepPhase::again, static_cast<std::int32_t>(i));
          if (i == first) held(MemoryOwner::temporary, -stream_);  // its input is the checkpoint that is there
          walk_forward(memory_[kind_], Recompute::none, MemoryOwner::temporary, *this);
          close();
          if (step_ == 0) again_s_ += time_ - from;
        }
      }
      for (std::size_t i = end; i-- > first;) {
        kind_ = kind_of_[i];
        seconds_ = &times_.kinds[kind_].backward_s;
        open(StepPhase::backward, static_cast<std::int32_t>(i));
        walk_backward(memory_[kind_], again(i) ? Recompute::none : mode(keep_[i]),
                      again(i) ? MemoryOwner::temporary : MemoryOwner::activations, rules, *this);
        if (again(i) && i == first) {
          held(MemoryOwner::temporary, stream_);
          held(MemoryOwner::activations, -stream_);
        }
        close();
      }
      end = first;
    }
    open(StepPhase::backward);
    if (fresh_gradients_) {
      const double all = state_bytes(a_, p_)[MemoryOwner::gradients];
      now_[MemoryOwner::gradients] = all;  // embedding, norms and biases: the rest of them
    }
    point("token embedding, backward", times_.embedding_backward_s);
    held(MemoryOwner::temporary, -stream_);
    now_[MemoryOwner::temporary] = std::max(0.0, now_[MemoryOwner::temporary]);
    close();
  }

  void optimizer(const HeldBytes& states) {
    open(StepPhase::optimizer);
    now_[MemoryOwner::optimizer] = states[MemoryOwner::optimizer];
    double copies = 0;
    const StageParameters n = stage_parameters(a_, p_);
    if (s_.loop == OptimizerLoop::foreach) copies = 4 * n.total();
    if (s_.loop == OptimizerLoop::per_tensor) copies = 4 * as_double(a_.vocab * a_.hidden) / as_double(p_.tensor);
    held(MemoryOwner::temporary, copies);
    point("optimizer", times_.optimizer_s);
    held(MemoryOwner::temporary, -copies);
    if (late_ && !s_.keep_gradients) now_[MemoryOwner::gradients] = 0;
    close();
  }

  const Architecture& a_;
  const TimelineSetting& s_;
  const TrainingPlan& p_;
  const OperationTimes& times_;
  Workload w_;
  BytesPerParameter per_;
  double stream_ = 0, logits_ = 0, time_ = 0, again_s_ = 0;
  bool late_ = false, fresh_gradients_ = false;
  HeldBytes now_;
  StepPhase phase_ = StepPhase::forward;
  std::int16_t micro_ = 0, step_ = 0;
  std::size_t kind_ = 0;
  const std::vector<double>* seconds_ = nullptr;
  std::vector<std::vector<OperationMemory>> memory_;
  std::vector<std::size_t> first_name_, kind_of_;
  std::vector<LayerKeep> keep_;
  StepTimeline out_;
};

}  // namespace

std::string_view phase_name(StepPhase phase) {
  switch (phase) {
    case StepPhase::forward:
      return "forward";
    case StepPhase::loss:
      return "loss";
    case StepPhase::backward:
      return "backward";
    case StepPhase::again:
      return "again";
    case StepPhase::optimizer:
      return "optimizer";
  }
  return "";
}

Result<StepTimeline> step_timeline(const Architecture& a, const TimelineSetting& s, const Machine& machine) {
  using Outcome = Result<StepTimeline>;
  if (std::string problem = plan_problem(a, s.plan); !problem.empty()) return Outcome::fail(std::move(problem));
  if (s.plan.pipeline != 1) return Outcome::fail("The timeline is of one stage; set pipeline stages to 1.");
  const auto times = operation_times(a, s.plan, machine, s.roof_share);
  if (!times) return Outcome::fail(times.error);
  return Outcome::ok(TimelineWriter(a, s, *times).run());
}

}  // namespace models::memory
