#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/cli/cli.h"
#include "app/platform/json.h"

/// The parts of `ridgeline check`.
namespace app::cli {

/// What was checked, as lines for a person and as a document.
struct CheckedRows {
  int passed = 0, failed = 0;
  std::string lines;
  Json document = Json::object();  ///< lists "claims", "parameters", "published", "residuals", "plans", "errors"

  CheckedRows();
  /// One thing that was checked; what is not good is one of the errors too.
  void say(bool good, const std::string& line);
};

/// Every published measurement of the catalog, or of one lab, beside what its lab computes; then a table of the
/// residuals with a line for each quantity of a lab.
void check_measurements(std::string_view lab, CheckedRows& rows);

/// Published training runs beside the planner: errors of step times by set, order within experiments, memory.
void check_plans(const std::string& assets, CheckedRows& rows);

/// What could not be read of the data folders, and scenarios whose links do not open or whose figures do not compute.
void check_scenarios(CheckedRows& rows);

}  // namespace app::cli
