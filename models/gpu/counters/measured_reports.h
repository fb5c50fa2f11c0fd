#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "models/gpu/counters/kernel_verdict.h"

/// Reports of real kernels that others published, with what they said of them.
namespace models::gpu {

struct MeasuredReport {
  std::string id, label;  ///< "sgemm_tiled", "SGEMM, register tiles"
  std::string ladder;     ///< versions of one kernel share it, in their order; empty: it stands alone
  std::string source;
  KernelReport report{};
  KernelClass stated_class = KernelClass::undecided;
  std::string stated_cause{};
  std::string decided_by{};  ///< "author", "tool", "figures" or "name": whose word class and cause are
  SolVerdict verdict = SolVerdict::undecided;  ///< the tool's, undecided where a throughput is missing
  bool verdict_is_printed = false;             ///< the published report itself says it
  double time_s() const;                       ///< under the profiler, or without it, or NaN
};

/// All of them; the same on every call.
const std::vector<MeasuredReport>& measured_reports();

/// Their rows as JSON, in two lists.
std::string_view measured_rows_one();
std::string_view measured_rows_two();

}  // namespace models::gpu
