#pragma once
#include "models/compression/small_network_compress.h"
#include "models/machine/hardware.h"

/// What a compression would bring in speed to a network of this shape that is large enough to fill a chip. Upper
/// bounds: unpacking and imperfect kernels are not counted.
namespace models {

struct CompressionSpeed {
  double memory_bound = 1;   ///< one request at a time: bytes of the original in 16 bits / bytes now
  double compute_bound = 1;  ///< large batches: multiply-adds fewer x number format faster x 2:4 faster
  double format_rate = 1;    ///< the chip's INT8 peak / BF16 peak when weights and activations have at most 8 bits
  double pattern_rate = 1;   ///< 2 where the chip has 2:4 units and the zeros lie so; zeros anywhere skip nothing
};
CompressionSpeed compression_speed(const SmallNetwork& original, const Compressed& now, const Plan& plan,
                                   const Chip& chip);

}  // namespace models
