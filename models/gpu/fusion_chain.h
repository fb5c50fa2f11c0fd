#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

/// Chains of operations whose tensors go through main memory unless operations are fused.
namespace models::gpu {

enum class ChainKind : std::uint8_t {
  projection,  ///< x W1, + bias, GELU, dropout, + residual, LayerNorm, W2: all matrices square
  ffn,         ///< x W1 to four widths, + bias, GELU, W2, + bias, + residual, LayerNorm
  gated,       ///< x [gate, up], SiLU, gate times up, down, + residual, RMSNorm: a Llama block's feed-forward
  attention,   ///< Q K^T, softmax, P V for each head
  gelu,        ///< the tanh form of GELU as eight operations of Python
  measured,    ///< x c + y, tanh, x sigmoid(x), x c + y as seven operations: what was timed eager and compiled
};
inline constexpr int chain_kind_count = 6;

enum class FusionOpKind : std::uint8_t { product, elementwise, row_norm, softmax };

/// A tensor of the chain. Activations have `rows` x `columns` elements for each of the chain's batches.
struct FusionTensor {
  std::string_view name;
  double bytes = 0;        ///< The bytes of all batches together.
  double row_columns = 0;  ///< elements of a row; 0: a weight, a bias, a mask, whatever no row is made of
  int producer = -1;       ///< operation that writes it; -1: it is there before
  bool weight = false;
  bool result = false;  ///< is read after the chain
  bool saved = false;   ///< the backward pass reads it
};

struct FusionOp {
  std::string_view name;
  FusionOpKind kind = FusionOpKind::elementwise;
  std::vector<int> inputs, outputs;  ///< tensors
  double columns = 0;                ///< Columns of the operation's result.
  double depth = 0;                  ///< Columns of a product's left operand.
  double instructions = 0;           ///< for each element of its result, on a lane of the vector units
  std::int64_t temporaries = 0;      ///< registers beside the values of a thread
};

struct FusionChain {
  std::vector<FusionTensor> tensors;
  std::vector<FusionOp> operations;
  double rows = 0, batches = 1;
  double element_bytes = 2;
  int count() const { return static_cast<int>(operations.size()); }
};

struct ChainShape {
  double tokens = 2048, width = 4096;
  double inner_ratio = 4;  ///< inner width over width, of ffn and gated
  double heads = 64;       ///< Heads of the attention; each has 128 dimensions.
};
/// Instructions of an element are estimates: a conversion in and out, one for each add or multiply, 8 for an
/// exponential or tanh, 20 for the error function, 12 for a random number of Philox.
FusionChain make_chain(ChainKind kind, const ChainShape& shape);

constexpr double attention_head_dim = 128;

}  // namespace models::gpu
