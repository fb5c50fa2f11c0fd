#include "models/inference/attention_patterns_cost.h"

#include <algorithm>
#include <utility>

#include "models/base/integer_math.h"
#include "models/inference/kv_cache.h"

namespace models::inference {
namespace {

/// FLOP of one pair in all heads of a layer: scores and values.
double pair_flops(const Architecture& a) {
  const double score = a.has_latent() ? as_double(a.latent.nope_dim + a.latent.rope_dim) : as_double(a.head_dim);
  const double value = a.has_latent() ? as_double(a.latent.v_dim) : as_double(a.head_dim);
  return 2 * as_double(a.heads) * (score + value);
}

/// Weights that one token is multiplied with in all layers of `count`, whose forms are the model's, repeated.
double linear_weights(const Architecture& a, std::int64_t count) {
  double sum = 0;
  for (const LayerKind& kind : layer_kinds(a)) {
    const LayerParameters p = layer_parameters(a, kind.form);
    const double routed =
        a.moe.routed > 0 ? as_double(p.routed_experts) * as_double(a.moe.per_token) / as_double(a.moe.routed) : 0;
    sum += as_double(kind.count) * (as_double(p.attention + p.dense_ffn + p.shared_experts + p.router) + routed);
  }
  return sum * as_double(count) / as_double(a.layers);
}

}  // namespace

Result<PatternStack> stack_of_model(const Architecture& a, std::int64_t sequence) {
  PatternShape shape{.pattern = AttentionPattern::causal, .sequence = sequence};
  std::vector<bool> full(static_cast<std::size_t>(a.layers));
  bool any = false;
  for (std::int64_t l = 0; l < a.layers; ++l) {
    const bool slides = layer_form(a, l).sliding && a.sliding_window > 0;
    full[static_cast<std::size_t>(l)] = !slides;
    any |= slides;
  }
  if (any) {
    const bool chunks = a.model_type.starts_with("llama4");
    shape.pattern = chunks ? AttentionPattern::block : AttentionPattern::window;
    shape.window = std::min(a.sliding_window, max_pattern_tokens);
  }
  auto mask = AttentionMask::make(shape);
  if (!mask) return Result<PatternStack>::fail(std::move(mask.error));
  return Result<PatternStack>::ok({std::move(*mask), std::move(full)});
}

PatternStack stack_of_layers(AttentionMask mask, std::int64_t layers, std::int64_t full_every) {
  std::vector<bool> full(static_cast<std::size_t>(layers));
  for (std::int64_t l = 0; l < layers; ++l)
    full[static_cast<std::size_t>(l)] = full_every > 0 && (l + 1) % full_every == 0;
  return {std::move(mask), std::move(full)};
}

PatternPrice price_of_pattern(const Architecture& a, const PatternStack& stack, const PatternPriceSetup& setup) {
  const std::int64_t n = stack.mask.sequence(), layers = static_cast<std::int64_t>(stack.full.size());
  const double whole = as_double(std::count(stack.full.begin(), stack.full.end(), true)),
               masked = as_double(layers) - whole;
  const AttentionMask causal = AttentionMask::causal(n);
  const double side = as_double(setup.tile), area = side * side, tokens = as_double(n);
  PatternPrice p;
  p.entries = masked * stack.mask.entries() + whole * causal.entries();
  p.tile_entries = area * (masked * stack.mask.tiles(setup.tile) + whole * causal.tiles(setup.tile));
  const double each = pair_flops(a);
  p.flops = each * p.entries;
  p.tile_flops = each * p.tile_entries;
  p.prefill_s = p.tile_flops / setup.flops_per_s;
  p.linear_flops = 2 * tokens * linear_weights(a, layers);
  p.linear_s = p.linear_flops / setup.flops_per_s;
  const double kept = stack.mask.kept_tokens();
  p.kept_tokens = masked * kept + whole * tokens;
  const double with_margin = std::min(tokens, kept + as_double(setup.margin_tokens));
  const double token_bytes = kv_elements_per_layer(a) * setup.kv_bits / 8;
  p.cache_bytes = (masked * with_margin + whole * tokens) * token_bytes;
  p.read_tokens = masked * stack.mask.row_entries(n - 1) + whole * tokens;
  p.read_bytes = p.read_tokens * token_bytes;
  p.read_s = p.read_bytes / setup.memory_bytes_per_s;
  return p;
}

}  // namespace models::inference
