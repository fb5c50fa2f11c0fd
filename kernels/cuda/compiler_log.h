#pragma once
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace kernels::cuda {

/// The messages of an NVRTC log: `name(line): error: text`, `name(line): warning #177-D: text`. A `ptxas error   :
/// text` is of line 0.
std::vector<Diagnostic> parse_diagnostics(std::string_view log);

/// Registers, spills and static shared memory of one kernel, from the lines that `--ptxas-options=-v` adds to the log.
/// An empty `arch` when the log says nothing of that kernel; block_threads is left 0.
KernelReport parse_report(std::string_view log, std::string_view entry);

}  // namespace kernels::cuda
