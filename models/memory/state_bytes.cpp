#include "models/memory/state_bytes.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/memory/frozen_layers.h"

namespace models::memory {
namespace {

constexpr double fp32_bytes = 4;
constexpr double scale_block = 256;  // bitsandbytes keeps one FP32 scale for so many 8-bit moments

/// Elements of matrices that Adafactor keeps only rows and columns of, and those rows and columns.
struct Factored {
  double elements = 0, sums = 0;
};

/// Walks the model's weight matrices; each has rows x columns.
template <class Visit>
void for_each_matrix(const Architecture& a, const Visit& visit) {
  const Workload w{.phase = Phase::train, .batch = 1, .sequence = 1};
  for (const LayerOperation& op : model_operations(a, w)) {
    if (op.parameters <= 0 || !(op.shape.n > 0 && op.shape.k > 0)) continue;
    const double one = op.shape.n * op.shape.k;
    if (one > as_double(op.parameters)) continue;
    visit(op, std::max(1.0, static_cast<double>(static_cast<std::int64_t>(as_double(op.parameters) / one))));
  }
}

double split(double bytes, bool splits, double over) { return splits ? bytes / over : bytes; }

}  // namespace

LayerShare layer_share(const Architecture& a, const TrainingPlan& p, const LayerForm& form) {
  const double t = as_double(p.tensor), experts = as_double(a.moe.routed);
  const double local = std::ceil(experts / as_double(p.expert));
  const LayerParameters one = layer_parameters(a, form);
  const double whole_part = as_double(one.norms + one.router + one.router_bias);
  const double split_part = as_double(one.total() - one.routed_experts) - whole_part;
  const double routed = experts > 0 ? as_double(one.routed_experts) * local / experts : 0;
  LayerShare out{.dense = split_part / t + whole_part, .experts = routed / expert_tensor(p)};
  if (p.frozen) add_frozen_share(a, p, form, out);
  return out;
}

namespace {

/// Beside a bare number of frozen parameters, `scale` times the model's, stand the model's own adapters, evenly over
/// the stages; of that number as large a part is in matrices as of the model.
void add_even_adapters(const Architecture& a, const TrainingPlan& p, double scale, StageParameters& out) {
  for (const LayerKind& kind : layer_kinds(a)) {
    const LayerShare one = layer_share(a, p, kind.form);
    const double here = as_double(kind.count) / as_double(p.pipeline);
    out.matrices += scale * here * one.matrices;
    out.expert_matrices += scale * here * one.expert_matrices;
    out.adapters += here * one.adapters;
    out.expert_adapters += here * one.expert_adapters;
  }
}

}  // namespace

StageParameters stage_parameters(const Architecture& a, const TrainingPlan& p) {
  StageParameters out;
  const double t = as_double(p.tensor);
  const ParameterCount count = count_parameters(a);
  if (p.parameters > 0) {
    const double each = p.parameters / (t * as_double(p.pipeline));
    const double routed = each * as_double(count.layers.routed_experts) / as_double(count.total);
    out = {.dense = each - routed, .experts = routed * t / (expert_tensor(p) * as_double(p.expert))};
    if (p.frozen) add_even_adapters(a, p, p.parameters / as_double(count.total), out);
    return out;
  }
  for (const auto& [first, end] : stage_layers(a, p))
    for (std::int64_t layer = first; layer < end; ++layer) {
      const LayerShare one = layer_share(a, p, layer_form(a, layer));
      out.dense += one.dense;
      out.experts += one.experts;
      out.matrices += one.matrices;
      out.expert_matrices += one.expert_matrices;
      out.adapters += one.adapters;
      out.expert_adapters += one.expert_adapters;
    }
  const double embedding = as_double(count.embedding) / t + as_double(count.positions);
  const double head = a.tied ? as_double(count.embedding) / t : as_double(count.head) / t;
  const auto [first, last] = stage_ends(p);
  if (first) out.outer += embedding;
  if (last) out.outer += as_double(count.outer_norms) + (a.tied && first ? as_double(count.head) / t : head);
  return out;
}

double optimizer_bytes_per_parameter(const Architecture& a, OptimizerKind kind, double wide) {
  switch (kind) {
    case OptimizerKind::adamw:
      return 2 * wide;
    case OptimizerKind::adamw_8bit:
      return 2 * (1 + fp32_bytes / scale_block);
    case OptimizerKind::lion:
    case OptimizerKind::sgd_momentum:
      return wide;
    case OptimizerKind::sgd:
      return 0;
    case OptimizerKind::adamw_16bit:
      return 4;
    case OptimizerKind::adafactor: {
      Factored f;
      for_each_matrix(a, [&](const LayerOperation& op, double matrices) {
        f.elements += as_double(op.count) * matrices * op.shape.n * op.shape.k;
        f.sums += as_double(op.count) * matrices * (op.shape.n + op.shape.k);
      });
      // The embedding is a gather in the list of operations, and a matrix to the optimizer.
      const double width = as_double(a.embedding_width > 0 ? a.embedding_width : a.hidden);
      f.elements += as_double(a.vocab) * width;
      f.sums += as_double(a.vocab) + width;
      const double all = as_double(count_parameters(a).total);
      return (f.sums + std::max(0.0, all - f.elements)) * wide / all;
    }
    case OptimizerKind::muon: {
      double inside = 0;
      for_each_matrix(a, [&](const LayerOperation& op, double matrices) {
        if (op.layer != "embedding" && op.layer != "output" && op.name != "router")
          inside += as_double(op.count) * matrices * op.shape.n * op.shape.k;
      });
      const double all = as_double(count_parameters(a).total);
      return wide * (2 - inside / all);
    }
  }
  return 0;
}

BytesPerParameter bytes_per_parameter(const Architecture& a, StateRecipe recipe, OptimizerKind optimizer) {
  BytesPerParameter b;
  double wide = fp32_bytes;
  switch (recipe) {
    case StateRecipe::zero:
      b = {2, 2, 4, 0};
      break;
    case StateRecipe::megatron:
      b = {2, 4, 4, 0};
      break;
    case StateRecipe::accumulate:
      b = {2, 6, 4, 0};
      break;
    case StateRecipe::no_master:
      b = {2, 2, 0, 0};
      break;
    case StateRecipe::pure_bf16:
      b = {2, 2, 0, 0};
      wide = 2;
      break;
    case StateRecipe::fp32:
      b = {4, 4, 0, 0};
      break;
  }
  b.optimizer = optimizer_bytes_per_parameter(a, optimizer, wide);
  return b;
}

BytesPerParameter bytes_per_parameter(const Architecture& a, const TrainingPlan& p) {
  if (p.own_bytes.total() > 0) return p.own_bytes;
  BytesPerParameter b = bytes_per_parameter(a, p.recipe, p.optimizer);
  if (!p.frozen) return b;
  const double wide = p.recipe == StateRecipe::pure_bf16 ? 2 : fp32_bytes;
  // A pair's matrices lie inside the layers, with one moment of Muon's each.
  if (p.optimizer == OptimizerKind::muon) b.optimizer = wide;
  if (p.optimizer == OptimizerKind::adafactor) b.optimizer = pair_sums_per_element(a, p) * wide;
  return b;
}

double zero_ranks(const TrainingPlan& p) {
  const std::int64_t ranks = p.data * p.context;
  return as_double(p.shard_group > 0 ? std::min(p.shard_group, ranks) : ranks);
}

double expert_tensor(const TrainingPlan& p) {
  if (p.expert_tensor > 0) return as_double(p.expert_tensor);
  const double t = as_double(p.tensor);
  return std::min(t, std::max(1.0, t * as_double(p.data * p.context) / as_double(p.expert)));
}

// Experts live on tensor x data x context GPUs, of which expert parallel takes its share.
double expert_zero_ranks(const TrainingPlan& p) {
  const double wider = p.expert_tensor > 0 ? as_double(p.tensor) / as_double(p.expert_tensor) : 1;
  return std::max(1.0, wider * zero_ranks(p) / as_double(p.expert));
}

StageParameters trained_of(const TrainingPlan& p, const StageParameters& n) {
  if (!p.frozen) return n;
  return {.dense = n.adapters, .experts = n.expert_adapters};
}

namespace {

HeldBytes all_state_bytes(const TrainingPlan& p, const BytesPerParameter& b, const StageParameters& n) {
  const StageParameters trained = trained_of(p, n);
  const double over = zero_ranks(p), experts_over = expert_zero_ranks(p);
  const auto split_both = [&](double dense, double experts, std::int64_t from_stage) {
    const bool splits = p.zero_stage >= from_stage;
    return split(dense, splits, over) + split(experts, splits, experts_over);
  };
  const auto held = [&](double each, std::int64_t from_stage) {
    return split_both(each * (trained.dense + trained.outer), each * trained.experts, from_stage);
  };
  HeldBytes out;
  out[MemoryOwner::weights] = held(b.weights, 3);
  if (p.frozen) {
    const double wide = workload_of(p).weight_bytes;
    out[MemoryOwner::weights] +=
        split_both(p.frozen_bytes * n.matrices + wide * (n.dense + n.outer - n.matrices),
                   p.frozen_bytes * n.expert_matrices + wide * (n.experts - n.expert_matrices), 3);
  }
  out[MemoryOwner::gradients] = held(b.gradients, 2);
  out[MemoryOwner::master] = held(b.master, 1);
  out[MemoryOwner::optimizer] = held(b.optimizer, 1);
  return out;
}

bool is_offloaded(const TrainingPlan& p, MemoryOwner owner) {
  if (owner == MemoryOwner::weights) return p.offload == Offload::parameters;
  if (owner == MemoryOwner::gradients) return p.offload != Offload::none && p.zero_stage >= 2;
  return p.offload != Offload::none;
}

HeldBytes states_where(const TrainingPlan& p, const BytesPerParameter& b, const StageParameters& n, bool on_host) {
  if (p.offload == Offload::none && on_host) return {};
  HeldBytes out = all_state_bytes(p, b, n);
  if (p.offload == Offload::none) return out;
  for (std::size_t i = 0; i < memory_owner_count; ++i)
    if (is_offloaded(p, static_cast<MemoryOwner>(i)) != on_host) out.bytes[i] = 0;
  return out;
}

}  // namespace

HeldBytes trained_state_bytes(const TrainingPlan& p, const BytesPerParameter& b, const StageParameters& n) {
  TrainingPlan trained = p;
  trained.frozen = false;
  return state_bytes(trained, b, trained_of(p, n));
}
HeldBytes state_bytes(const Architecture& a, const TrainingPlan& p) {
  return state_bytes(p, bytes_per_parameter(a, p), stage_parameters(a, p));
}
HeldBytes state_bytes(const TrainingPlan& p, const BytesPerParameter& b, const StageParameters& n) {
  return states_where(p, b, n, false);
}
HeldBytes offloaded_bytes(const Architecture& a, const TrainingPlan& p) {
  return offloaded_bytes(p, bytes_per_parameter(a, p), stage_parameters(a, p));
}
HeldBytes offloaded_bytes(const TrainingPlan& p, const BytesPerParameter& b, const StageParameters& n) {
  return states_where(p, b, n, true);
}

}  // namespace models::memory
