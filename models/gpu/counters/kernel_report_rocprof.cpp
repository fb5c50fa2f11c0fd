#include <algorithm>

#include "models/gpu/counters/kernel_report_parts.h"

/// Tables of `rocprof-compute analyze`, drawn with lines or as CSV. Rows have an id as "16.1.0", a metric, and columns
/// such as Avg, Unit, Peak, Pct of Peak.
namespace models::gpu {
namespace {

using TableRow = std::vector<std::string>;

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// Cells of a row between the strokes of a drawn table, or of a CSV.
TableRow cells_of_row(std::string_view line) {
  constexpr std::string_view stroke = "\xE2\x94\x82";
  const bool drawn = line.find(stroke) != std::string_view::npos;
  const std::string_view between = drawn ? stroke : line.find('|') != std::string_view::npos ? "|" : "";
  TableRow out;
  if (between.empty()) {
    std::size_t at = 0;
    out = csv_line(line, at);
    for (std::string& c : out) c = std::string(trimmed_blanks(c));
    return out;
  }
  for (std::size_t at = 0; at <= line.size() && out.size() < 64;) {
    const auto end = std::min(line.find(between, at), line.size());
    out.emplace_back(trimmed_blanks(line.substr(at, end - at)));
    at = end + between.size();
  }
  return out;
}

/// "16.1" of "16.1.0" or of the heading "16.1 Speed-of-Light"; empty: there is none.
std::string section_of(std::string_view text) {
  std::size_t i = 0, dots = 0;
  while (i < text.size() && (text[i] == '.' || (text[i] >= '0' && text[i] <= '9'))) {
    if (text[i] == '.' && ++dots == 2) break;
    ++i;
  }
  const std::string_view number = text.substr(0, i);
  if (i < text.size() && text[i] != '.' && text[i] != ' ') return {};
  return number.find('.') == std::string_view::npos ? std::string() : std::string(number);
}

struct TableHead {
  std::ptrdiff_t id = -1, metric = -1, value = -1, unit = -1, pop = -1, kernel = -1, mean = -1;
  static TableHead of(const TableRow& row) {
    TableHead out;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string name = lowered(row[i]);
      const auto at = static_cast<std::ptrdiff_t>(i);
      if (name == "metric_id" || name == "index") out.id = at;
      if (name == "metric") out.metric = at;
      if (name == "avg" || name == "value" || name == "mean") out.value = at;
      if (name == "unit") out.unit = at;
      if (name == "pct of peak" || name == "pop") out.pop = at;
      if (name == "kernel_name" || name == "kernelname" || name == "kernel name") out.kernel = at;
      if (name == "mean(ns)") out.mean = at;
    }
    return out;
  }
  bool of_metrics() const { return metric >= 0 && (value >= 0 || pop >= 0); }
  bool of_kernels() const { return kernel >= 0 && mean >= 0; }
};

std::string_view table_cell(const TableRow& row, std::ptrdiff_t at) {
  return at >= 0 && static_cast<std::size_t>(at) < row.size() ? std::string_view(row[static_cast<std::size_t>(at)])
                                                              : "";
}

void put_metric(KernelReport& report, const TableHead& head, const TableRow& row, std::string_view section) {
  const std::string wanted = lowered(std::string(section) + " " + std::string(table_cell(row, head.metric)));
  for (const FigureNames& names : report_figures()) {
    if (names.amd.empty() || lowered(names.amd) != wanted) continue;
    ReportUnit unit = report_unit(table_cell(row, head.unit));
    double value = report_number(table_cell(row, head.value));
    if (names.measure == Measure::percent && unit.measure != Measure::percent) {
      // A count of cycles in old releases, or something else than a share: the share of the peak, where it is printed.
      value = report_number(table_cell(row, head.pop));
      unit = {Measure::percent, 1};
    }
    if (!std::isnan(value)) report[names.figure] = value * (names.measure == Measure::plain ? 1 : unit.scale);
  }
}

}  // namespace

Result<KernelReports> read_rocprof_tables(std::string_view text) {
  KernelReports out{.format = "rocprof-compute"};
  KernelReport report;
  report.amd = true;
  report.tool = "rocprof-compute";
  std::size_t kernels = 0;
  TableHead head;
  std::string section;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed_blanks(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
    if (line.empty() || line.size() > 20'000) continue;
    const TableRow row = cells_of_row(line);
    if (row.size() < 3) {
      if (std::string found = section_of(line); !found.empty()) section = std::move(found);
      continue;
    }
    if (const TableHead found = TableHead::of(row); found.of_metrics() || found.of_kernels()) {
      head = found;
      continue;
    }
    if (head.of_kernels() && !table_cell(row, head.kernel).empty()) {
      if (++kernels == 1) {
        report.kernel = table_cell(row, head.kernel).substr(0, 400);
        const double ns = report_number(table_cell(row, head.mean));
        report[Figure::duration_s] = ns * 1e-9;
      }
      continue;
    }
    if (!head.of_metrics()) continue;
    if (std::string found = section_of(table_cell(row, head.id)); !found.empty()) section = std::move(found);
    put_metric(report, head, row, section);
  }
  if (kernels > 1) {
    report.kernel += " and " + std::to_string(kernels - 1) + " more";
    report[Figure::duration_s] = std::nan("");
  }
  keep_report(out, std::move(report));
  if (out.kernels.empty())
    return Result<KernelReports>::fail(
        "No known figure is in these tables: print them with `rocprof-compute analyze -p FOLDER`.");
  return Result<KernelReports>::ok(std::move(out));
}

}  // namespace models::gpu
