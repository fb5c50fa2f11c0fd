#include <cmath>
#include <fstream>
#include <sstream>

#include "app/cli/check_rows.h"
#include "chapters/mechanism/catalog.h"
#include "models/parallel/planner/planner_accuracy.h"
#include "widgets/number/number.h"

/// The planner beside published training runs.
namespace app::cli {
namespace {

std::string share_text(double share) { return std::isfinite(share) ? widgets::format_percent(share) : "none"; }

Json share_json(double share) { return std::isfinite(share) ? Json(share) : Json(nullptr); }

}  // namespace

void check_plans(const std::string& assets, CheckedRows& rows) {
  using namespace models::parallel;
  const std::string path = assets + "/measured/training-runs.json";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto runs = parse_planner_runs(text.str(), "measured/training-runs.json");
  if (!runs) {
    rows.say(false, runs.error);
    return;
  }
  const auto priced = price_runs(*runs, chapters::catalog().chips);
  const PlannerReport report = planner_report(*runs, priced);
  for (const PlannerAccuracy& r : report.accuracy) {
    rows.say(r.holds(), "planner, " + r.name + ": " + std::to_string(r.runs) + " step times, median error " +
                            share_text(r.median) + ", mean " + share_text(r.mean) + ", ninetieth percentile " +
                            share_text(r.ninetieth) + ", worst " + share_text(r.worst) + " (" + r.worst_run +
                            "); a constant MFU a chip: median " + share_text(r.constant_median) +
                            ", ninetieth percentile " + share_text(r.constant_ninetieth));
    rows.document["plans"].push_back({{"set", r.name},
                                      {"runs", r.runs},
                                      {"median", r.median},
                                      {"mean", r.mean},
                                      {"ninetieth_percentile", r.ninetieth},
                                      {"worst", r.worst},
                                      {"worst_run", r.worst_run},
                                      {"constant_mfu_median", share_json(r.constant_median)},
                                      {"constant_mfu_ninetieth_percentile", share_json(r.constant_ninetieth)},
                                      {"holds", r.holds()}});
  }
  for (const PlannerOrder& o : report.orders)
    rows.say(true, "planner, order of " + o.set + ": " + std::to_string(o.runs) + " runs, rank correlation " +
                       std::string(widgets::format(o.spearman, "", 2)));
  std::string misses;
  for (const std::string& miss : report.fits.misses) misses += (misses.empty() ? "; not " : ", ") + miss;
  rows.say(true, "planner, memory: " + std::to_string(report.fits.ran_fit) + " of " + std::to_string(report.fits.ran) +
                     " runs of grade A that ran fit, " + std::to_string(report.fits.out_of_memory_refused) + " of " +
                     std::to_string(report.fits.out_of_memory) + " out of memory do not" + misses);
}

}  // namespace app::cli
