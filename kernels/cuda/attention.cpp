// The ladder of attention: softmax(Q K^T / sqrt(128)) V in bf16 for 16 heads of width 128, all tokens attending to all.
// Each version is a file of rungs/, attention_NAME.cu.
//
// cuda-attention:
//   naive     three kernels, every score in memory
//   online    one kernel, tiles of keys, the softmax kept as it goes; no tensor core
//   mma       both products on the tensor cores
//   swizzle   chunks of a row XORed with it: no bank conflicts
//   pipeline  the next keys copied while these are used
//
//   ridgeline kernels run cuda-attention --size 4096
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cuda/operation.h"
#include "kernels/error_norm.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

constexpr std::int64_t attention_heads = 16, attention_width = 128;

std::int64_t attention_elements(std::int64_t tokens) { return attention_heads * tokens * attention_width; }
std::int64_t attention_bytes(std::int64_t tokens) { return 2 * attention_elements(tokens); }
/// The scores of one head, float32.
std::int64_t attention_scratch(std::int64_t tokens) { return 4 * tokens * tokens; }

models::AttentionShape attention_shape(std::int64_t tokens) {
  const auto t = static_cast<double>(tokens);
  const auto h = static_cast<double>(attention_heads), w = static_cast<double>(attention_width);
  return {.heads = h, .kv_heads = h, .queries = t, .keys = t, .qk_dim = w, .v_dim = w, .pairs = t * t};
}

/// The two products, as published rates of attention count them, and each array once.
models::OpCost attention_cost(std::int64_t tokens) {
  const models::OpCost fused = models::fused_attention(attention_shape(tokens), 2, 2);
  return {models::attention_product_flops(attention_shape(tokens)), fused.read_bytes, fused.write_bytes};
}

/// And every score written, read and written again by the softmax, and read: four bytes each.
models::OpCost naive_attention_cost(std::int64_t tokens) {
  const double scores = static_cast<double>(attention_heads) * static_cast<double>(attention_scratch(tokens));
  models::OpCost cost = attention_cost(tokens);
  cost.read_bytes += 2 * scores;
  cost.write_bytes += 2 * scores;
  return cost;
}

unsigned attention_parts(std::int64_t whole, std::int64_t part) {
  return static_cast<unsigned>((whole + part - 1) / part);
}

/// One head after the other, so that the scores of one head are all that is kept.
std::vector<Launch> naive_attention_launches(std::int64_t tokens) {
  std::vector<Launch> launches;
  for (std::int64_t head = 0; head < attention_heads; ++head) {
    const std::int64_t at = head * tokens * attention_width * 2;
    launches.push_back({
        .grid_x = attention_parts(tokens, 32),
        .grid_y = attention_parts(tokens, 8),
        .block_x = 32,
        .block_y = 8,
        .arguments = {input(0, at), input(1, at), scratch(), whole(tokens)},
    });
    launches.push_back({
        .grid_x = attention_parts(tokens, 8),
        .block_x = 256,
        .entry = "attention_naive_softmax",
        .arguments = {scratch(), whole(tokens)},
    });
    launches.push_back({
        .grid_x = attention_parts(tokens, 4),
        .block_x = 256,
        .entry = "attention_naive_values",
        .arguments = {scratch(), input(2, at), output(at), whole(tokens)},
    });
  }
  return launches;
}

std::vector<Launch> attention_launches(std::string_view rung, std::int64_t tokens, int) {
  if (rung == "naive") return naive_attention_launches(tokens);
  const bool online = rung == "online";
  return {{
      .grid_x = attention_parts(tokens, online ? 32 : 64),
      .grid_y = static_cast<unsigned>(attention_heads),
      .block_x = online ? 256u : 128u,
      .shared_bytes = rung == "pipeline" ? 2u * 2 * 64 * 128 * 2 : 0u,
      .arguments = {input(0), input(1), input(2), output(), whole(tokens)},
  }};
}

/// One query of a head against float64.
void add_attention_query(const Outcome& outcome, std::int64_t head, std::int64_t query, ErrorNorm& norm) {
  const std::int64_t tokens = outcome.size;
  const auto value = [&](int which, std::int64_t token, std::int64_t i) {
    return input_value(outcome.operation, outcome.seed, which, (head * tokens + token) * attention_width + i);
  };
  std::vector<double> q(attention_width), weights(static_cast<std::size_t>(tokens)), expected(attention_width);
  for (std::int64_t i = 0; i < attention_width; ++i) q[static_cast<std::size_t>(i)] = value(0, query, i);
  double largest = -INFINITY, total = 0;
  for (std::int64_t key = 0; key < tokens; ++key) {
    double score = 0;
    for (std::int64_t i = 0; i < attention_width; ++i) score += q[static_cast<std::size_t>(i)] * value(1, key, i);
    weights[static_cast<std::size_t>(key)] = score / std::sqrt(static_cast<double>(attention_width));
    largest = std::max(largest, weights[static_cast<std::size_t>(key)]);
  }
  for (double& weight : weights) {
    weight = std::exp(weight - largest);
    total += weight;
  }
  for (std::int64_t key = 0; key < tokens; ++key)
    for (std::int64_t i = 0; i < attention_width; ++i)
      expected[static_cast<std::size_t>(i)] += weights[static_cast<std::size_t>(key)] / total * value(2, key, i);
  for (std::int64_t i = 0; i < attention_width; ++i)
    norm.add(bf16_at(outcome, (head * tokens + query) * attention_width + i), expected[static_cast<std::size_t>(i)]);
}

