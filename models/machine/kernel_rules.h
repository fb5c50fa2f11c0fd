#pragma once
#include <optional>
#include <string_view>

#include "models/machine/kernel_prediction.h"

/// What each rung of the kernel lab's ladders asks for, as rules: the bound that follows, and the share that somebody
/// measured for the same version.
namespace models {

struct KernelPrediction {
  KernelBound bound;
  std::string_view why;               ///< what was counted, for hover
  double published_share = 0;         ///< what somebody measured for the same version; 0: none known
  std::string_view published_source;  ///< chip and source of that
  double published_flops_per_s = 0;   ///< the rate behind it; 0: not known
  double published_peak_share = 0;    ///< the same as a share of that chip's own peak; 0: not known
  PortLoads ports;                    ///< what running at the roof would ask of each port
  /// Bytes an operation, between registers and the first level (L1 or shared memory, each access as wide as the port)
  /// and between the first level and what lies behind it; 0: not counted.
  double first_level_bytes_per_flop = 0, second_level_bytes_per_flop = 0;
  double moved = 1;  ///< bytes over the memory's wire for each byte of the algorithm
};
struct KernelMachine {
  CorePorts core;
  GpuPorts gpu;
};
/// The prediction for a rung, by the ids of its ladder and its own. Nothing for a rung that has no rule.
std::optional<KernelPrediction> predict_kernel(std::string_view ladder, std::string_view rung,
                                               const KernelMachine& machine);

}  // namespace models
