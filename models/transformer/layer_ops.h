#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/machine/op_cost.h"
#include "models/transformer/transformer.h"

/// Every operation of a transformer for one workload, with its shape, flops and bytes.
namespace models {

enum class Phase { train, prefill, decode };
/// Which pairs of a sequence count as the model's arithmetic. causal: the triangle, as half its square; a fused kernel
/// skips the other half. Unfused attention computes the whole square and masks it, whatever is counted.
enum class AttentionFlops { causal, full };
enum class Recompute {
  none,
  selective,
  full
};  ///< selective: scores, softmax and values again; full: every layer's forward again
enum class LatentPath { automatic, absorbed, expanded };  ///< automatic: absorbed in decode, expanded otherwise

/// What runs. Lengths are tokens; `*_bytes` are bytes per element.
struct Workload {
  Phase phase = Phase::prefill;
  std::int64_t batch = 1;        ///< sequences
  std::int64_t sequence = 2048;  ///< train, prefill: new tokens of each sequence; decode ignores it
  std::int64_t context = 2048;   ///< decode: tokens attended to, the new ones among them; the other phases ignore it
  std::int64_t prefix = 0;  ///< prefill: tokens already cached before the new ones (chunked prefill, shared prompts)
  std::int64_t decode_tokens = 1;  ///< decode: new tokens of each sequence per step (more than 1 when verifying drafts)
  AttentionFlops attention = AttentionFlops::causal;
  double weight_bytes = 2;  ///< The matrices inside the layers, scales counted.
  /// Bytes of all other weights: embedding, norms, biases, router, output matrix. 0: as `weight_bytes`. Checkpoints
  /// with weights of 8 bits and less leave these in 16: see weight_storage.h.
  double other_weight_bytes = 0;
  double activation_bytes = 2;
  double kv_bytes = 2;
  bool fused_attention = true;  ///< FlashAttention; otherwise scores are written to memory and read back
  bool fused_elementwise =
      true;  ///< residual add with the norm behind it, activation with the gate product, qk-norm with rotation
  bool logits_for_all = false;  ///< prefill: logits of every position, not of the last alone (training always has all)
  Recompute recompute = Recompute::none;
  LatentPath latent = LatentPath::automatic;
  bool operator==(const Workload&) const = default;
};

/// One sentence if the workload is out of range (each length from 1 to 1e9, bytes above 0 and up to 8), nothing
/// otherwise.
std::string workload_problem(const Workload& workload);

double new_tokens(const Workload& workload);  ///< tokens that pass through the layers in one step, over the batch

enum class OperationGroup { embedding, norm, projection, attention, feed_forward, experts, residual, output };
std::string_view group_name(OperationGroup group);

/// A product [m,k] x [k,n], `batch` of them; all zero for an operation that is none. For experts m is the rows of all
/// of them together and `batch` the number of matrices read.
struct ProductShape {
  double batch = 0, m = 0, n = 0, k = 0;
  bool operator==(const ProductShape&) const = default;
};

struct LayerOperation {
  std::string name;   ///< unique within its layer
  std::string layer;  ///< "embedding", a LayerKind's name, or "output"
  OperationGroup group = OperationGroup::projection;
  std::int64_t count = 1;       ///< times in the model: the layers of its kind
  std::int64_t parameters = 0;  ///< stored for one of them
  ProductShape shape;
  OpCost forward;             ///< The cost of one pass of one operation.
  OpCost backward;            ///< zero outside training
  double forward_passes = 1;  ///< 2 when recomputed
  double product_flops = 0;   ///< The part of forward in matrix products alone, without softmax and the like.
  double backward_product_flops = 0;
  /// What the kernels multiply beyond those: masked pairs of unfused attention; in the backward pass of fused attention
  /// the scores once more.
  double extra_product_flops = 0, backward_extra_product_flops = 0;

  OpCost cost() const { return forward * forward_passes + backward; }  ///< What one costs in the whole step.
  /// All matrix products that the hardware computes for one in the whole step.
  double hardware_product_flops() const {
    return (product_flops + extra_product_flops) * forward_passes + backward_product_flops +
           backward_extra_product_flops;
  }
};

/// All operations of one layer of `kind`, in order. Products have no flops for their biases (they ride in the
/// epilogue). Training: the backward pass of a product is two products of the same flops; of an element-wise operation
/// or norm, twice its flops, with inputs and output gradients read and input gradients written; of a residual add, one
/// add of gradients. The optimizer is not in.
std::vector<LayerOperation> layer_operations(const Architecture& architecture, const LayerKind& kind,
                                             const Workload& workload);

/// Embedding, one entry per operation of each kind of layer, final norm, logits and (training) loss. Multi-token
/// prediction is left out. Sum of count x parameters is count_parameters().total.
std::vector<LayerOperation> model_operations(const Architecture& architecture, const Workload& workload);

struct OperationTotals {
  double flops = 0;                   ///< all operations
  double product_flops = 0;           ///< matrix products alone: what 6ND, PaLM and Megatron count
  double hardware_product_flops = 0;  ///< with the masked and the rescored pairs too: what the hardware multiplies
  double bytes = 0;
  std::int64_t parameters = 0;
  double flops_per_token = 0;  ///< product_flops over new tokens: the published convention
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
};
OperationTotals total_operations(std::span<const LayerOperation> operations, const Workload& workload);

/// Cache that one more token takes, all layers: 2 kv_heads head_dim a layer, or the latent and its rotary part (one
/// copy, not two).
double kv_bytes_per_token(const Architecture& architecture, double kv_bytes);

/// Cache of one sequence of `tokens`: layers with a sliding window keep no more than it.
double kv_cache_bytes(const Architecture& architecture, double tokens, double kv_bytes);

}  // namespace models
