#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "app/store/json_file.h"

namespace app::store {

/// How this person likes the window. Sizes are design pixels, before the interface scale.
struct Settings {
  enum class Rail : std::uint8_t { by_width, folded, open };  ///< by_width: folded where the window is narrow
  bool light = false;                                         ///< the light theme
  double scale = 0;                                           ///< interface scale, 0.5 to 4; 0: as the monitor says
  bool keep_my_scenario = true;                               ///< shared choices follow from lab to lab
  std::int64_t window_width = 1600, window_height = 1000;     ///< 640x480 to 16384x16384
  std::int64_t window_x = -1, window_y = -1;  ///< screen coordinates, to +-32768; both -1: the window manager chooses
  bool maximized = false;
  double inspector_width = 340;  ///< 200 to 1200
  double drawer_height = 220;    ///< 80 to 1200
  bool drawer_open = true;
  bool drawer_chosen = false;  ///< the person folded or opened it; until then it is open where the window is high
  Rail rail = Rail::by_width;
  std::string last_lab;  ///< where the window opens; empty: at the first

  bool operator==(const Settings&) const = default;
};

/// A number out of its range is brought to the nearest end; a member of a wrong type keeps its default and sets the
/// file aside.
LoadReport load(const std::filesystem::path& path, Settings& settings);
/// The last instance to save wins.
SaveReport save(const std::filesystem::path& path, const Settings& settings);

}  // namespace app::store
