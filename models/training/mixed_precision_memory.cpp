#include <algorithm>

#include "models/base/integer_math.h"
#include "models/training/mixed_precision_rules.h"

namespace models {
namespace {

/// Bytes that one token leaves behind in a layer of this form.
double saved_bytes(const Architecture& a, const LayerForm& form, const RecipeRules& rules) {
  const SavedElements e = saved_per_token(a, form);
  return e.stream * rules.stream_bytes + e.operands * rules.operand_bytes + e.values * rules.value_bytes +
         (rules.quantized ? e.reused * rules.operand_bytes : 0) + 4 * e.row_sums;
}

}  // namespace

SavedElements saved_per_token(const Architecture& a, const LayerForm& form) {
  const double h = as_double(a.hidden), heads = as_double(a.heads);
  SavedElements e;
  const bool latent = a.has_latent();
  const double qk = latent ? as_double(a.latent.nope_dim + a.latent.rope_dim) : as_double(a.head_dim),
               v = latent ? as_double(a.latent.v_dim) : as_double(a.head_dim);
  const double kv_heads = latent ? heads : as_double(a.kv_heads);
  e.stream += h;    // what the attention norm reads
  e.operands += h;  // what the norm wrote
  e.values += heads * qk + kv_heads * (qk + v) + heads * v;
  e.reused += heads * v;
  e.row_sums += heads;
  if (latent) {
    const double ranks = as_double(a.latent.q_lora_rank + a.latent.kv_lora_rank);
    e.values += ranks;    // before their norms
    e.operands += ranks;  // and behind them
  }
  if (a.norms_per_layer >= 2) e.stream += h, e.operands += h;
  if (a.norms_per_layer >= 4) e.stream += 2 * h;
  const double branches = a.gated ? 2 : 1;
  const double shared = form.experts ? as_double(a.moe.shared * a.moe.ffn) : as_double(a.ffn);
  const double routed = form.experts ? as_double(a.moe.per_token * a.moe.ffn) : 0;
  e.values += branches * (shared + routed);
  e.operands += shared + routed;
  if (form.experts) {
    e.operands += as_double(a.moe.per_token) * h;  // rows in expert order
    e.values += as_double(a.moe.per_token) * h;    // results before they are weighted
  }
  return e;
}

void fill_memory(const Architecture& a, const MixedSettings& s, const RecipeRules& rules, double quantized_share,
                 MixedStep& step) {
  const double parameters = as_double(count_parameters(a).total);
  const StateBytes per = rules.states;
  const double copies = per.copies * quantized_share;
  // 8-bit weights stand in for the 16-bit ones where there are both and a master beside them.
  const double weights =
      rules.quantized && s.fp8_primary && per.master > 0 ? per.weights * (1 - quantized_share) : per.weights;
  step.bytes_per_parameter = weights + copies + per.gradients + per.master + per.moments;
  const double share = parameters / s.shards;
  step.memory.weights = weights * share;
  step.memory.copies = copies * share;
  step.memory.gradients = per.gradients * share;
  step.memory.master = per.master * share;
  step.memory.moments = per.moments * share;
  double all = 0, kept = 0, largest = 0;
  for (const LayerKind& kind : layer_kinds(a)) {
    const double one = saved_bytes(a, kind.form, rules);
    all += as_double(kind.count) * one;
    kept += as_double(kind.count) * as_double(a.hidden) * rules.stream_bytes;
    largest = std::max(largest, one);
  }
  const double tokens = as_double(s.batch) * as_double(s.sequence);
  step.activation_bytes_per_token = all;
  step.memory.activations = tokens * (s.recompute == Recompute::full ? kept + largest : all);
  // Logits in the product's format, and in FP32 for the loss.
  step.memory.logits = tokens * as_double(a.vocab) * (rules.value_bytes + 4);
}

}  // namespace models
