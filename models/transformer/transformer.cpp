#include "models/transformer/transformer.h"

#include <algorithm>

namespace models {

namespace {

/// Parameters of a layer in a number type of choice: integers for the exact count, double where sizes may be absurd.
template <class Number>
struct LayerSum {
  Number attention{}, norms{}, dense_ffn{}, routed_experts{}, shared_experts{}, router{}, router_bias{};
  Number total() const {
    return attention + norms + dense_ffn + routed_experts + shared_experts + router + router_bias;
  }
};

template <class Number>
Number feed_forward(const Architecture& a, std::int64_t inner, std::int64_t copies) {
  const auto h = static_cast<Number>(a.hidden), f = static_cast<Number>(inner), n = static_cast<Number>(copies);
  const Number up_matrices = a.gated ? 2 : 1;
  const Number bias = a.mlp_bias ? up_matrices * f + h : Number{};
  return n * ((up_matrices + 1) * h * f + bias);
}

/// Latent attention: h q + q heads (nope + rope), h (c + rope) + c heads (nope + v), heads v h. Source: DeepSeek-V2,
/// section 2.1.
template <class Number>
Number latent_attention(const Architecture& a) {
  const auto h = static_cast<Number>(a.hidden), heads = static_cast<Number>(a.heads);
  const auto q_rank = static_cast<Number>(a.latent.q_lora_rank), kv_rank = static_cast<Number>(a.latent.kv_lora_rank);
  const auto nope = static_cast<Number>(a.latent.nope_dim), rope = static_cast<Number>(a.latent.rope_dim);
  const auto v = static_cast<Number>(a.latent.v_dim);
  const bool direct = a.latent.q_lora_rank == 0;
  const Number query = direct ? h * heads * (nope + rope) : h * q_rank + q_rank * heads * (nope + rope);
  Number bias{};
  if (a.qkv_bias) bias += kv_rank + rope + (direct ? Number{} : q_rank);
  if (a.output_bias) bias += h;
  return query + h * (kv_rank + rope) + kv_rank * heads * (nope + v) + heads * v * h + bias;
}

template <class Number>
Number plain_attention(const Architecture& a) {
  const auto h = static_cast<Number>(a.hidden), d = static_cast<Number>(a.head_dim);
  const Number q = static_cast<Number>(a.heads) * d, kv = static_cast<Number>(a.kv_heads) * d;
  Number bias{};
  if (a.qkv_bias) bias += q + 2 * kv;
  if (a.output_bias) bias += h;
  if (a.attention_sinks) bias += static_cast<Number>(a.heads);
  return h * q + 2 * h * kv + q * h + bias;
}

template <class Number>
LayerSum<Number> sum_layer(const Architecture& a, const LayerForm& form) {
  LayerSum<Number> sum;
  const Number per_element = a.norm_bias ? 2 : 1;
  sum.attention = a.has_latent() ? latent_attention<Number>(a) : plain_attention<Number>(a);
  sum.norms = static_cast<Number>(a.norms_per_layer) * static_cast<Number>(a.hidden) * per_element;
  if (a.qk_norm) {
    const auto d = static_cast<Number>(a.head_dim);
    sum.norms += (a.qk_norm_whole ? static_cast<Number>(a.heads + a.kv_heads) * d : 2 * d) * per_element;
  }
  if (a.has_latent())
    sum.norms += static_cast<Number>(a.latent.q_lora_rank) + static_cast<Number>(a.latent.kv_lora_rank);
  if (!form.experts) {
    sum.dense_ffn = feed_forward<Number>(a, a.ffn, 1);
    return sum;
  }
  sum.routed_experts = feed_forward<Number>(a, a.moe.ffn, a.moe.routed);
  // Shared experts are one feed-forward of their joint width, so that a bias of theirs would be one row of `hidden`.
  if (a.moe.shared > 0) sum.shared_experts = feed_forward<Number>(a, a.moe.shared * a.moe.ffn, 1);
  sum.router = static_cast<Number>(a.hidden) * static_cast<Number>(a.moe.routed);
  if (a.moe.router_bias) sum.router_bias = static_cast<Number>(a.moe.routed);
  return sum;
}

template <class Number>
Number sum_embedding(const Architecture& a) {
  const auto h = static_cast<Number>(a.hidden), v = static_cast<Number>(a.vocab);
  if (a.embedding_width == 0) return v * h;
  const auto width = static_cast<Number>(a.embedding_width);
  return v * width + 2 * width * h;
}

}  // namespace

LayerForm layer_form(const Architecture& a, std::int64_t index) {
  if (index >= 0 && index < static_cast<std::int64_t>(a.layer_forms.size()))
    return a.layer_forms[static_cast<std::size_t>(index)];
  return {a.moe.routed > 0, a.sliding_window > 0, a.rotary};
}

std::vector<LayerKind> layer_kinds(const Architecture& a) {
  std::vector<LayerKind> kinds;
  const auto add = [&](const LayerForm& form, std::int64_t count) {
    const auto same =
        std::find_if(kinds.begin(), kinds.end(), [&](const LayerKind& kind) { return kind.form == form; });
    if (same != kinds.end()) {
      same->count += count;
      return;
    }
    std::string name = form.experts ? "expert layer" : "dense layer";
    if (form.sliding) name += ", sliding window";
    if (a.rotary && !form.rope) name += ", no position";
    kinds.push_back({std::move(name), form, count});
  };
  if (a.layer_forms.empty()) {
    add(layer_form(a, 0), a.layers);
  } else {
    for (const LayerForm& form : a.layer_forms) add(form, 1);
  }
  return kinds;
}

LayerParameters layer_parameters(const Architecture& a, const LayerForm& form) {
  const auto sum = sum_layer<std::int64_t>(a, form);
  return {sum.attention, sum.norms, sum.dense_ffn, sum.routed_experts, sum.shared_experts, sum.router, sum.router_bias};
}

ParameterCount count_parameters(const Architecture& a) {
  ParameterCount count;
  std::int64_t unrouted = 0;
  for (const LayerKind& kind : layer_kinds(a)) {
    const LayerParameters layer = layer_parameters(a, kind.form);
    count.layers.attention += kind.count * layer.attention;
    count.layers.norms += kind.count * layer.norms;
    count.layers.dense_ffn += kind.count * layer.dense_ffn;
    count.layers.routed_experts += kind.count * layer.routed_experts;
    count.layers.shared_experts += kind.count * layer.shared_experts;
    count.layers.router += kind.count * layer.router;
    count.layers.router_bias += kind.count * layer.router_bias;
    if (kind.form.experts)
      unrouted += kind.count * feed_forward<std::int64_t>(a, a.moe.ffn, a.moe.routed - a.moe.per_token);
  }
  const std::int64_t norm = a.hidden * (a.norm_bias ? 2 : 1);
  count.embedding = sum_embedding<std::int64_t>(a);
  count.positions = a.learned_positions * a.hidden;
  count.outer_norms = (a.final_norm ? norm : 0) + (a.embedding_norm ? norm : 0);
  count.head = (a.tied ? 0 : a.vocab * a.hidden) + (a.head_bias ? a.vocab : 0);
  count.total = count.embedding + count.positions + count.layers.total() + count.outer_norms + count.head;
  count.active = count.total - unrouted;
  count.active_without_input_embedding = count.active - (a.tied ? 0 : a.vocab * a.hidden);
  if (a.mtp_layers > 0) {
    // One such layer: a transformer layer like the last, a projection of [hidden state, embedding] and norms of both
    // and of the output.
    const LayerParameters body = layer_parameters(a, layer_form(a, a.layers - 1));
    count.mtp_layer_body = a.mtp_layers * (body.total() - body.router_bias);
    count.mtp = a.mtp_layers * (body.total() + 2 * a.hidden * a.hidden + 3 * norm);
  }
  return count;
}

double approximate_parameters(const Architecture& a) {
  double sum = sum_embedding<double>(a) + static_cast<double>(a.learned_positions) * static_cast<double>(a.hidden);
  for (const LayerKind& kind : layer_kinds(a))
    sum += static_cast<double>(kind.count) * sum_layer<double>(a, kind.form).total();
  if (!a.tied) sum += static_cast<double>(a.vocab) * static_cast<double>(a.hidden);
  if (a.head_bias) sum += static_cast<double>(a.vocab);
  const int outer_norms = (a.final_norm ? 1 : 0) + (a.embedding_norm ? 1 : 0);
  return sum + outer_norms * static_cast<double>(a.hidden) * (a.norm_bias ? 2 : 1);
}

}  // namespace models
