#pragma once
#include "models/machine/kernel_rules.h"

namespace models {

/// As predict_kernel, of the CUDA ladders that measure the machine: strides, bank conflicts, occupancy against ILP, L2,
/// launches and copies from and to the host.
std::optional<KernelPrediction> predict_probe_kernel(std::string_view ladder, std::string_view rung,
                                                     const GpuPorts& gpu);

}  // namespace models