/// Four queries of each head, one of them the last, against float64; all of the output is searched for NaN. Bound:
/// rounding the output to bf16 errs by at most 2^-8 of a number. Where the weights are rounded to bf16 for the tensor
/// cores each errs by that once more, and so does a sum of them at most. Scores and sums in float32 add sqrt(K) 2 eps
/// each, of the scores' width and of the tokens.
Deviation attention_compare(const Outcome& outcome) {
  const std::int64_t tokens = outcome.size;
  Deviation d;
  for (std::int64_t i = 0; i < attention_elements(tokens); ++i)
    d.never_written += std::isnan(bf16_at(outcome, i)) ? 1 : 0;
  ErrorNorm norm;
  std::uint32_t seed = outcome.seed;
  for (std::int64_t head = 0; head < attention_heads; ++head)
    for (std::int64_t part = 0; part < 4; ++part) {
      seed = seed * 1664525u + 1013904223u;
      add_attention_query(outcome, head, part == 3 ? tokens - 1 : static_cast<std::int64_t>(seed >> 8) % tokens, norm);
    }
  d.error = norm.value();
  const double rounded = outcome.rung == "naive" || outcome.rung == "online" ? 1 : 2;
  const double sums = std::sqrt(static_cast<double>(tokens)) + std::sqrt(static_cast<double>(attention_width));
  d.bound = rounded * 0x1p-8 + sums * 2 * 0x1p-23;
  return d;
}

const Ladder& attention_ladder() {
  static const std::array rungs{
      Rung{.id = "naive",
           .title = "three kernels",
           .change = "Scores, softmax, values: each a kernel, and between them every score in memory, four bytes each.",
           .source = embedded_source("cuda/rungs/attention_naive.cu"),
           .entry = "attention_naive",
           .roof = "gpu_sgemm",
           .cost = naive_attention_cost},
      Rung{.id = "online",
           .title = "online softmax",
           .change =
               "One kernel: tiles of 32 keys, and a softmax that is corrected when a larger score comes. No score "
               "is in memory; this saves memory, not arithmetic.",
           .source = embedded_source("cuda/rungs/attention_online.cu"),
           .entry = "attention_online",
           .roof = "gpu_sgemm"},
      Rung{.id = "mma",
           .title = "tensor cores",
           .change = "Both products by mma.sync. Its sums lie in the registers as its first operand does, so the "
                     "weights go from one product into the next without leaving them.",
           .source = embedded_source("cuda/rungs/attention_mma.cu"),
           .entry = "attention_mma",
           .roof = "gpu_bf16",
           .capability_lo = 80},
      Rung{.id = "swizzle",
           .title = "swizzle",
           .change = "Each row's chunks of 16 bytes are XORed with the row: the eight rows that an ldmatrix reads are "
                     "in all 32 banks.",
           .source = embedded_source("cuda/rungs/attention_swizzle.cu"),
           .entry = "attention_swizzle",
           .roof = "gpu_bf16",
           .capability_lo = 80},
      Rung{.id = "pipeline",
           .title = "two buffers",
           .change = "cp.async into a second buffer: the next 64 keys are copied while these are used. 64 KiB of "
                     "dynamic shared memory.",
           .source = embedded_source("cuda/rungs/attention_pipeline.cu"),
           .entry = "attention_pipeline",
           .roof = "gpu_bf16",
           .capability_lo = 80},
  };
  static const Ladder ladder{.id = "cuda-attention",
                             .title = "GPU attention",
                             .device = Device::cuda,
                             .measure = Measure::flops_per_s,
                             .size_label = "Tokens",
                             .size_unit = "",
                             .size_lo = 256,
                             .size_default = 4096,
                             .size_hi = 16384,
                             .rungs = rungs,
                             .cost = attention_cost};
  return ladder;
}

}  // namespace

const Operation& attention_operation() {
  // Queries four times as large as keys: the scores spread over several units, and a few weights outweigh the rest.
  constexpr Array queries{.element = Element::bf16, .count = attention_elements, .lo = -4, .scale = 8};
  constexpr Array others{.element = Element::bf16, .count = attention_elements, .lo = -1, .scale = 2};
  static const Operation operation{
      .ladder = &attention_ladder(),
      .granule = 1,
      .edge_size = 205,
      .inputs = {queries, others, others},
      .output_bytes = attention_bytes,
      .scratch_bytes = attention_scratch,
      .launches = attention_launches,
      .compare = attention_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
