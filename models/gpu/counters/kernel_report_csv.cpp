#include <algorithm>

#include "models/gpu/counters/kernel_report_parts.h"

/// `ncu --csv`: a row a figure (details page), or a row a kernel and a row of units under the names (raw page).
namespace models::gpu {
namespace {

using CsvRow = std::vector<std::string>;
constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

std::size_t column(const CsvRow& head, std::string_view name) {
  const auto at = std::find(head.begin(), head.end(), name);
  return at == head.end() ? nowhere : static_cast<std::size_t>(at - head.begin());
}
std::string_view csv_cell(const CsvRow& row, std::size_t at) {
  return at < row.size() ? std::string_view(row[at]) : "";
}

struct Columns {
  std::size_t id, kernel, block, grid, capability, name, unit, value, rule, estimate;
  explicit Columns(const CsvRow& head)
      : id(column(head, "ID")),
        kernel(column(head, "Kernel Name")),
        block(column(head, "Block Size")),
        grid(column(head, "Grid Size")),
        capability(column(head, "CC")),
        name(column(head, "Metric Name")),
        unit(column(head, "Metric Unit")),
        value(column(head, "Metric Value")),
        rule(column(head, "Rule Description")),
        estimate(column(head, "Estimated Speedup")) {}
};

KernelReport started(const CsvRow& row, const Columns& at) {
  KernelReport out;
  out.tool = "ncu";
  out.kernel = csv_cell(row, at.kernel).substr(0, 400);
  out[Figure::grid_blocks] = product_of_triple(csv_cell(row, at.grid));
  out[Figure::block_threads] = product_of_triple(csv_cell(row, at.block));
  out[Figure::compute_capability] = capability_number(csv_cell(row, at.capability));
  return out;
}

KernelReports read_details(std::string_view text, std::size_t at, const Columns& columns) {
  KernelReports out{.format = "Nsight Compute, CSV"};
  KernelReport current;
  std::string id;
  bool any = false;
  while (at < text.size()) {
    const CsvRow row = csv_line(text, at);
    if (row.size() < 3) continue;
    if (!any || csv_cell(row, columns.id) != id) {
      if (any) keep_report(out, std::move(current));
      current = started(row, columns);
      id = csv_cell(row, columns.id);
      any = true;
    }
    if (const std::string_view name = csv_cell(row, columns.name); !name.empty()) {
      const std::string_view unit = csv_cell(row, columns.unit), value = csv_cell(row, columns.value);
      if (name.find("__") == std::string_view::npos)
        put_details_figure(current, name, unit, value);
      else
        put_raw_metric(current, name, unit, value);
    }
    if (const std::string_view rule = csv_cell(row, columns.rule); !rule.empty())
      put_rule_text(current, rule, report_number(csv_cell(row, columns.estimate)));
  }
  if (any) keep_report(out, std::move(current));
  return out;
}

KernelReports read_raw(std::string_view text, std::size_t at, const CsvRow& head) {
  KernelReports out{.format = "Nsight Compute, CSV of the raw page"};
  const Columns columns(head);
  CsvRow units;
  bool has_units = false;
  while (at < text.size()) {
    CsvRow row = csv_line(text, at);
    if (row.size() < 3) continue;
    if (!has_units) {
      has_units = true;
      if (trimmed_blanks(csv_cell(row, columns.id)).empty()) {
        units = std::move(row);
        continue;
      }
    }
    KernelReport report = started(row, columns);
    for (std::size_t i = 0; i < head.size() && i < row.size(); ++i)
      if (head[i].find("__") != std::string::npos) put_raw_metric(report, head[i], csv_cell(units, i), row[i]);
    if (const auto chip = column(head, "device__attribute_display_name"); chip != nowhere)
      report.chip = csv_cell(row, chip).substr(0, 200);
    keep_report(out, std::move(report));
  }
  return out;
}

}  // namespace

Result<KernelReports> read_nsight_csv(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    // What the tool and the program printed may stand before the table.
    const auto end = std::min(text.find('\n', at), text.size());
    if (text.substr(at, end - at).find("Kernel Name") == std::string_view::npos) {
      at = std::min(end + 1, text.size());
      continue;
    }
    const CsvRow head = csv_line(text, at);
    const bool details = column(head, "Metric Name") != nowhere;
    KernelReports out = details ? read_details(text, at, Columns(head)) : read_raw(text, at, head);
    if (!out.kernels.empty()) return Result<KernelReports>::ok(std::move(out));
    break;
  }
  return Result<KernelReports>::fail(
      "No kernel with a figure is in this CSV: write it with `ncu --csv --page details` or `--page raw`.");
}

}  // namespace models::gpu
