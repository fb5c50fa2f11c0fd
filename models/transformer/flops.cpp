#include "models/transformer/flops.h"

#include "models/base/integer_math.h"

namespace models {

namespace {

constexpr double training_flops_per_weight = 6;  // forward 2, both backward products 2 each

double step_flops(double factor, const GptShape& s, double sequence_divisor, double vocab_divisor) {
  return factor * s.batch * s.sequence * s.layers * s.hidden * s.hidden *
         (1 + s.sequence / (sequence_divisor * s.hidden) + s.vocab / (vocab_divisor * s.hidden * s.layers));
}

}  // namespace

double flops_6nd(double parameters, double tokens) { return training_flops_per_weight * parameters * tokens; }

double palm_flops_per_token(double parameters, double layers, double heads, double head_dim, double sequence) {
  return training_flops_per_weight * parameters + 12 * layers * heads * head_dim * sequence;
}

double gpt_step_flops(const GptShape& shape) { return step_flops(72, shape, 6, 12); }
double gpt_step_flops_full_recompute(const GptShape& shape) { return step_flops(96, shape, 6, 16); }
double gpt_step_flops_selective_recompute(const GptShape& shape) { return step_flops(72, shape, 3, 12); }

double megatron_flops_per_token(const Architecture& a, double sequence) {
  const double h = as_double(a.hidden), heads = as_double(a.heads), d = as_double(a.head_dim),
               matrices = a.gated ? 3 : 2;
  double attention = 0;  // multiply-adds per token and layer, below too
  if (a.has_latent()) {
    const LatentAttention& l = a.latent;
    const double qk = as_double(l.nope_dim + l.rope_dim), v = as_double(l.v_dim), q_rank = as_double(l.q_lora_rank),
                 kv_rank = as_double(l.kv_lora_rank);
    attention += l.q_lora_rank > 0 ? q_rank * (h + heads * qk + 1) : h * heads * qk;
    attention += kv_rank * (h + heads * (as_double(l.nope_dim) + v) + 1) + h * as_double(l.rope_dim) + heads * v * h;
    attention += sequence / 2 * heads * (qk + v);
  } else {
    attention += 2 * h * heads * d + 2 * h * as_double(a.kv_heads) * d + sequence * heads * d;
  }
  double sum = as_double(a.layers) * attention + as_double(a.vocab) * h;
  for (const LayerKind& kind : layer_kinds(a)) {
    const double inner = kind.form.experts ? as_double((a.moe.per_token + a.moe.shared) * a.moe.ffn) : as_double(a.ffn);
    sum += as_double(kind.count) * matrices * h * inner;
  }
  return training_flops_per_weight * sum;
}

}  // namespace models
