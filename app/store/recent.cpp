#include "app/store/recent.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/store/read.h"

namespace app::store {
namespace {

using nlohmann::json;
constexpr int recent_version = 1;

}  // namespace

void Recent::add(RecentScenario scenario) {
  const auto same = [&](const RecentScenario& r) { return r.lab == scenario.lab && r.scenario == scenario.scenario; };
  if (const auto old = std::find_if(list_.begin(), list_.end(), same); old != list_.end()) {
    if (old->time_unix_s > scenario.time_unix_s) return;
    list_.erase(old);
  }
  const auto at = std::find_if(list_.begin(), list_.end(),
                               [&](const RecentScenario& r) { return r.time_unix_s <= scenario.time_unix_s; });
  list_.insert(at, std::move(scenario));
  if (list_.size() > most) list_.resize(most);
}

models::Status Recent::take(const json& content) {
  std::string fault;
  Reader top(content, "", fault);
  // From the oldest on, so that entries of the same second keep their order.
  const json& items = top.array("scenarios");
  for (std::size_t i = items.size(); i-- > 0;) {
    RecentScenario scenario;
    const bool whole = take_item(items[i], "scenarios", fault, [&](Reader& reader) {
      reader.text("lab", scenario.lab);
      reader.text("title", scenario.title);
      reader.text("scenario", scenario.scenario);
      reader.integer("time_unix_s", scenario.time_unix_s);
    });
    if (whole) add(std::move(scenario));
  }
  return {std::move(fault)};
}

LoadReport Recent::load(const std::filesystem::path& path) {
  return load_json(path, recent_version, [&](const json& content) { return take(content); });
}

SaveReport Recent::save(const std::filesystem::path& path) {
  return save_merged(
      path, recent_version, [&](const json& content) { return take(content); },
      [&](json& content) {
        json items = json::array();
        for (const RecentScenario& r : list_)
          items.push_back(
              {{"lab", r.lab}, {"title", r.title}, {"scenario", r.scenario}, {"time_unix_s", r.time_unix_s}});
        content = {{"scenarios", std::move(items)}};
      });
}

}  // namespace app::store
