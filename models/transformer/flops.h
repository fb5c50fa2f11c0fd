#pragma once
#include "models/transformer/transformer.h"

/// Published closed forms for the flops of training. Each counts matrix products alone; they differ in what of
/// attention, embeddings and recomputation they count, and a figure from one must not be compared with a figure from
/// another.
namespace models {

/// 6 N D: forward 2, backward 4 flops a parameter and token, attention left out. Source: Kaplan et al. 2020,
/// section 2.1.
double flops_6nd(double parameters, double tokens);

/// Per token 6 N + 12 L H Q T, attention in full. Source: PaLM (Chowdhery et al. 2022), appendix B; H heads of width Q,
/// sequence T.
double palm_flops_per_token(double parameters, double layers, double heads, double head_dim, double sequence);

/// Sizes of a GPT: 4h feed-forward of two matrices, as many key heads as heads.
struct GptShape {
  double batch = 1, sequence = 1, layers = 1, hidden = 1, vocab = 1;
  bool operator==(const GptShape&) const = default;
};

/// 72 B s L h^2 (1 + s/6h + V/12hL): one step without recomputation, attention in full, logits in.
/// Source: Korthikanti et al. 2022, equation 7; Narayanan et al. 2021 less its recomputed forward.
double gpt_step_flops(const GptShape& shape);

/// 96 B s L h^2 (1 + s/6h + V/16hL): the same with every layer's forward computed twice. Source: Narayanan et al. 2021,
/// equation 3.
double gpt_step_flops_full_recompute(const GptShape& shape);

/// 72 B s L h^2 (1 + s/3h + V/12hL): "hardware flops" with selective recomputation. Source: Korthikanti et al. 2022,
/// equation 8. Its extra term is three times one more forward of the two attention products (which would make s/4.5h);
/// operation lists count the one.
double gpt_step_flops_selective_recompute(const GptShape& shape);

/// Training flops per token as Megatron-LM has counted them since March 2025: causal attention at half, logits in,
/// input embedding and router out, latent norms as one multiply-add an element, sliding windows and multi-token
/// prediction ignored.
double megatron_flops_per_token(const Architecture& architecture, double sequence);

}  // namespace models
