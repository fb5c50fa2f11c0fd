#pragma once
#include <optional>
#include <string_view>

#include "models/machine/kernel_rules.h"

namespace models {

/// Rungs of the CPU about fused passes, whole numbers, working sets and threads. Nothing for any other.
std::optional<KernelPrediction> predict_cpu_kernel(std::string_view ladder, std::string_view rung,
                                                   const CorePorts& core);

}  // namespace models
