#include "models/transformer/layer_ops_builder.h"

#include "models/base/integer_math.h"

namespace models {

namespace {

OpCost activation_cost(Activation activation, double elements, double bytes) {
  if (activation == Activation::gelu) return gelu(elements, bytes);
  if (activation == Activation::silu) return silu(elements, bytes);
  return relu(elements, bytes);
}

OpCost gate_cost(Activation activation, double elements, double bytes) {
  if (activation == Activation::gelu) return geglu_gate(elements, bytes);
  if (activation == Activation::silu) return swiglu_gate(elements, bytes);
  return elementwise(elements, 2, 1, 2, bytes);
}

/// One feed-forward of inner width `ffn` over `rows`; `groups` of `stored` weight sets are read. `what` prefixes the
/// names.
void add_feed_forward(OperationBuilder& b, const std::string& what, OperationGroup group, double rows, double ffn,
                      double groups, std::int64_t stored) {
  const Architecture& a = b.a;
  const double h = as_double(a.hidden), bytes = b.w.activation_bytes;
  if (a.gated) b.product(what + "gate projection", group, rows, ffn, h, a.mlp_bias, groups, stored);
  b.product(what + "up projection", group, rows, ffn, h, a.mlp_bias, groups, stored);
  if (a.gated && b.w.fused_elementwise) {
    b.simple(what + "activation and gate", group, gate_cost(a.activation, rows * ffn, bytes));
  } else {
    b.simple(what + "activation", group, activation_cost(a.activation, rows * ffn, bytes));
    if (a.gated) b.simple(what + "gate product", group, multiply(rows * ffn, bytes));
  }
  b.product(what + "down projection", group, rows, h, ffn, a.mlp_bias, groups, stored);
}

void add_experts(OperationBuilder& b) {
  const MixtureOfExperts& moe = b.a.moe;
  const double h = as_double(b.a.hidden), routed = as_double(moe.routed), top_k = as_double(moe.per_token),
               bytes = b.w.activation_bytes;
  LayerOperation router;
  router.name = "router";
  router.group = OperationGroup::experts;
  router.shape = {1, b.tokens, routed, h};
  router.parameters = moe.routed * (b.a.hidden + (moe.router_bias ? 1 : 0));
  router.forward = moe_router(b.tokens, h, routed, top_k, bytes, b.other_weight_bytes());
  router.backward = {2 * router.forward.flops, router.forward.read_bytes + router.forward.write_bytes,
                     router.forward.read_bytes};
  router.product_flops = 2 * b.tokens * routed * h;
  router.backward_product_flops = 2 * router.product_flops;
  if (b.w.recompute == Recompute::full) router.forward_passes = 2;
  b.push(router);
  b.simple("dispatch", OperationGroup::experts, moe_dispatch(b.tokens, h, top_k, bytes));
  const double touched = expected_distinct_experts(routed, top_k, b.tokens);
  add_feed_forward(b, "expert ", OperationGroup::experts, b.tokens * top_k, as_double(moe.ffn), touched, moe.routed);
  if (moe.shared > 0)
    add_feed_forward(b, "shared ", OperationGroup::feed_forward, b.tokens, as_double(moe.shared * moe.ffn), 1, 1);
  OpCost combine = moe_combine(b.tokens, h, top_k, bytes);
  if (moe.shared > 0)
    combine += OpCost{b.tokens * h, b.tokens * h * bytes, 0};  // the shared experts' result is one more term
  b.simple("combine", OperationGroup::experts, combine);
}

}  // namespace

void add_feed_forward_block(OperationBuilder& b, const LayerForm& form) {
  if (form.experts) {
    add_experts(b);
  } else {
    add_feed_forward(b, "", OperationGroup::feed_forward, b.tokens, as_double(b.a.ffn), 1, 1);
  }
  if (b.a.norms_per_layer >= 4) b.norm("norm after feed-forward", b.tokens, as_double(b.a.hidden), b.a.norm_bias);
  if (b.a.post_norm) b.post_norm("post-feed-forward norm");
}

}  // namespace models
