#include <algorithm>
#include <cmath>
#include <limits>

#include "models/debugging/run_log.h"

namespace models::debugging {
namespace {

struct CommonRow {
  std::size_t first = 0, second = 0;
};

std::vector<CommonRow> common_rows(const RunLog& a, const RunLog& b) {
  std::vector<CommonRow> out;
  for (std::size_t i = 0, j = 0; i < a.steps.size() && j < b.steps.size();) {
    if (a.steps[i] == b.steps[j])
      out.push_back({i++, j++});
    else
      ++(a.steps[i] < b.steps[j] ? i : j);
  }
  return out;
}

void compare_column(const LogColumn& a, const LogColumn& b, const std::vector<CommonRow>& rows, LogComparison& out) {
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  auto& differences = out.differences.emplace_back();
  auto& first = out.first.emplace_back();
  auto& second = out.second.emplace_back();
  for (const CommonRow& row : rows) {
    const bool in_a = a.there[row.first] != 0, in_b = b.there[row.second] != 0;
    first.push_back(in_a ? a.values[row.first] : missing);
    second.push_back(in_b ? b.values[row.second] : missing);
    differences.push_back(in_a && in_b ? static_cast<float>(log_difference(first.back(), second.back())) : -1.0f);
  }
}

void find_places(double noise, LogComparison& out) {
  for (std::size_t s = 0; s < out.steps.size() && out.parts.step < 0; ++s) {
    float most = static_cast<float>(noise);
    for (std::size_t n = 0; n < out.names.size(); ++n) {
      const float here = out.differences[n][s];
      if (here > 0 && out.differs.step < 0) out.differs = {static_cast<std::int64_t>(s), n};
      if (!(here > most)) continue;
      most = here;
      out.parts = {static_cast<std::int64_t>(s), n};
    }
  }
}

}  // namespace

bool measures_machine(std::string_view name) {
  std::string word;
  for (const char c : name) word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view part :
       {"time", "elapsed", "second", "per_s", "/s", "throughput", "flops", "mfu", "memory"})
    if (word.find(part) != std::string::npos) return true;
  return false;
}

double log_difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double share = std::abs(b - a) / std::abs(a);
  if (!std::isfinite(share)) return std::numeric_limits<double>::infinity();
  // What differs at all is no zero, also as a float.
  return std::max(share, 1e-30);
}

Result<LogComparison> compare_logs(const RunLog& first, const RunLog& second, double noise) {
  using Made = Result<LogComparison>;
  LogComparison out;
  const std::vector<CommonRow> rows = common_rows(first, second);
  if (rows.empty())
    return Made::fail("The logs share no step: the first has steps " + std::to_string(first.steps.front()) + " to " +
                      std::to_string(first.steps.back()) + ", the second " + std::to_string(second.steps.front()) +
                      " to " + std::to_string(second.steps.back()) + ".");
  for (const CommonRow& row : rows) out.steps.push_back(first.steps[row.first]);
  out.only_first = static_cast<std::int64_t>(first.steps.size() - rows.size());
  out.only_second = static_cast<std::int64_t>(second.steps.size() - rows.size());
  for (const LogColumn& a : first.columns) {
    const auto b = std::find_if(second.columns.begin(), second.columns.end(),
                                [&](const LogColumn& other) { return other.name == a.name; });
    if (b == second.columns.end()) continue;
    if (measures_machine(a.name)) {
      out.left_out.push_back(a.name);
      continue;
    }
    out.names.push_back(a.name);
    compare_column(a, *b, rows, out);
  }
  if (out.names.empty())
    return Made::fail("The logs share no quantity: the first has \"" + first.columns.front().name +
                      "\", the second \"" + second.columns.front().name + "\". Give both the same names.");
  find_places(noise, out);
  return Made::ok(std::move(out));
}

}  // namespace models::debugging
