#include "models/transformer/layer_ops_builder.h"

#include <algorithm>
#include <utility>

namespace models {

namespace {

constexpr double log_sum_exp_bytes = 4;  // FlashAttention keeps one float per row for its backward pass

}  // namespace

OperationBuilder::OperationBuilder(const Architecture& architecture, const Workload& workload, std::string layer,
                                   std::int64_t count, std::vector<LayerOperation>& out)
    : a(architecture),
      w(workload),
      tokens(new_tokens(workload)),
      train(workload.phase == Phase::train),
      layer_(std::move(layer)),
      count_(count),
      out_(out) {}

void OperationBuilder::push(LayerOperation operation) {
  operation.layer = layer_;
  operation.count = count_;
  if (!train) {
    operation.backward = {};
    operation.backward_product_flops = operation.backward_extra_product_flops = 0;
    operation.forward_passes = 1;
  }
  out_.push_back(std::move(operation));
}

void OperationBuilder::product(std::string name, OperationGroup group, double rows, double n, double k, bool bias,
                               double groups, std::int64_t stored) {
  const bool outside = group == OperationGroup::embedding || group == OperationGroup::output;
  const double weight_bytes = outside ? other_weight_bytes() : w.weight_bytes;
  LayerOperation op;
  op.name = std::move(name);
  op.group = group;
  op.shape = {groups, groups > 0 && group != OperationGroup::experts ? rows / groups : rows, n, k};
  const auto outputs = static_cast<std::int64_t>(n);
  op.parameters = stored * outputs * static_cast<std::int64_t>(k);
  if (bias)
    op.parameters += std::max<std::int64_t>(stored, 1) * outputs;  // a tied output matrix may have a bias of its own
  op.forward = grouped_gemm(rows, n, k, groups, w.activation_bytes, weight_bytes, w.activation_bytes);
  if (bias) op.forward.read_bytes += groups * n * other_weight_bytes();
  op.product_flops = op.forward.flops;
  // dX = dY W^T, and dW = X^T dY whose result is as large as the weights.
  op.backward = grouped_gemm(rows, k, n, groups, w.activation_bytes, weight_bytes, w.activation_bytes);
  op.backward += OpCost{2 * rows * n * k, rows * (k + n) * w.activation_bytes, groups * k * n * weight_bytes};
  op.backward_product_flops = 2 * op.product_flops;
  if (w.recompute == Recompute::full) op.forward_passes = 2;
  push(std::move(op));
}

void OperationBuilder::simple(std::string name, OperationGroup group, const OpCost& forward, std::int64_t parameters) {
  LayerOperation op;
  op.name = std::move(name);
  op.group = group;
  op.parameters = parameters;
  op.forward = forward;
  op.backward = {2 * forward.flops, forward.read_bytes + forward.write_bytes, forward.read_bytes};
  if (w.recompute == Recompute::full) op.forward_passes = 2;
  push(std::move(op));
}

void OperationBuilder::norm(std::string name, double rows, double width, bool bias, bool with_residual) {
  OpCost cost = a.norm == NormKind::rms
                    ? rms_norm(rows, width, w.activation_bytes, other_weight_bytes())
                    : layer_norm(rows, width, w.activation_bytes, other_weight_bytes(), bias ? 2 : 1);
  // The sum is needed again as the next residual: one more read, one more write, one add.
  if (with_residual) cost += OpCost{rows * width, rows * width * w.activation_bytes, rows * width * w.activation_bytes};
  simple(std::move(name), OperationGroup::norm, cost, static_cast<std::int64_t>(width) * (bias ? 2 : 1));
}

void OperationBuilder::residual(std::string name) {
  LayerOperation op;
  op.name = std::move(name);
  op.group = OperationGroup::residual;
  op.forward = residual_add(tokens * static_cast<double>(a.hidden), w.activation_bytes);
  op.backward = op.forward;
  if (w.recompute == Recompute::full) op.forward_passes = 2;
  push(std::move(op));
}

void OperationBuilder::post_norm(std::string name) {
  const double h = static_cast<double>(a.hidden);
  if (!w.fused_elementwise) {
    norm(std::move(name), tokens, h, a.norm_bias);
    return;
  }
  OpCost cost = a.norm == NormKind::rms
                    ? rms_norm(tokens, h, w.activation_bytes, other_weight_bytes())
                    : layer_norm(tokens, h, w.activation_bytes, other_weight_bytes(), a.norm_bias ? 2 : 1);
  cost += OpCost{tokens * h, tokens * h * w.activation_bytes, 0};  // the stream is read, and the sum alone is written
  simple(name + " and residual", OperationGroup::norm, cost, a.hidden * (a.norm_bias ? 2 : 1));
}

void OperationBuilder::attention(const AttentionShape& s, double kv_bytes) {
  const double passes = w.recompute == Recompute::none ? 1 : 2;
  const double rows = s.batch * s.heads * s.queries;
  const std::int64_t sinks = a.attention_sinks ? a.heads : 0;  // one more score in each row: too little to cost
  const auto add = [&](const char* name, const OpCost& forward, double product_flops, double n, double k) {
    LayerOperation op;
    op.name = name;
    op.group = OperationGroup::attention;
    if (product_flops > 0) op.shape = {s.batch * s.heads, s.queries, n, k};
    op.forward = forward;
    op.product_flops = product_flops;
    op.backward_product_flops = 2 * product_flops;
    if (product_flops > 0 && !w.fused_attention) {
      op.extra_product_flops = forward.flops - product_flops;
      op.backward_extra_product_flops = 2 * op.extra_product_flops;
    }
    op.forward_passes = passes;
    // Saved inputs and the gradient of the output are read, gradients of the inputs written.
    op.backward = {2 * forward.flops, forward.read_bytes + forward.write_bytes, forward.read_bytes};
    if (product_flops > 0 && !w.fused_attention)
      op.backward.read_bytes += forward.write_bytes;  // two products, each reads it
    return op;
  };
  if (!w.fused_attention) {
    push(add("scores", attention_scores(s, w.activation_bytes, kv_bytes), 2 * s.batch * s.heads * s.pairs * s.qk_dim,
             s.keys, s.qk_dim));
    LayerOperation softmax = add("softmax", attention_softmax(s, w.activation_bytes), 0, 0, 0);
    softmax.parameters = sinks;
    push(std::move(softmax));
    push(add("values", attention_values(s, w.activation_bytes, kv_bytes), 2 * s.batch * s.heads * s.pairs * s.v_dim,
             s.v_dim, s.keys));
    return;
  }
  LayerOperation op = add("fused attention", fused_attention(s, w.activation_bytes, kv_bytes),
                          attention_product_flops(s), s.keys, s.qk_dim);
  op.parameters = sinks;
  if (train) {
    op.forward.write_bytes += rows * log_sum_exp_bytes;
    op.backward.read_bytes += op.forward.write_bytes;  // output, its gradient and the row sums
    // The score tile was never stored, so the backward pass makes it again: five products where the forward has two.
    // Source: Dao et al. 2022 (FlashAttention), section 3.1 and appendix B.
    op.backward_extra_product_flops = 2 * s.batch * s.heads * s.pairs * s.qk_dim;
    op.backward.flops += op.backward_extra_product_flops;
  }
  push(std::move(op));
}

}  // namespace models
