#include "models/gpu/counters/kernel_report_file.h"

#include "models/gpu/counters/kernel_report_parts.h"

namespace models::gpu {
namespace {

enum class ReportForm : std::uint8_t { none, json, rocprof, csv, text };

bool text_holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

ReportForm form_of(std::string_view text) {
  const std::string_view start = trimmed_blanks(text.substr(0, 4096));
  if (start.starts_with('{') || start.starts_with('[')) {
    if (text_holds(text, "\"report\"")) return ReportForm::json;
    if (start.starts_with('{')) return ReportForm::none;
  }
  if (text_holds(text, "Metric_ID") || (text_holds(text, "Kernel_Name") && text_holds(text, "Mean(ns)")))
    return ReportForm::rocprof;
  if (text_holds(text, "\"Kernel Name\"") && (text_holds(text, "\"Metric Name\"") || text_holds(text, "__")))
    return ReportForm::csv;
  if (text_holds(text, "Kernel Name,") && text_holds(text, "__")) return ReportForm::csv;
  for (const std::string_view mark :
       {"Section: GPU Speed Of Light", "Section: Launch Statistics", "Section: Occupancy",
        "Section: Scheduler Statistics", "Section: Warp State", "Section: Memory Workload", "Section: Compute Workload",
        "Section: Command line profiler", "Compute (SM) Throughput ", "gpu__time_duration", "smsp__", "sm__throughput"})
    if (text_holds(text, mark)) return ReportForm::text;
  return ReportForm::none;
}

}  // namespace

bool looks_like_kernel_report(std::string_view text) { return form_of(text) != ReportForm::none; }

Result<KernelReports> read_kernel_reports(std::string_view text) {
  using R = Result<KernelReports>;
  if (text.starts_with(std::string_view("NVR\0", 4)))
    return R::fail(
        "This is the binary report of Nsight Compute: print it with `ncu --import FILE --page details > report.txt`, "
        "and open that.");
  if (text.size() > max_report_bytes)
    return R::fail("The report is larger than 64 MiB: export fewer kernels, or the details page alone.");
  switch (form_of(text)) {
    case ReportForm::json:
      return read_report_json(text);
    case ReportForm::rocprof:
      return read_rocprof_tables(text);
    case ReportForm::csv:
      return read_nsight_csv(text);
    case ReportForm::text:
      return read_nsight_text(text);
    case ReportForm::none:
      break;
  }
  return R::fail(
      "This is no report of a kernel: give the text or CSV of Nsight Compute, tables of rocprof-compute, or JSON with "
      "an object \"report\".");
}

}  // namespace models::gpu
