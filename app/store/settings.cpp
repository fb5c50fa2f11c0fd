#include "app/store/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/store/read.h"

namespace app::store {
namespace {

using nlohmann::json;
constexpr int settings_version = 1;
constexpr const char* rail_names[] = {"by_width", "folded", "open"};  // in the order of Settings::Rail

models::Status take(const json& content, Settings& settings) {
  std::string fault, theme, rail;
  Reader reader(content, "", fault);
  reader.text("theme", theme);
  settings.light = theme.empty() ? settings.light : theme == "light";
  reader.number("scale", settings.scale);
  reader.flag("keep_my_scenario", settings.keep_my_scenario);
  reader.integer("window_width", settings.window_width);
  reader.integer("window_height", settings.window_height);
  reader.integer("window_x", settings.window_x);
  reader.integer("window_y", settings.window_y);
  reader.flag("maximized", settings.maximized);
  reader.number("inspector_width", settings.inspector_width);
  reader.number("drawer_height", settings.drawer_height);
  reader.flag("drawer_open", settings.drawer_open);
  reader.flag("drawer_chosen", settings.drawer_chosen);
  reader.text("rail", rail);
  for (int i = 0; i < 3; ++i)
    if (rail == rail_names[i]) settings.rail = static_cast<Settings::Rail>(i);
  reader.text("last_lab", settings.last_lab);

  settings.scale = settings.scale <= 0 ? 0 : std::clamp(settings.scale, 0.5, 4.0);
  settings.window_width = std::clamp<std::int64_t>(settings.window_width, 640, 16384);
  settings.window_height = std::clamp<std::int64_t>(settings.window_height, 480, 16384);
  settings.window_x = std::clamp<std::int64_t>(settings.window_x, -32768, 32768);
  settings.window_y = std::clamp<std::int64_t>(settings.window_y, -32768, 32768);
  settings.inspector_width = std::clamp(settings.inspector_width, 200.0, 1200.0);
  settings.drawer_height = std::clamp(settings.drawer_height, 80.0, 1200.0);
  return {std::move(fault)};
}

}  // namespace

LoadReport load(const std::filesystem::path& path, Settings& settings) {
  return load_json(path, settings_version, [&](const json& content) { return take(content, settings); });
}

SaveReport save(const std::filesystem::path& path, const Settings& settings) {
  return save_instead<Settings>(path, settings_version, take, [&](json& content) {
    content = {{"theme", settings.light ? "light" : "dark"},
               {"scale", settings.scale},
               {"keep_my_scenario", settings.keep_my_scenario},
               {"window_width", settings.window_width},
               {"window_height", settings.window_height},
               {"maximized", settings.maximized},
               {"inspector_width", settings.inspector_width},
               {"drawer_height", settings.drawer_height},
               {"drawer_open", settings.drawer_open},
               {"drawer_chosen", settings.drawer_chosen},
               {"last_lab", settings.last_lab},
               {"window_x", settings.window_x},
               {"window_y", settings.window_y},
               {"rail", rail_names[static_cast<int>(settings.rail)]}};
  });
}

}  // namespace app::store
