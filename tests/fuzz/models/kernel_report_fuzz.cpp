// A report of kernels in any form: whatever is accepted has figures within bounds, and a diagnosis that holds together.
#include "models/gpu/counters/kernel_report_file.h"
#include "models/gpu/counters/kernel_verdict.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::gpu;
  const auto read = read_kernel_reports(fuzz::text_of(data, size));
  if (!fuzz::accepted(read)) return 0;
  fuzz::require(!read->kernels.empty() && read->kernels.size() <= max_report_kernels, "no kernel, or too many");
  for (const KernelReport& report : read->kernels) {
    for (const double figure : report.figures)
      fuzz::require(std::isnan(figure) || std::abs(figure) <= 1e31, "a figure out of its range");
    fuzz::require(report.kernel.size() <= 440 && report.stalls.size() <= 64, "a name or stalls without an end");
    const Diagnosis d = diagnose(report);
    fuzz::require((d.bound == KernelClass::undecided) == (d.evidence == Evidence::nothing),
                  "a class without evidence, or evidence without a class");
    const ReportIdentities also = report_identities(report);
    fuzz::require(std::isnan(also.tail_pct) || (also.tail_pct >= 0 && also.tail_pct <= 100), "a tail out of its range");
  }
  return 0;
}
