#pragma once
#include "models/gpu/counters/kernel_report_file.h"

/// Readers of one form each, and what they share.
namespace models::gpu {

/// A number with thousands between commas, as reports print it. NaN: it is none, or beyond 1e18 in size.
double report_number(std::string_view text);
/// "Kbyte/block", "msecond", "cycle/nsecond": what it measures, and how many SI units one is.
struct ReportUnit {
  Measure measure = Measure::plain;
  double scale = 1;
};
ReportUnit report_unit(std::string_view unit);

/// Puts a figure of the details page where it belongs; false: nothing here has that label in that unit.
bool put_details_figure(KernelReport& report, std::string_view label, std::string_view unit, std::string_view value);
/// The same for a metric of the raw page.
bool put_raw_metric(KernelReport& report, std::string_view metric, std::string_view unit, std::string_view value);
/// What a rule's sentences say: a stall, bytes used of a sector, ways of a conflict, the verdict.
void put_rule_text(KernelReport& report, std::string_view text, double estimate_pct);
/// "(196, 1, 1)" is 196; NaN: it is no such product.
double product_of_triple(std::string_view text);
/// "8.0" is 80.
double capability_number(std::string_view text);
/// False where no figure is known, nor a stall.
bool says_anything(const KernelReport& report);

/// Cells of one line of a CSV, quotes taken away; `at` moves behind it. At most 8,192 cells.
std::vector<std::string> csv_line(std::string_view text, std::size_t& at);
std::string_view trimmed_blanks(std::string_view text);

/// Adds one that says anything; counts those that do not or are too many.
void keep_report(KernelReports& into, KernelReport report);

Result<KernelReports> read_report_json(std::string_view text);
Result<KernelReports> read_nsight_text(std::string_view text);
Result<KernelReports> read_nsight_csv(std::string_view text);
Result<KernelReports> read_rocprof_tables(std::string_view text);

}  // namespace models::gpu
