#include <algorithm>

#include "models/transformer/layer_ops_builder.h"

#include "models/base/integer_math.h"

namespace models {

namespace {

/// Queries, keys and counted pairs of one layer; the shape's heads and widths are the caller's.
AttentionShape lengths(const Architecture& a, const Workload& w, const LayerForm& form) {
  const double window = form.sliding ? as_double(a.sliding_window) : 0;
  const auto within_window = [&](double tokens) { return window > 0 ? std::min(tokens, window) : tokens; };
  AttentionShape shape;
  shape.batch = as_double(w.batch);
  if (w.phase == Phase::decode) {
    shape.queries = as_double(w.decode_tokens);
    shape.keys = within_window(as_double(w.context));
    shape.pairs = shape.queries * shape.keys;
    return shape;
  }
  const double past = w.phase == Phase::prefill ? as_double(w.prefix) : 0;
  shape.queries = as_double(w.sequence);
  shape.keys = within_window(past) + shape.queries;
  shape.pairs = attended_pairs(shape.queries, past, window, w.attention == AttentionFlops::causal);
  return shape;
}

/// The rotation of queries and keys, `head_count` heads a token, and their norms where the model has them.
void add_rotation(OperationBuilder& b, const LayerForm& form) {
  const Architecture& a = b.a;
  const double d = as_double(a.head_dim), q_rows = b.tokens * as_double(a.heads),
               k_rows = b.tokens * as_double(a.kv_heads);
  const double rotated = d * a.rotary_fraction;
  const OpCost rotation = rope(b.tokens, as_double(a.heads + a.kv_heads), rotated, b.w.activation_bytes);
  if (!a.qk_norm) {
    if (form.rope) b.simple("rope", OperationGroup::attention, rotation);
    return;
  }
  const double q_width = a.qk_norm_whole ? d * as_double(a.heads) : d;
  const double k_width = a.qk_norm_whole ? d * as_double(a.kv_heads) : d;
  if (!form.rope || !b.w.fused_elementwise) {
    b.norm("query norm", q_rows * d / q_width, q_width, a.norm_bias);
    b.norm("key norm", k_rows * d / k_width, k_width, a.norm_bias);
    if (form.rope) b.simple("rope", OperationGroup::attention, rotation);
    return;
  }
  // One pass over both: the norm's traffic, the rotation's flops and its table.
  const double per_element = a.norm_bias ? 2 : 1;
  OpCost cost = a.norm == NormKind::rms
                    ? rms_norm(q_rows + k_rows, d, b.w.activation_bytes, 2 * b.other_weight_bytes())
                    : layer_norm(q_rows + k_rows, d, b.w.activation_bytes, 2 * b.other_weight_bytes(), per_element);
  cost.flops += rotation.flops;
  cost.read_bytes += b.tokens * rotated * b.w.activation_bytes;
  const double weights = (a.qk_norm_whole ? q_width + k_width : 2 * d) * per_element;
  cost.read_bytes += (weights - 2 * d * per_element) * b.other_weight_bytes();
  b.simple("qk-norm and rope", OperationGroup::norm, cost, static_cast<std::int64_t>(weights));
}

void add_cache_write(OperationBuilder& b, double elements_per_token) {
  if (b.train) return;
  const double elements = b.tokens * elements_per_token;
  b.simple("cache write", OperationGroup::attention, {0, elements * b.w.activation_bytes, elements * b.w.kv_bytes});
}

void add_plain_attention(OperationBuilder& b, const LayerForm& form) {
  const Architecture& a = b.a;
  const double h = as_double(a.hidden), d = as_double(a.head_dim), q = as_double(a.heads) * d,
               kv = as_double(a.kv_heads) * d;
  b.product("query projection", OperationGroup::projection, b.tokens, q, h, a.qkv_bias);
  b.product("key projection", OperationGroup::projection, b.tokens, kv, h, a.qkv_bias);
  b.product("value projection", OperationGroup::projection, b.tokens, kv, h, a.qkv_bias);
  add_rotation(b, form);
  add_cache_write(b, 2 * kv);
  AttentionShape shape = lengths(a, b.w, form);
  shape.heads = as_double(a.heads);
  shape.kv_heads = as_double(a.kv_heads);
  shape.qk_dim = shape.v_dim = d;
  b.attention(shape, b.train ? b.w.activation_bytes : b.w.kv_bytes);
  b.product("output projection", OperationGroup::projection, b.tokens, h, q, a.output_bias);
}

/// Latent attention. Expanded: keys and values of every head are made from the latent, of all cached tokens too.
/// Absorbed: their two matrices act on the query and on the result instead, and every head attends to the latent
/// itself, as one shared key and value. Source: DeepSeek-V2, section 2.1.2.
void add_latent_attention(OperationBuilder& b, const LayerForm& form) {
  const Architecture& a = b.a;
  const LatentAttention& l = a.latent;
  const double h = as_double(a.hidden), heads = as_double(a.heads), q_rank = as_double(l.q_lora_rank),
               kv_rank = as_double(l.kv_lora_rank);
  const double nope = as_double(l.nope_dim), rope_dim = as_double(l.rope_dim), v = as_double(l.v_dim);
  const bool absorbed =
      b.w.latent == LatentPath::automatic ? b.w.phase == Phase::decode : b.w.latent == LatentPath::absorbed;
  if (l.q_lora_rank > 0) {
    b.product("query down", OperationGroup::projection, b.tokens, q_rank, h, a.qkv_bias);
    b.norm("query latent norm", b.tokens, q_rank, false);
    b.product("query up", OperationGroup::projection, b.tokens, heads * (nope + rope_dim), q_rank);
  } else {
    b.product("query projection", OperationGroup::projection, b.tokens, heads * (nope + rope_dim), h);
  }
  b.product("latent down", OperationGroup::projection, b.tokens, kv_rank + rope_dim, h, a.qkv_bias);
  b.norm("latent norm", b.tokens, kv_rank, false);
  b.simple("rope", OperationGroup::attention, rope(b.tokens, heads + 1, rope_dim, b.w.activation_bytes));
  add_cache_write(b, kv_rank + rope_dim);
  AttentionShape shape = lengths(a, b.w, form);
  shape.heads = heads;
  if (absorbed) {
    b.product("query absorb", OperationGroup::projection, b.tokens * heads, kv_rank, nope, false, heads, a.heads);
    shape.kv_heads = 1;
    shape.qk_dim = kv_rank + rope_dim;
    shape.v_dim = kv_rank;
    shape.shared_latent = true;
    b.attention(shape, b.train ? b.w.activation_bytes : b.w.kv_bytes);
    b.product("value up", OperationGroup::projection, b.tokens * heads, v, kv_rank, false, heads, a.heads);
  } else {
    b.product("key and value up", OperationGroup::projection, shape.batch * shape.keys, heads * (nope + v), kv_rank);
    shape.kv_heads = heads;
    shape.qk_dim = nope + rope_dim;
    shape.v_dim = v;
    b.attention(shape, b.w.activation_bytes);
  }
  b.product("output projection", OperationGroup::projection, b.tokens, h, heads * v, a.output_bias);
}

}  // namespace

void add_attention_block(OperationBuilder& b, const LayerForm& form) {
  const double h = as_double(b.a.hidden);
  if (b.a.has_latent()) {
    add_latent_attention(b, form);
  } else {
    add_plain_attention(b, form);
  }
  if (b.a.norms_per_layer >= 4) b.norm("norm after attention", b.tokens, h, b.a.norm_bias);
  if (b.a.post_norm) b.post_norm("post-attention norm");
}

}  // namespace models
