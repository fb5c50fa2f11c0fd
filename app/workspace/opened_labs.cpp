#include "app/workspace/opened_labs.h"

#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"

namespace app {

std::vector<chapters::OpenedLab> opened_labs(const store::Progress& progress, double now_s) {
  std::vector<chapters::OpenedLab> out;
  for (const auto& [id, lab] : progress.labs)
    if (lab.visited) out.push_back({id, static_cast<double>(lab.opened_unix_s)});
  if (out.empty()) out.push_back({{}, now_s});
  return out;
}

void fill_opened(const chapters::Field& table, const store::Progress& progress, double now_s) {
  Json rows = Json::array();
  for (const chapters::OpenedLab& row : opened_labs(progress, now_s)) {
    if (rows.size() >= table.spec.max_items) break;
    rows.push_back({{"lab", row.lab}, {"time_s", row.time_s}});
  }
  (void)field_from_json(table, rows);  // rows of our own, as the table describes them
}

}  // namespace app
