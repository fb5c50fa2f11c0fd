#include "models/transformer/roofline_ops.h"

#include <algorithm>
#include <initializer_list>

#include "models/transformer/layer_ops.h"
#include "models/transformer/weight_storage.h"

namespace models {
namespace {

Workload workload(Phase phase, const OpSizes& s, bool fused) {
  Workload w;
  w.phase = phase;
  w.batch = s.batch;
  w.sequence = s.sequence;
  w.context = s.context;
  w.weight_bytes = w.activation_bytes = w.kv_bytes = s.element_bytes;
  w.fused_attention = w.fused_elementwise = fused;
  return w;
}

const LayerKind& usual_kind(const std::vector<LayerKind>& kinds) {
  return *std::max_element(kinds.begin(), kinds.end(),
                           [](const LayerKind& a, const LayerKind& b) { return a.count < b.count; });
}

/// The first operation whose name ends so; mixtures put "expert " in front.
const LayerOperation* find_op(const std::vector<LayerOperation>& ops, std::initializer_list<std::string_view> endings) {
  for (const std::string_view ending : endings)
    for (const LayerOperation& op : ops)
      if (op.name.size() >= ending.size() && std::string_view(op.name).substr(op.name.size() - ending.size()) == ending)
        return &op;
  return nullptr;
}

std::string gate_label(const Architecture& a) {
  switch (a.activation) {
    case Activation::silu:
      return a.gated ? "SwiGLU" : "SiLU";
    case Activation::gelu:
      return a.gated ? "GeGLU" : "GELU";
    case Activation::relu:
      return a.gated ? "ReGLU" : "ReLU";
  }
  return "activation";
}

Work work_of(const OpCost& cost, double kernels = 1) { return {cost.flops, cost.bytes(), kernels}; }

double kernels_of(const std::vector<LayerOperation>& ops) {
  double kernels = 0;
  for (const LayerOperation& op : ops) kernels += static_cast<double>(op.count);
  return kernels;
}

}  // namespace

std::string_view roofline_op_id(RooflineOp op) {
  static constexpr std::string_view ids[] = {
      "decode",  "prefill",          "attention_unfused", "flash_attention", "attention_scores",
      "softmax", "decode_attention", "query_projection",  "up_projection",   "norm",
      "gate",    "residual",         "decode_gate"};
  static_assert(std::size(ids) == static_cast<std::size_t>(RooflineOp::decode_gate) + 1);
  return ids[static_cast<std::size_t>(op)];
}

std::vector<NamedWork> roofline_works(const Architecture& a, const OpSizes& sizes) {
  std::vector<NamedWork> out;
  const auto kinds = layer_kinds(a);
  if (kinds.empty()) return out;
  const LayerKind& kind = usual_kind(kinds);
  const Workload prefill = workload(Phase::prefill, sizes, true);
  const auto add = [&](RooflineOp op, std::string label, const LayerOperation* found) {
    if (found) out.push_back({op, std::move(label), work_of(found->forward)});
  };

  Work decode = decode_work(decode_step(a, sizes, sizes.element_bytes), static_cast<double>(sizes.batch));
  decode.kernels = decode_kernels(a, sizes);
  out.push_back({RooflineOp::decode, "decode step", decode});
  const auto whole = model_operations(a, prefill);
  const OperationTotals total = total_operations(whole, prefill);
  out.push_back({RooflineOp::prefill, "prefill", {total.flops, total.bytes, kernels_of(whole)}});

  const auto unfused = layer_operations(a, kind, workload(Phase::prefill, sizes, false));
  const auto fused = layer_operations(a, kind, prefill);
  const auto one_token = layer_operations(a, kind, workload(Phase::decode, sizes, true));
  const LayerOperation* scores = find_op(unfused, {"scores"});
  const LayerOperation* softmax = find_op(unfused, {"softmax"});
  const LayerOperation* values = find_op(unfused, {"values"});
  if (scores && softmax && values)
    out.push_back({RooflineOp::attention_unfused, "attention, unfused",
                   work_of(scores->forward + softmax->forward + values->forward, 3)});
  add(RooflineOp::flash_attention, "FlashAttention", find_op(fused, {"fused attention"}));
  add(RooflineOp::attention_scores, "scores, unfused", scores);
  add(RooflineOp::softmax, "softmax", softmax);
  add(RooflineOp::decode_attention, "decode attention", find_op(one_token, {"fused attention"}));
  add(RooflineOp::query_projection, "query projection", find_op(unfused, {"query projection", "query up"}));
  add(RooflineOp::up_projection, "FFN up", find_op(unfused, {"up projection"}));
  add(RooflineOp::norm, a.norm == NormKind::rms ? "RMSNorm" : "LayerNorm", find_op(unfused, {"attention norm"}));
  add(RooflineOp::gate, gate_label(a), find_op(fused, {"activation and gate", "activation"}));
  add(RooflineOp::residual, "residual add", find_op(unfused, {"residual", "residual of both"}));
  add(RooflineOp::decode_gate, gate_label(a) + " in decode", find_op(one_token, {"activation and gate", "activation"}));
  return out;
}

const NamedWork* find_work(const std::vector<NamedWork>& works, RooflineOp op) {
  const auto at = std::find_if(works.begin(), works.end(), [&](const NamedWork& w) { return w.op == op; });
  return at == works.end() ? nullptr : &*at;
}

DecodeStep decode_step(const Architecture& a, const OpSizes& sizes, double matrix_bytes) {
  const ParameterCount p = count_parameters(a);
  const double routed = static_cast<double>(p.layers.routed_experts), experts = static_cast<double>(a.moe.routed);
  const double looked_up = static_cast<double>(p.active - p.active_without_input_embedding);
  double matrices = layer_matrix_parameters(a);
  const double others = static_cast<double>(p.total) - looked_up - matrices;
  if (experts > 0) {
    const double touched =
        expected_distinct_experts(experts, static_cast<double>(a.moe.per_token), static_cast<double>(sizes.batch));
    matrices -= routed * (1 - touched / experts);
  }
  DecodeStep step;
  step.flops_per_token = 2 * static_cast<double>(p.active_without_input_embedding);
  step.weight_bytes = matrices * matrix_bytes + others * sizes.element_bytes;
  step.activation_bytes_per_token = static_cast<double>(a.hidden) * sizes.element_bytes;
  step.context_tokens = static_cast<double>(sizes.context);
  step.kv_bytes_per_token = kv_cache_bytes(a, step.context_tokens, sizes.element_bytes) / step.context_tokens;
  step.count_kv_reads = sizes.count_kv_reads;
  OpSizes one = sizes;
  one.batch = 1;
  for (const LayerOperation& op : model_operations(a, workload(Phase::decode, one, true)))
    if (op.group == OperationGroup::attention)
      step.attention_flops_per_token += static_cast<double>(op.count) * op.product_flops;
  return step;
}

double decode_kernels(const Architecture& a, const OpSizes& sizes) {
  return kernels_of(model_operations(a, workload(Phase::decode, sizes, true)));
}

std::optional<Format> nearest_format(const Chip& chip, Format format) {
  const auto first_of = [&](std::initializer_list<Format> formats) -> std::optional<Format> {
    for (const Format f : formats)
      if (chip.peak_flops_per_s(f)) return f;
    return std::nullopt;
  };
  switch (format) {
    case Format::fp64:
      return first_of({Format::fp64});
    case Format::fp64_matrix:
      return first_of({Format::fp64_matrix, Format::fp64});
    case Format::fp32:
      return first_of({Format::fp32});
    case Format::tf32:
      return first_of({Format::tf32, Format::fp32});
    case Format::fp16:
      return first_of({Format::fp16, Format::bf16});
    case Format::bf16:
      return first_of({Format::bf16, Format::fp16});
    case Format::fp8:
      return first_of({Format::fp8, Format::fp16, Format::bf16});
    case Format::fp6:
      return first_of({Format::fp6, Format::fp8, Format::fp16, Format::bf16});
    case Format::fp4:
      return first_of({Format::fp4, Format::fp8, Format::fp16, Format::bf16});
    case Format::int8:
      return first_of({Format::int8});
  }
  return std::nullopt;
}

}  // namespace models
