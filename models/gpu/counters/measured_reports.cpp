#include "models/gpu/counters/measured_reports.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/base/json_text.h"
#include "models/gpu/counters/kernel_report_file.h"

namespace models::gpu {
namespace {

template <class E>
E named(std::string_view key, std::size_t count, std::string_view (*key_of)(E)) {
  for (std::size_t i = 0; i < count; ++i)
    if (key_of(static_cast<E>(i)) == key) return static_cast<E>(i);
  return E{};
}

void add_rows(std::string_view rows, std::vector<MeasuredReport>& out) {
  const auto read = read_kernel_reports(rows);
  const nlohmann::json said = parse_json(rows);
  // Both are held to each other by a test: a row without a figure would be missing here.
  if (!read || said.size() != read->kernels.size()) return;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const nlohmann::json& row = said[i];
    MeasuredReport m{.id = row["id"], .label = row["label"], .ladder = row["ladder"], .source = row["source"]};
    m.report = read->kernels[i];
    m.stated_class = named(row["class"].get<std::string>(), kernel_class_count, kernel_class_key);
    m.stated_cause = row["cause"];
    m.decided_by = row["by"];
    m.verdict = named(row["verdict"].get<std::string>(), sol_verdict_count, sol_verdict_key);
    m.verdict_is_printed = row["printed"];
    out.push_back(std::move(m));
  }
}

}  // namespace

double MeasuredReport::time_s() const {
  return report.has(Figure::duration_s) ? report[Figure::duration_s] : report[Figure::unprofiled_s];
}

const std::vector<MeasuredReport>& measured_reports() {
  static const std::vector<MeasuredReport> all = [] {
    std::vector<MeasuredReport> out;
    add_rows(measured_rows_one(), out);
    add_rows(measured_rows_two(), out);
    return out;
  }();
  return all;
}

}  // namespace models::gpu
