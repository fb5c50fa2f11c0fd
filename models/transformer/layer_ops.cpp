#include "models/transformer/layer_ops.h"

#include <algorithm>

#include "models/base/integer_math.h"
#include "models/transformer/layer_ops_builder.h"

namespace models {

namespace {

constexpr double cross_entropy_loss_bytes = 4;

void add_layer(const Architecture& a, const LayerKind& kind, const Workload& w, std::vector<LayerOperation>& out) {
  OperationBuilder b(a, w, kind.name, kind.count, out);
  const double h = as_double(a.hidden);
  const bool fuse = w.fused_elementwise && !a.parallel_attention;
  if (!a.post_norm) b.norm(fuse ? "residual and attention norm" : "attention norm", b.tokens, h, a.norm_bias, fuse);
  add_attention_block(b, kind.form);
  if (!w.fused_elementwise && !a.parallel_attention) b.residual("attention residual");
  if (a.norms_per_layer >= 2 && !a.post_norm)
    b.norm(fuse ? "residual and feed-forward norm" : "feed-forward norm", b.tokens, h, a.norm_bias, fuse);
  add_feed_forward_block(b, kind.form);
  if (a.parallel_attention) {
    // Input, attention and feed-forward are summed at once.
    b.simple("residual of both", OperationGroup::residual, elementwise(b.tokens * h, 3, 1, 2, w.activation_bytes));
  } else if (!w.fused_elementwise) {
    b.residual("feed-forward residual");
  }
}

void add_embedding(const Architecture& a, const Workload& w, std::vector<LayerOperation>& out) {
  OperationBuilder b(a, w, "embedding", 1, out);
  const double h = as_double(a.hidden);
  const std::int64_t width = a.embedding_width > 0 ? a.embedding_width : a.hidden;
  b.simple("token embedding", OperationGroup::embedding,
           embedding_gather(b.tokens, as_double(width), b.other_weight_bytes(), w.activation_bytes), a.vocab * width);
  if (a.embedding_width > 0)
    b.product("embedding projection", OperationGroup::embedding, b.tokens, h, as_double(width));
  if (a.learned_positions > 0)
    b.simple("position embedding", OperationGroup::embedding, residual_add(b.tokens * h, w.activation_bytes),
             a.learned_positions * a.hidden);
  if (a.embedding_norm) b.norm("embedding norm", b.tokens, h, a.norm_bias);
}

void add_output(const Architecture& a, const Workload& w, std::vector<LayerOperation>& out) {
  OperationBuilder b(a, w, "output", 1, out);
  const double h = as_double(a.hidden), vocab = as_double(a.vocab);
  const double rows = w.phase == Phase::prefill && !w.logits_for_all ? as_double(w.batch) : b.tokens;
  if (a.final_norm) b.norm("final norm", b.tokens, h, a.norm_bias);
  if (a.embedding_width > 0)
    b.product("output width projection", OperationGroup::output, rows, as_double(a.embedding_width), h);
  const double width = a.embedding_width > 0 ? as_double(a.embedding_width) : h;
  b.product("logits", OperationGroup::output, rows, vocab, width, a.head_bias, 1, a.tied ? 0 : 1);
  if (b.train) {
    OpCost loss = softmax(rows, vocab, w.activation_bytes);
    loss.write_bytes = rows * cross_entropy_loss_bytes;
    b.simple("loss", OperationGroup::output, loss);
  }
}

}  // namespace

std::string workload_problem(const Workload& w) {
  struct Length {
    const char* name;
    std::int64_t value, lowest;
  };
  constexpr std::int64_t longest = 1'000'000'000;
  for (const Length& length :
       {Length{"batch", w.batch, 1}, Length{"sequence", w.sequence, 1}, Length{"context", w.context, 1},
        Length{"prefix", w.prefix, 0}, Length{"decode_tokens", w.decode_tokens, 1}})
    if (length.value < length.lowest || length.value > longest)
      return std::string(length.name) + " is " + std::to_string(length.value) + "; from " +
             std::to_string(length.lowest) + " to " + std::to_string(longest) + " is allowed.";
  struct Width {
    const char* name;
    double value;
  };
  const double other = w.other_weight_bytes == 0 ? w.weight_bytes : w.other_weight_bytes;
  for (const Width& width : {Width{"weight_bytes", w.weight_bytes}, Width{"other_weight_bytes", other},
                             Width{"activation_bytes", w.activation_bytes}, Width{"kv_bytes", w.kv_bytes}})
    if (!(width.value > 0 && width.value <= 8))
      return std::string(width.name) + " is out of range; above 0 and up to 8 bytes an element is allowed.";
  if (w.phase == Phase::decode && w.context < w.decode_tokens)
    return "context is " + std::to_string(w.context) + ", shorter than the " + std::to_string(w.decode_tokens) +
           " new tokens of the step; at least as many are expected.";
  return {};
}

double new_tokens(const Workload& w) {
  return as_double(w.batch) * as_double(w.phase == Phase::decode ? w.decode_tokens : w.sequence);
}

std::string_view group_name(OperationGroup group) {
  switch (group) {
    case OperationGroup::embedding:
      return "embedding";
    case OperationGroup::norm:
      return "norm";
    case OperationGroup::projection:
      return "projection";
    case OperationGroup::attention:
      return "attention";
    case OperationGroup::feed_forward:
      return "feed-forward";
    case OperationGroup::experts:
      return "experts";
    case OperationGroup::residual:
      return "residual";
    case OperationGroup::output:
      return "output";
  }
  return "";
}

std::vector<LayerOperation> layer_operations(const Architecture& architecture, const LayerKind& kind,
                                             const Workload& workload) {
  std::vector<LayerOperation> operations;
  add_layer(architecture, kind, workload, operations);
  return operations;
}

std::vector<LayerOperation> model_operations(const Architecture& architecture, const Workload& workload) {
  std::vector<LayerOperation> operations;
  Workload kept = workload;  // what lies outside the layers is never recomputed
  kept.recompute = Recompute::none;
  add_embedding(architecture, kept, operations);
  for (const LayerKind& kind : layer_kinds(architecture)) add_layer(architecture, kind, workload, operations);
  add_output(architecture, kept, operations);
  return operations;
}

OperationTotals total_operations(std::span<const LayerOperation> operations, const Workload& workload) {
  OperationTotals totals;
  for (const LayerOperation& op : operations) {
    const OpCost cost = op.cost();
    totals.flops += as_double(op.count) * cost.flops;
    totals.bytes += as_double(op.count) * cost.bytes();
    totals.product_flops += as_double(op.count) * (op.product_flops * op.forward_passes + op.backward_product_flops);
    totals.hardware_product_flops += as_double(op.count) * op.hardware_product_flops();
    totals.parameters += op.count * op.parameters;
  }
  totals.flops_per_token = totals.product_flops / new_tokens(workload);
  return totals;
}

double kv_bytes_per_token(const Architecture& a, double kv_bytes) { return kv_cache_bytes(a, 1, kv_bytes); }

double kv_cache_bytes(const Architecture& a, double tokens, double kv_bytes) {
  const double elements = a.has_latent() ? as_double(a.latent.kv_lora_rank + a.latent.rope_dim)
                                         : 2 * as_double(a.kv_heads) * as_double(a.head_dim);
  double kept = 0;
  for (const LayerKind& kind : layer_kinds(a))
    kept += as_double(kind.count) * (kind.form.sliding ? std::min(tokens, as_double(a.sliding_window)) : tokens);
  return kept * elements * kv_bytes;
}

}  // namespace models
