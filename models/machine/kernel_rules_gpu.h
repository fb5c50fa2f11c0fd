#pragma once
#include "models/machine/kernel_rules.h"

namespace models {

/// As predict_kernel, of the CUDA ladders alone, and of the OpenGL ladders alone.
std::optional<KernelPrediction> predict_gpu_kernel(std::string_view ladder, std::string_view rung, const GpuPorts& gpu);
std::optional<KernelPrediction> predict_opengl_kernel(std::string_view ladder, std::string_view rung,
                                                      const GpuPorts& gpu);

}  // namespace models
