#include "models/memory/saved_tensors.h"

#include <algorithm>
#include <string_view>

#include "models/base/integer_math.h"
#include "models/memory/frozen_layers.h"
#include "models/memory/state_bytes.h"

namespace models::memory {
namespace {

constexpr double row_sum_bytes = 4, mask_bytes = 1;

bool ends_with(std::string_view name, std::string_view tail) { return name.ends_with(tail); }

/// Counts the operations of one layer, one after the other.
class SavedCount {
 public:
  SavedCount(const Architecture& a, const TrainingPlan& p, std::vector<OperationMemory>& out)
      : a_(a), p_(p), w_(workload_of(p)), out_(out) {
    tokens_ = new_tokens(w_);
    t_ = as_double(p.tensor);
    stream_share_ = p.sequence_parallel ? 1 / t_ : 1;
    width_ = w_.activation_bytes;
  }

  void add(const LayerOperation& op, std::size_t index) {
    now_ = OperationMemory();
    input_ = 0;
    now_.operation = index;
    if (op.group == OperationGroup::norm)
      norm(op);
    else if (op.group == OperationGroup::attention)
      attention(op);
    else if (op.group == OperationGroup::residual)
      residual();
    else if (op.shape.k > 0)
      product(op);
    else
      elementwise(op);
    if (p_.every_second_product)
      drop_by_product(op);
    else
      drop_by_module(op);
    out_.push_back(now_);
  }

 private:
  double stream() const { return tokens_ * as_double(a_.hidden) * width_ * stream_share_; }

  void norm(const LayerOperation& op) {
    const std::string_view name = op.name;
    if (ends_with(name, "latent norm")) {
      const double rank = as_double(name.starts_with("query") ? a_.latent.q_lora_rank : a_.latent.kv_lora_rank);
      now_.saved = tokens_ * rank * width_ * stream_share_;
      now_.output = now_.saved;
      now_.what = "the latent before its norm";
    } else if (name == "query norm" || name == "key norm" || name == "qk-norm and rope") {
      const double heads = as_double((name == "key norm" ? 0 : a_.heads) + (name == "query norm" ? 0 : a_.kv_heads));
      now_.saved = tokens_ * heads * as_double(a_.head_dim) * width_ / t_;
      now_.output = now_.saved;
      now_.what = "queries and keys before their norm";
      now_.input_gradient = now_.saved;
      return;
    } else {
      now_.saved = stream();
      now_.output = stream();
      now_.what = "the residual stream";
      inputs_.clear();
    }
    now_.input_gradient = now_.saved;
  }

  void residual() {
    now_.output = stream();
    now_.what = "nothing";
  }

  /// Rows x k of the input, kept once if several products read it.
  void product(const LayerOperation& op) {
    const std::string_view name = op.name;
    const bool experts = op.group == OperationGroup::experts;
    const bool inner = ends_with(name, "output projection") || ends_with(name, "down projection");
    const double rows = op.shape.m * (experts ? 1 : op.shape.batch);
    const double in = rows * op.shape.k * width_;
    const bool routed = experts && name != "router";
    const bool gathers = !inner && p_.sequence_parallel && t_ > 1 && !routed;
    const double share = inner ? 1 / t_ : gathers && p_.gathered_inputs ? 1 : stream_share_;
    const Input input{rows, op.shape.k, inner};
    const bool kept = !inner && std::find(inputs_.begin(), inputs_.end(), input) != inputs_.end();
    if (!kept && !inner) inputs_.push_back(input);
    now_.shares_input = kept;
    const double kept_width = p_.kept_input_bytes > 0 && name != "router" ? p_.kept_input_bytes : width_;
    now_.saved = kept ? 0 : in * share * kept_width / width_;
    input_ = now_.saved;
    if (gathers && !p_.gathered_inputs) now_.gathered = in;
    now_.input_gradient = inner ? in / t_ : in;
    now_.what = kept ? "its input is kept already" : "its input";
    double out = rows * op.shape.n * width_;
    if (inner) {
      now_.output = out * stream_share_;
      if (p_.dropout && !routed) {
        now_.saved += tokens_ * as_double(a_.hidden) * mask_bytes * stream_share_;
        now_.what = "its input and the mask of the dropout behind it";
      }
    } else {
      const bool latent = ends_with(name, "down") || name == "router";
      now_.output = latent ? out : out / t_;
      if (name == "router") now_.output = 2 * rows * op.shape.n * 4;  // scores and probabilities in FP32
      if (name == "router") now_.saved += now_.output;
    }
    const double weights = as_double(op.parameters);
    const double parts = expert_tensor(p_) * as_double(p_.expert);
    now_.weight_gradient = routed ? weights / parts : name == "router" ? weights : weights / t_;
  }

