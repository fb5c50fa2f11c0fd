#include "models/gpu/fusion_chain.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace models::gpu {
namespace {

/// Adds tensors and operations; every number of the chain has two bytes.
struct ChainBuilder {
  FusionChain chain;
  int activation(std::string_view name, double columns, bool saved = false) {
    chain.tensors.push_back({.name = name,
                             .bytes = chain.batches * chain.rows * columns * chain.element_bytes,
                             .row_columns = columns,
                             .saved = saved});
    return static_cast<int>(chain.tensors.size()) - 1;
  }
  int weight(std::string_view name, double elements) {
    chain.tensors.push_back({.name = name, .bytes = chain.batches * elements * chain.element_bytes, .weight = true});
    return static_cast<int>(chain.tensors.size()) - 1;
  }
  void operation(FusionOp op) {
    for (const int t : op.outputs)
      chain.tensors[static_cast<std::size_t>(t)].producer = static_cast<int>(chain.operations.size());
    chain.operations.push_back(std::move(op));
  }
  /// A new tensor of as many columns from `inputs`.
  int map(std::string_view name, std::string_view out, std::vector<int> inputs, double columns, double instructions,
          std::int64_t temporaries, bool saved = false) {
    const int y = activation(out, columns, saved);
    operation({.name = name,
               .inputs = std::move(inputs),
               .outputs = {y},
               .columns = columns,
               .instructions = instructions,
               .temporaries = temporaries});
    return y;
  }
  int product(std::string_view name, std::string_view out, int left, int right, double columns, double depth,
              bool saved = false) {
    const int y = activation(out, columns, saved);
    operation({.name = name,
               .kind = FusionOpKind::product,
               .inputs = {left, right},
               .outputs = {y},
               .columns = columns,
               .depth = depth});
    return y;
  }
  int norm(std::string_view name, std::string_view out, int x, int parameters, double columns, bool softmax = false) {
    const int y = activation(out, columns);
    FusionOp op{.name = name,
                .kind = softmax ? FusionOpKind::softmax : FusionOpKind::row_norm,
                .inputs = {x},
                .outputs = {y},
                .columns = columns,
                .instructions = softmax ? 14.0 : 10.0,
                .temporaries = 9};
    if (parameters >= 0) op.inputs.push_back(parameters);
    operation(std::move(op));
    return y;
  }
  FusionChain end(int result) {
    chain.tensors[static_cast<std::size_t>(result)].result = true;
    return std::move(chain);
  }
};

FusionChain projection_chain(ChainBuilder b, const ChainShape& s) {
  const double n = s.width;
  const int x = b.activation("x", n), w1 = b.weight("W1", n * n);
  int z = b.product("x \xC2\xB7 W1", "z1", x, w1, n, n);
  const int bias = b.weight("bias", n);
  z = b.map("+ bias", "z2", {z, bias}, n, 3, 0, true);
  z = b.map("GELU", "z3", {z}, n, 24, 10);
  z = b.map("dropout", "z4", {z}, n, 18, 12);
  // One byte an element, which the backward pass reads.
  b.chain.tensors.push_back(
      {.name = "mask", .bytes = b.chain.rows * n, .producer = b.chain.count() - 1, .result = true});
  b.chain.operations.back().outputs.push_back(static_cast<int>(b.chain.tensors.size()) - 1);
  const int residual = b.activation("res", n);
  z = b.map("+ residual", "z5", {z, residual}, n, 4, 3, true);
  const int parameters = b.weight("\xCE\xB3, \xCE\xB2", 2 * n);
  z = b.norm("LayerNorm", "z6", z, parameters, n);
  b.chain.tensors[static_cast<std::size_t>(z)].saved = true;
  const int w2 = b.weight("W2", n * n);
  return b.end(b.product("\xC2\xB7 W2", "y", z, w2, n, n));
}

FusionChain ffn_chain(ChainBuilder b, const ChainShape& s) {
  const double d = s.width, inner = std::round(s.width * s.inner_ratio);
  const int x = b.activation("x", d), w1 = b.weight("W1", d * inner);
  int z = b.product("x \xC2\xB7 W1", "z1", x, w1, inner, d);
  z = b.map("+ bias", "z2", {z, b.weight("b1", inner)}, inner, 3, 0, true);
  z = b.map("GELU", "z3", {z}, inner, 24, 10, true);
  z = b.product("\xC2\xB7 W2", "z4", z, b.weight("W2", d * inner), d, inner);
  z = b.map("+ bias", "z5", {z, b.weight("b2", d)}, d, 3, 0);
  z = b.map("+ residual", "z6", {z, x}, d, 4, 3, true);
  return b.end(b.norm("LayerNorm", "y", z, b.weight("\xCE\xB3, \xCE\xB2", 2 * d), d));
}

FusionChain gated_chain(ChainBuilder b, const ChainShape& s) {
  const double d = s.width, inner = std::round(s.width * s.inner_ratio);
  const int x = b.activation("x", d);
  // One product with both matrices; gate and up are its halves.
  const int gate = b.activation("gate", inner, true), up = b.activation("up", inner, true);
  b.operation({.name = "x \xC2\xB7 [Wg Wu]",
               .kind = FusionOpKind::product,
               .inputs = {x, b.weight("Wg Wu", 2 * d * inner)},
               .outputs = {gate, up},
               .columns = 2 * inner,
               .depth = d});
  int z = b.map("SiLU", "z1", {gate}, inner, 14, 8);
  z = b.map("\xC3\x97 up", "z2", {z, up}, inner, 4, 3, true);
  z = b.product("\xC2\xB7 Wd", "z3", z, b.weight("Wd", d * inner), d, inner);
  z = b.map("+ residual", "z4", {z, x}, d, 4, 3, true);
  return b.end(b.norm("RMSNorm", "y", z, b.weight("\xCE\xB3", d), d));
}

FusionChain attention_chain(ChainBuilder b, const ChainShape& s) {
  const double keys = s.tokens, d = attention_head_dim;
  b.chain.batches = s.heads;
  const int q = b.activation("Q", d), k = b.weight("K", keys * d);
  const int scores = b.product("Q \xC2\xB7 K", "S", q, k, keys, d);
  const int p = b.norm("softmax", "P", scores, -1, keys, true);
  const int v = b.weight("V", keys * d);
  return b.end(b.product("P \xC2\xB7 V", "O", p, v, d, keys));
}

FusionChain gelu_chain(ChainBuilder b, const ChainShape& s) {
  const double n = s.width;
  const int x = b.activation("x", n, true);
  int z = b.map("x\xC2\xB3", "z1", {x}, n, 4, 2);
  z = b.map("\xC3\x97 0.0447", "z2", {z}, n, 3, 0);
  z = b.map("+ x", "z3", {z, x}, n, 4, 3);
  z = b.map("\xC3\x97 0.798", "z4", {z}, n, 3, 0);
  z = b.map("tanh", "z5", {z}, n, 10, 6, true);
  z = b.map("+ 1", "z6", {z}, n, 3, 0);
  z = b.map("\xC3\x97 x", "z7", {z, x}, n, 4, 3);
  return b.end(b.map("\xC3\x97 0.5", "y", {z}, n, 3, 0));
}

FusionChain measured_chain(ChainBuilder b, const ChainShape& s) {
  const double n = s.width;
  const int x = b.activation("x", n), y = b.activation("y", n);
  int z = b.map("\xC3\x97 c", "z1", {x}, n, 3, 0);
  z = b.map("+ y", "z2", {z, y}, n, 4, 3);
  z = b.map("tanh", "z3", {z}, n, 10, 6, true);
  const int sigmoid = b.map("sigmoid", "z4", {z}, n, 12, 6, true);
  z = b.map("\xC3\x97 z3", "z5", {sigmoid, z}, n, 4, 3);
  z = b.map("\xC3\x97 c", "z6", {z}, n, 3, 0);
  return b.end(b.map("+ y", "out", {z, y}, n, 4, 3));
}

}  // namespace

FusionChain make_chain(ChainKind kind, const ChainShape& shape) {
  ChainBuilder b;
  b.chain.rows = shape.tokens;
  switch (kind) {
    case ChainKind::projection:
      return projection_chain(std::move(b), shape);
    case ChainKind::ffn:
      return ffn_chain(std::move(b), shape);
    case ChainKind::gated:
      return gated_chain(std::move(b), shape);
    case ChainKind::attention:
      return attention_chain(std::move(b), shape);
    case ChainKind::gelu:
      return gelu_chain(std::move(b), shape);
    case ChainKind::measured:
      break;
  }
  return measured_chain(std::move(b), shape);
}

}  // namespace models::gpu
