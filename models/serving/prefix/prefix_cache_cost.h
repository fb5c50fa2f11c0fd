#pragma once
#include "models/transformer/transformer.h"

namespace models {

/// What the prefill of a prompt takes whose first tokens are cached: two operations per parameter (the input embedding
/// left out) for each token that is computed, and attention over all tokens up to it, those of the cache too. Attention
/// is full in every layer. Source: Kaplan et al. 2020, section 2.1; the pairs as in PaLM (Chowdhery et al. 2022),
/// appendix B, forward alone.
struct PrefillPrice {
  double flops_per_token = 0, flops_per_pair = 0;
  /// FLOPs for a prompt of `tokens`, of which the first `cached` need not be computed.
  double flops(double tokens, double cached) const {
    const double pairs = tokens * (tokens + 1) / 2 - cached * (cached + 1) / 2;
    return flops_per_token * (tokens - cached) + flops_per_pair * pairs;
  }
};
PrefillPrice prefill_price(const Architecture& architecture);

}  // namespace models
