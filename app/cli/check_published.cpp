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
bool check_row(const Published& row, const models::Result<CheckedPublished>& found, CheckedRows& rows) {
  if (!found) {
    rows.say(false, found.error);
    return false;
  }
  const CheckedPublished& checked = *found;
  const bool good = checked.fault.empty();
  const std::string share =
      std::isfinite(checked.share) ? ", " + percent_text(checked.share) + " of the bound reached" : "";
  const std::string residual =
      row.role == chapters::ModelRole::beside ? "another quantity, no residual" : percent_text(checked.residual, true);
  rows.say(good, good ? row.id + "  measured " + std::string(widgets::format(row.measured, row.unit, 5)) + ", model " +
                            std::string(widgets::format(checked.model, row.unit, 5)) + ": " + residual + share
                      : checked.fault);
  rows.document["published"].push_back({{"id", row.id},
                                        {"lab", row.lab},
                                        {"name", row.name},
                                        {"output", row.output},
                                        {"unit", row.unit},
                                        {"model_is", chapters::model_role_id(row.role)},
                                        {"measured", row.measured},
                                        {"model", checked.model},
                                        {"residual", number_or_null(checked.residual)},
                                        {"share_of_bound", number_or_null(checked.share)},
                                        {"tolerance", number_or_null(row.tolerance)},
                                        {"source", row.source},
                                        {"date", row.date},
                                        {"as_recorded", good}});
  return true;
}

void add_residuals(std::string_view lab, const ResidualSummary& s, CheckedRows& rows) {
  const std::string_view role = chapters::model_role_id(s.role);
  const bool beside = s.role == chapters::ModelRole::beside;
  char line[320];
  std::snprintf(line, sizeof line, "%-26.*s %-24s %-8.*s %4zu %9s %9s %9s  %-16s %s\n", static_cast<int>(lab.size()),
                lab.data(), s.output.c_str(), static_cast<int>(role.size()), role.data(), s.rows,
                percent_text(s.mean, true).c_str(), percent_text(s.mean_absolute).c_str(),
                beside ? "-" : percent_text(s.worst, true).c_str(),
                is_bound(s.role) ? (percent_text(s.least_share) + " to " + percent_text(s.most_share)).c_str() : "-",
                beside ? "-" : s.worst_id.c_str());
  rows.lines += line;
  rows.document["residuals"].push_back({{"lab", lab},
                                        {"output", s.output},
                                        {"model_is", role},
                                        {"rows", s.rows},
                                        {"mean", number_or_null(s.mean)},
                                        {"mean_absolute", number_or_null(s.mean_absolute)},
                                        {"worst", beside ? Json(nullptr) : Json(s.worst)},
                                        {"worst_row", beside ? Json(nullptr) : Json(s.worst_id)},
                                        {"least_share_of_bound", number_or_null(s.least_share)},
                                        {"mean_share_of_bound", number_or_null(s.mean_share)},
                                        {"most_share_of_bound", number_or_null(s.most_share)}});
}

}  // namespace

void check_measurements(std::string_view lab, CheckedRows& rows) {
  std::vector<std::pair<std::string_view, ResidualSummary>> summaries;
  for (const Published& row : chapters::catalog().published)  // of a lab that is not there
    if (lab.empty() && !chapters::has_lab(row.lab)) check_row(row, check_published(row), rows);
  chapters::Progress nobody_waits;
  for (const auto& entry : chapters::all_labs()) {
    if (!lab.empty() && entry.id != lab) continue;
    std::vector<const Published*> computed;
    std::vector<CheckedPublished> checked;
    const auto table = published_table(entry.id, nobody_waits);
    for (const auto& [row, found] : table->rows) {
      if (!check_row(*row, found, rows)) continue;
      computed.push_back(row);
      checked.push_back(*found);
    }
    for (ResidualSummary& kind : summarize_residuals(computed, checked))
      summaries.emplace_back(entry.id, std::move(kind));
  }
  if (summaries.empty()) return;
  rows.lines += "\nresiduals: (measured - model) / model of an estimate, the share reached less 1 of a bound\n";
  rows.lines +=
      "lab                        output                   model is rows      mean mean abs.     worst  of the bound   "
      "  "
      "the worst is\n";
  for (const auto& [id, summary] : summaries) add_residuals(id, summary, rows);
  rows.lines += "\n";
}

}  // namespace app::cli
