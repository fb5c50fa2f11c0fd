#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/check_rows.h"
#include "app/content/load_published.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

using chapters::Published;

/// "-31.2 %"; "-" where there is none.
std::string percent_text(double share, bool sign = false) {
  if (!std::isfinite(share)) return "-";
  char text[48];
  std::snprintf(text, sizeof text, sign ? "%+.1f %%" : "%.1f %%", 100 * share);
  return text;
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// The row's line and its object; true when the model could be computed.
bool check_row(const Published& row, CheckedRows& rows, CheckedPublished& checked) {
  const auto found = check_published(row);
  if (!found) {
    rows.say(false, found.error);
    return false;
  }
  checked = *found;
  const bool good = checked.fault.empty();
  const std::string share =
      std::isfinite(checked.share) ? ", " + percent_text(checked.share) + " of the bound reached" : "";
  rows.say(good, good ? row.id + "  measured " + std::string(widgets::format(row.measured, row.unit, 5)) + ", model " +
                            std::string(widgets::format(checked.model, row.unit, 5)) + ": " +
                            percent_text(checked.residual, true) + share
                      : checked.fault);
  rows.document["published"].push_back({{"id", row.id},
                                        {"lab", row.lab},
                                        {"name", row.name},
                                        {"output", row.output},
                                        {"unit", row.unit},
                                        {"model_is", chapters::model_role_id(row.role)},
                                        {"measured", row.measured},
                                        {"model", checked.model},
                                        {"residual", checked.residual},
                                        {"share_of_bound", number_or_null(checked.share)},
                                        {"tolerance", number_or_null(row.tolerance)},
                                        {"source", row.source},
                                        {"date", row.date},
                                        {"as_recorded", good}});
  return true;
}

void add_residuals(std::string_view lab, const ResidualSummary& s, CheckedRows& rows) {
  char line[256];
  std::snprintf(line, sizeof line, "%-30.*s %4zu %9s %9s %9s  %-16s %s\n", static_cast<int>(lab.size()), lab.data(),
                s.rows, percent_text(s.mean, true).c_str(), percent_text(s.mean_absolute).c_str(),
                percent_text(s.worst, true).c_str(),
                s.bounds > 0 ? (percent_text(s.least_share) + " to " + percent_text(s.most_share)).c_str() : "-",
                s.worst_id.c_str());
  rows.lines += line;
  rows.document["residuals"].push_back({{"lab", lab},
                                        {"rows", s.rows},
                                        {"bounds", s.bounds},
                                        {"mean", s.mean},
                                        {"mean_absolute", s.mean_absolute},
                                        {"worst", s.worst},
                                        {"worst_row", s.worst_id},
                                        {"least_share_of_bound", number_or_null(s.least_share)},
                                        {"mean_share_of_bound", number_or_null(s.mean_share)},
                                        {"most_share_of_bound", number_or_null(s.most_share)}});
}

}  // namespace

void check_measurements(std::string_view lab, CheckedRows& rows) {
  std::vector<std::pair<std::string_view, ResidualSummary>> summaries;
  for (const Published& row : chapters::catalog().published)  // of a lab that is not there
    if (lab.empty() && !chapters::has_lab(row.lab)) {
      CheckedPublished none;
      check_row(row, rows, none);
    }
  for (const auto& entry : chapters::all_labs()) {
    if (!lab.empty() && entry.id != lab) continue;
    std::vector<const Published*> computed;
    std::vector<CheckedPublished> checked;
    for (const Published& row : chapters::catalog().published_of(entry.id)) {
      CheckedPublished one;
      if (!check_row(row, rows, one)) continue;
      computed.push_back(&row);
      checked.push_back(std::move(one));
    }
    if (!computed.empty()) summaries.emplace_back(entry.id, summarize_residuals(computed, checked));
  }
  if (summaries.empty()) return;
  rows.lines += "\nresiduals: (measured - model) / model of an estimate, the share reached less 1 of a bound\n";
  rows.lines += "lab                            rows      mean  mean abs.     worst  of the bound     the worst is\n";
  for (const auto& [id, summary] : summaries) add_residuals(id, summary, rows);
  rows.lines += "\n";
}

}  // namespace app::cli
