#include "models/transformer/weight_storage.h"

#include <algorithm>

namespace models {

namespace {

constexpr double group_size = 128, group_scale_bits = 16;      // INT4
constexpr double nvfp4_block_size = 16, nvfp4_scale_bits = 8;  // its one FP32 scale a tensor is too little to count

}  // namespace

double stored_bits(double bits) { return bits < 8 ? bits + group_scale_bits / group_size : bits; }

double stored_bits(Format weights, Format activations) {
  const double bits = 8 * format_bytes(weights);
  if (weights == Format::fp4 && activations == Format::fp4) return bits + nvfp4_scale_bits / nvfp4_block_size;
  return stored_bits(bits);
}

double other_weight_bytes(double bits) { return std::max(2.0, bits / 8); }

double layer_matrix_parameters(const Architecture& a) {
  const LayerParameters l = count_parameters(a).layers;
  return static_cast<double>(l.attention + l.dense_ffn + l.routed_experts + l.shared_experts);
}

double stored_weight_bytes(const Architecture& a, double bits) {
  const double matrices = layer_matrix_parameters(a);
  return matrices * bits / 8 + (static_cast<double>(count_parameters(a).total) - matrices) * other_weight_bytes(bits);
}

}  // namespace models
