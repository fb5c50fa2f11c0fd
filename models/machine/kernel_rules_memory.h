#pragma once
#include "models/machine/kernel_rules.h"

namespace models {

/// As predict_kernel, of the CUDA ladders that memory bounds: softmax, LayerNorm and GELU, decode GEMV, paged decode
/// and FP8. How fast additions to one counter follow each other is not known, so that the histogram has no rule.
std::optional<KernelPrediction> predict_memory_kernel(std::string_view ladder, std::string_view rung,
                                                      const GpuPorts& gpu);

}  // namespace models