  void attention(const LayerOperation& op) {
    const bool latent = a_.has_latent();
    const double heads = as_double(a_.heads), kv_heads = as_double(latent ? a_.heads : a_.kv_heads);
    const double qk = as_double(latent ? a_.latent.nope_dim + a_.latent.rope_dim : a_.head_dim);
    const double v = as_double(latent ? a_.latent.v_dim : a_.head_dim);
    const double query = tokens_ * heads * qk * width_ / t_, key = tokens_ * kv_heads * qk * width_ / t_;
    const double value = tokens_ * kv_heads * v * width_ / t_, result = tokens_ * heads * v * width_ / t_;
    const double square =
        as_double(p_.batch) * heads * as_double(w_.sequence) * as_double(w_.sequence) * as_double(p_.context) / t_;
    if (op.name == "fused attention") {
      now_.saved = query + key + value + tokens_ * heads * row_sum_bytes / t_;
      // All-to-all context parallelism keeps the result in both layouts.
      if (p_.context > 1) now_.saved += result;
      now_.output = result;
      now_.input_gradient = query + key + value;
      now_.what = "queries, keys, values and row sums";
    } else if (op.name == "scores") {
      now_.saved = query + key;
      now_.output = square * width_;
      now_.input_gradient = query + key;
      now_.what = "queries and keys";
    } else if (op.name == "softmax") {
      now_.saved = square * (width_ + (p_.dropout ? mask_bytes + width_ : 0));
      now_.dropped = now_.saved;
      now_.output = square * width_;
      now_.input_gradient = square * width_;
      now_.what = p_.dropout ? "its result, the mask and the dropped result" : "its result";
    } else if (op.name == "values") {
      now_.saved = value;
      now_.output = result;
      now_.input_gradient = value + square * width_;
      now_.what = "values";
    } else {
      now_.what = "nothing";  // the rotation works in place
    }
  }

  void elementwise(const LayerOperation& op) {
    const std::string_view name = op.name;
    if (name == "dispatch") {
      now_.output = op.forward.write_bytes;
      now_.input_gradient = tokens_ * as_double(a_.hidden) * width_;
      now_.what = "nothing: its result is the experts' input";
      return;
    }
    if (name == "combine") {
      // The router's probabilities multiply inside the experts, so that the sum keeps nothing.
      now_.output = stream();
      now_.input_gradient = tokens_ * as_double(a_.moe.per_token * a_.hidden) * width_;
      now_.what = "nothing: the weights were multiplied in before";
      return;
    }
    // Activation functions and gates keep what they read.
    now_.saved = op.forward.read_bytes / t_;
    now_.output = op.forward.write_bytes / t_;
    now_.input_gradient = now_.saved;
    now_.what = "what it reads";
    if (!p_.eager_gate || !a_.gated) return;
    now_.saved += now_.output;
    now_.what = "what it reads, and the gate's own result";
  }

  bool gives_up(RecomputeModule module) const { return (p_.modules & bit(module)) != 0; }
  void drop(double bytes, OperationMemory::Comeback comeback) {
    now_.dropped = bytes;
    now_.comeback = comeback;
  }

  void drop_by_module(const LayerOperation& op) {
    using Comeback = OperationMemory::Comeback;
    const std::string_view name = op.name;
    const bool scores = name == "softmax";
    if (scores && !gives_up(RecomputeModule::core_attention)) now_.dropped = 0;
    const bool experts = op.group == OperationGroup::experts || name.starts_with("shared ");
    const bool dense = op.group == OperationGroup::feed_forward && !experts;
    if ((experts && gives_up(RecomputeModule::experts)) || (dense && gives_up(RecomputeModule::feed_forward))) {
      // The block's own input stays: it is what the first of its products keeps.
      const bool first = name == "router" || name == "gate projection" || (name == "up projection" && !a_.gated);
      return drop(first ? now_.saved - input_ : now_.saved, Comeback::with_block);
    }
    if (op.shape.k > 0 && op.group != OperationGroup::attention) {
      const bool inner = ends_with(name, "output projection") || ends_with(name, "down projection");
      const bool routed = op.group == OperationGroup::experts && name != "router";
      if (ends_with(name, "down projection") && gives_up(RecomputeModule::activation))
        return drop(input_, Comeback::alone);
      if (!inner && !routed && gives_up(RecomputeModule::norms)) return drop(input_, Comeback::alone);
    }
    if (name == "fused attention" && a_.has_latent() && gives_up(RecomputeModule::latent_up))
      return drop(now_.input_gradient, Comeback::alone);
  }

