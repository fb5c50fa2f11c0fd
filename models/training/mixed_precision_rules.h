#pragma once
#include "models/training/mixed_precision.h"

/// What a recipe means, for the mixed_precision*.cpp files alone.
namespace models {

/// Bytes a parameter. `copies` are of the weights of products alone.
struct StateBytes {
  double weights = 0, copies = 0, gradients = 0, master = 0, moments = 8;
};

struct RecipeRules {
  NumberFormat operand = NumberFormat::fp32;   ///< inputs of products in the layers, forward
  NumberFormat gradient = NumberFormat::fp32;  ///< products in the layers: gradients of their outputs
  NumberFormat value =
      NumberFormat::fp32;  ///< what products write, attention and activations use, and the last product reads
  NumberFormat stream = NumberFormat::fp32;  ///< residual stream and norms in memory; norms always compute in FP32
  double operand_bytes = 4;                  ///< a value, scales in
  double value_bytes = 4, stream_bytes = 4;
  bool quantized = false;     ///< operands are made by a pass of their own (8 bits)
  bool casts = false;         ///< weights and the stream are FP32 and cast for every product (autocast)
  bool unscales = false;      ///< loss scaling: gradients are divided and looked at for inf
  double quantize_reads = 2;  ///< bytes read of a 16-bit value to make an 8-bit one
  StateBytes states;
};
RecipeRules rules_of(const MixedSettings& settings);

/// `quantized_share`: of all parameters, those that have copies.
void fill_memory(const Architecture& architecture, const MixedSettings& settings, const RecipeRules& rules,
                 double quantized_share, MixedStep& step);

}  // namespace models
