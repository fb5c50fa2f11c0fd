#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/api.h"
#include "kernels/kernel.h"

namespace kernels::cuda {

/// One source compiled by NVRTC. `failure` is one sentence when it did not compile; `image` is what the driver loads.
struct Compilation {
  std::string image;  ///< a cubin, or PTX when the GPU is newer than the compiler
  std::string failure;
  std::vector<Diagnostic> diagnostics;
  KernelReport report;  ///< The report on `entry`; block_threads is the caller's to fill.
  std::string log;      ///< What the compiler wrote, with what every kernel of the source uses (parse_report).
};

/// Compiles `source` for compute capability `capability` (90 for sm_90), naming it `file` in messages. Needs no device
/// and no driver. A capability above all that NVRTC knows is compiled to PTX of its newest, which the driver finishes;
/// one below is a failure. `architecture_specific`: with the instructions that one architecture alone has (sm_90a).
Compilation compile(const Nvrtc& nvrtc, std::string_view source, const std::string& file, std::string_view entry,
                    int capability, bool architecture_specific = false);

/// The capability that kernels are compiled for when there is no device.
inline constexpr int default_capability = 90;

}  // namespace kernels::cuda
