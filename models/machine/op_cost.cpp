#include "models/machine/op_cost.h"

#include <algorithm>
#include <cmath>

namespace models {

namespace {

constexpr double softmax_flops = 5, gelu_flops = 5, silu_flops = 4, router_index_bytes = 8;

double query_elements(const AttentionShape& s) { return s.batch * s.heads * s.queries * s.qk_dim; }
double key_elements(const AttentionShape& s) { return s.batch * s.kv_heads * s.keys * s.qk_dim; }
double value_elements(const AttentionShape& s) { return s.batch * s.kv_heads * s.keys * s.v_dim; }
double output_elements(const AttentionShape& s) { return s.batch * s.heads * s.queries * s.v_dim; }
double score_elements(const AttentionShape& s) { return s.batch * s.heads * s.queries * s.keys; }
double head_pairs(const AttentionShape& s) { return s.batch * s.heads * s.pairs; }

}  // namespace

OpCost grouped_gemm(double rows, double n, double k, double groups, double a_bytes, double b_bytes, double c_bytes) {
  return {2 * rows * n * k, rows * k * a_bytes + groups * k * n * b_bytes, rows * n * c_bytes};
}

OpCost gemm(double m, double n, double k, double a_bytes, double b_bytes, double c_bytes) {
  return grouped_gemm(m, n, k, 1, a_bytes, b_bytes, c_bytes);
}

OpCost elementwise(double elements, double inputs, double outputs, double flops_per_element, double element_bytes) {
  return {elements * flops_per_element, elements * inputs * element_bytes, elements * outputs * element_bytes};
}

OpCost rms_norm(double rows, double width, double element_bytes, double weight_bytes) {
  OpCost cost = elementwise(rows * width, 1, 1, 4, element_bytes);
  cost.read_bytes += width * weight_bytes;
  return cost;
}

OpCost layer_norm(double rows, double width, double element_bytes, double weight_bytes, double parameters_per_element) {
  OpCost cost = elementwise(rows * width, 1, 1, 5 + parameters_per_element, element_bytes);
  cost.read_bytes += width * parameters_per_element * weight_bytes;
  return cost;
}

OpCost softmax(double rows, double columns, double element_bytes) {
  return elementwise(rows * columns, 1, 1, softmax_flops, element_bytes);
}

OpCost gelu(double elements, double element_bytes) { return elementwise(elements, 1, 1, gelu_flops, element_bytes); }
OpCost silu(double elements, double element_bytes) { return elementwise(elements, 1, 1, silu_flops, element_bytes); }
OpCost relu(double elements, double element_bytes) { return elementwise(elements, 1, 1, 1, element_bytes); }
OpCost multiply(double elements, double element_bytes) { return elementwise(elements, 2, 1, 1, element_bytes); }
OpCost swiglu_gate(double elements, double element_bytes) {
  return elementwise(elements, 2, 1, silu_flops + 1, element_bytes);
}
OpCost geglu_gate(double elements, double element_bytes) {
  return elementwise(elements, 2, 1, gelu_flops + 1, element_bytes);
}
OpCost residual_add(double elements, double element_bytes) { return elementwise(elements, 2, 1, 1, element_bytes); }
OpCost copy(double elements, double element_bytes) { return elementwise(elements, 1, 1, 0, element_bytes); }
OpCost triad(double elements, double element_bytes) { return elementwise(elements, 2, 1, 2, element_bytes); }

OpCost rope(double tokens, double heads, double rotary_dim, double element_bytes) {
  OpCost cost = elementwise(tokens * heads * rotary_dim, 1, 1, 3, element_bytes);
  cost.read_bytes += tokens * rotary_dim * element_bytes;
  return cost;
}

OpCost attention_scores(const AttentionShape& s, double element_bytes, double kv_bytes) {
  return {2 * score_elements(s) * s.qk_dim, query_elements(s) * element_bytes + key_elements(s) * kv_bytes,
          score_elements(s) * element_bytes};
}

OpCost attention_softmax(const AttentionShape& s, double element_bytes) {
  return softmax(s.batch * s.heads * s.queries, s.keys, element_bytes);
}

OpCost attention_values(const AttentionShape& s, double element_bytes, double kv_bytes) {
  return {2 * score_elements(s) * s.v_dim, score_elements(s) * element_bytes + value_elements(s) * kv_bytes,
          output_elements(s) * element_bytes};
}

OpCost fused_attention(const AttentionShape& s, double element_bytes, double kv_bytes) {
  const double kv_elements = key_elements(s) + (s.shared_latent ? 0 : value_elements(s));
  return {attention_product_flops(s) + softmax_flops * head_pairs(s),
          query_elements(s) * element_bytes + kv_elements * kv_bytes, output_elements(s) * element_bytes};
}

double attention_product_flops(const AttentionShape& s) { return 2 * head_pairs(s) * (s.qk_dim + s.v_dim); }

double attended_pairs(double queries, double past, double window, bool causal) {
  const double keys = past + queries;
  if (!causal) return queries * (window > 0 ? std::min(keys, window) : keys);
  // A query's reach grows from `past` to `keys` and stops growing at the window: a triangle, then a band.
  const double growing = window > 0 ? std::clamp(window - past, 0.0, queries) : queries;
  const double reach_at_start = window > 0 ? std::min(past, window) : past;
  return growing * reach_at_start + growing * growing / 2 + (queries - growing) * window;
}

OpCost embedding_gather(double tokens, double width, double weight_bytes, double element_bytes) {
  return {0, tokens * width * weight_bytes, tokens * width * element_bytes};
}

OpCost moe_router(double tokens, double width, double experts, double top_k, double element_bytes,
                  double weight_bytes) {
  OpCost cost = gemm(tokens, experts, width, element_bytes, weight_bytes, 0);
  cost.flops += softmax_flops * tokens * experts;
  cost.write_bytes = tokens * top_k * router_index_bytes;
  return cost;
}

OpCost moe_dispatch(double tokens, double width, double top_k, double element_bytes) {
  return {0, tokens * width * element_bytes, tokens * top_k * width * element_bytes};
}

OpCost moe_combine(double tokens, double width, double top_k, double element_bytes) {
  return {2 * tokens * top_k * width, tokens * top_k * width * element_bytes, tokens * width * element_bytes};
}

double expected_distinct_experts(double experts, double top_k, double tokens) {
  if (experts <= 0) return 0;
  const double miss = std::max(0.0, 1 - top_k / experts);
  return experts * (1 - std::pow(miss, tokens));
}

}  // namespace models
