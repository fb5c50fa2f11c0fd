#pragma once
#include "models/machine/hardware.h"
#include "models/transformer/roofline_decode.h"
#include "models/transformer/transformer.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The operations of a language model that deserve a dot on the roofline, with their work. Costs are those of layer_ops
/// and op_cost.
namespace models {

enum class RooflineOp {
  decode,
  prefill,
  attention_unfused,
  flash_attention,
  attention_scores,
  softmax,
  decode_attention,
  query_projection,
  up_projection,
  norm,
  gate,
  residual,
  decode_gate
};
inline constexpr std::array all_roofline_ops{RooflineOp::decode,
                                             RooflineOp::prefill,
                                             RooflineOp::attention_unfused,
                                             RooflineOp::flash_attention,
                                             RooflineOp::attention_scores,
                                             RooflineOp::softmax,
                                             RooflineOp::decode_attention,
                                             RooflineOp::query_projection,
                                             RooflineOp::up_projection,
                                             RooflineOp::norm,
                                             RooflineOp::gate,
                                             RooflineOp::residual,
                                             RooflineOp::decode_gate};
std::string_view roofline_op_id(RooflineOp op);  ///< "flash_attention"

/// Counts are tokens or sequences; every operand takes `element_bytes` an element.
struct OpSizes {
  std::int64_t batch = 1;
  std::int64_t sequence = 8192;  ///< prompt of each sequence, for all but the decode operations
  std::int64_t context = 4096;   ///< tokens in the cache, for the decode operations
  double element_bytes = 2;
  bool count_kv_reads = true;  ///< The whole decode step counts them.
};

struct NamedWork {
  RooflineOp op = RooflineOp::decode;
  std::string label;  ///< "FlashAttention", "SwiGLU", "LayerNorm": as this model does it
  Work work;
};
/// Every operation that the model has; one layer's (of its most frequent kind) except for decode and prefill, which are
/// the whole model. FlashAttention computes the causal half, unfused attention the whole square. Kernels: one for each
/// operation, three for unfused attention.
std::vector<NamedWork> roofline_works(const Architecture& architecture, const OpSizes& sizes);
/// The one that is asked for; null when the model has none.
const NamedWork* find_work(const std::vector<NamedWork>& works, RooflineOp op);

/// A decode step of `batch` sequences: matrices inside the layers of `matrix_bytes` an element (of a mixture, the
/// experts that the batch is expected to touch), the other weights, cache and activations of `element_bytes`; the input
/// embedding is looked up, not read. `kernels` of the step: see decode_kernels.
DecodeStep decode_step(const Architecture& architecture, const OpSizes& sizes, double matrix_bytes);
/// Kernels that one decode step launches, one for each operation.
double decode_kernels(const Architecture& architecture, const OpSizes& sizes);

/// The format itself if the chip states a peak for it, else the narrowest that holds its values: BF16 for FP16 and
/// back, FP8 for FP6, FP16 for FP8, TF32 or FP32 for TF32. Integers stand in for nothing. Nothing when the chip has
/// none of them.
std::optional<Format> nearest_format(const Chip& chip, Format format);

}  // namespace models
