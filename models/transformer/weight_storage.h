#pragma once
#include "models/machine/hardware.h"
#include "models/transformer/transformer.h"

/// How narrow weights are stored, the same in every lab: matrices inside the layers are narrow, with their scales
/// counted; embedding, norms, biases, router and output matrix stay in 16 bits, as published checkpoints leave them.
namespace models {

/// Bits of one weight inside a layer, scales counted. INT4 and other integers below 8 bits: groups of 128 with a 16-bit
/// scale each (AutoGPTQ's and AutoAWQ's default). 8 bits and more: a scale for each row, too little to count.
double stored_bits(double bits);
/// The same for a format of weights that meet activations in another. 4-bit floats on both sides are NVFP4: blocks of
/// 16 with an 8-bit scale. 4-bit weights beside wider activations are INT4 in groups of 128.
double stored_bits(Format weights, Format activations);
/// Bytes an element of what stays wide beside layer matrices of `bits` bits: 2, or as wide as they are.
double other_weight_bytes(double bits);

/// Parameters in the matrices inside the layers: attention, feed-forward, routed and shared experts.
double layer_matrix_parameters(const Architecture& architecture);
/// Bytes of all weights when those matrices take `bits` bits, scales included.
double stored_weight_bytes(const Architecture& architecture, double bits);

}  // namespace models
