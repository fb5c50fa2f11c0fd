#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/gpu/counters/kernel_report.h"

/// Reads reports of kernels from text.
namespace models::gpu {

struct KernelReports {
  std::string format{};  ///< "Nsight Compute, text"
  std::vector<KernelReport> kernels{};
  std::size_t left_out = 0;  ///< kernels beyond max_report_kernels, or without any figure that is known
};

inline constexpr std::size_t max_report_bytes = 64 << 20;
inline constexpr std::size_t max_report_kernels = 4096;

/// Text and CSV of Nsight Compute (pages details and raw, 2019 to 2025), tables of `rocprof-compute analyze` as text or
/// CSV, or JSON {"kernel", "chip", "grid_blocks", "block_threads", "report": {...}, "stalls", "rules"}, one or a list.
/// What a report does not print stays NaN. Fails with one sentence for a binary report, for what is none of these, and
/// where no kernel has a figure.
Result<KernelReports> read_kernel_reports(std::string_view text);

/// Could this text be such a report? Looks for the marks of each form and parses nothing.
bool looks_like_kernel_report(std::string_view text);

}  // namespace models::gpu