  /// Every second product's result is kept, of those of a dense Llama layer: queries, values, gate and the block's
  /// result; attention's result too.
  void drop_by_product(const LayerOperation& op) {
    const std::string_view name = op.name;
    double stays = 0;
    if (op.group == OperationGroup::norm && !seen_norm_) {
      stays = now_.saved;  // the layer's input, from which all else is made again
      seen_norm_ = true;
    } else if (name == "fused attention") {
      const double keys = tokens_ * as_double(a_.has_latent() ? a_.heads : a_.kv_heads) *
                          as_double(a_.has_latent() ? a_.latent.nope_dim + a_.latent.rope_dim : a_.head_dim) * width_ /
                          t_;
      stays = now_.saved - keys;
    } else if (name == "output projection") {
      stays = now_.saved;
    } else if (ends_with(name, "activation and gate")) {
      stays = now_.saved / 2;
    } else if (ends_with(name, "down projection")) {
      stays = std::min(now_.saved, now_.output);
    }
    drop(now_.saved - stays, OperationMemory::Comeback::with_block);
  }

  struct Input {
    double rows, k;
    bool inner;
    bool operator==(const Input&) const = default;
  };
  const Architecture& a_;
  const TrainingPlan& p_;
  Workload w_;
  std::vector<OperationMemory>& out_;
  double tokens_ = 1, t_ = 1, stream_share_ = 1, width_ = 2;
  std::vector<Input> inputs_;
  double input_ = 0;  ///< The part of `saved` that is the input of a product.
  bool seen_norm_ = false;
  OperationMemory now_;
};

}  // namespace

std::uint8_t modules_of(const Architecture& a, const LayerOperation& op, bool fused_attention) {
  const std::string_view name = op.name;
  const bool experts = op.group == OperationGroup::experts || name.starts_with("shared ");
  std::uint8_t out = 0;
  if (experts) out |= bit(RecomputeModule::experts);
  if (op.group == OperationGroup::feed_forward && !experts) out |= bit(RecomputeModule::feed_forward);
  if (op.group == OperationGroup::attention && name != "rope" && !fused_attention)
    out |= bit(RecomputeModule::core_attention);
  if (op.group == OperationGroup::norm) out |= bit(RecomputeModule::norms);
  if (op.shape.k <= 0 && name.find("activation") != std::string_view::npos) out |= bit(RecomputeModule::activation);
  if (a.has_latent() && (name == "query up" || name == "key and value up" || name == "rope"))
    out |= bit(RecomputeModule::latent_up);
  return out;
}

bool runs_with_second_products(const LayerOperation& op) {
  const std::string_view name = op.name;
  if (op.group == OperationGroup::attention) return name != "fused attention";
  if (op.shape.k <= 0) return true;
  return name == "key projection" || name == "output projection" || ends_with(name, "up projection") ||
         ends_with(name, " up");
}

std::vector<OperationMemory> operation_memory(const Architecture& architecture,
                                              std::span<const LayerOperation> operations, const TrainingPlan& plan) {
  std::vector<OperationMemory> out;
  out.reserve(operations.size());
  SavedCount count(architecture, plan, out);
  for (std::size_t i = 0; i < operations.size(); ++i) count.add(operations[i], i);
  if (plan.frozen) keep_for_adapters(operations, plan, out);
  return out;
}

LayerMemory layer_memory(const Architecture& a, std::span<const LayerOperation> operations, const TrainingPlan& p) {
  LayerMemory sum;
  for (const OperationMemory& m : operation_memory(a, operations, p)) {
    sum.saved += m.saved;
    sum.dropped += m.dropped;
  }
  const Workload w = workload_of(p);
  sum.checkpoint =
      new_tokens(w) * as_double(a.hidden) * w.activation_bytes * (p.sequence_parallel ? 1 / as_double(p.tensor) : 1);
  return sum;
}

}  // namespace models::memory
