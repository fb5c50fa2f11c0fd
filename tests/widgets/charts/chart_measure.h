#pragma once
#include <string_view>

#include "widgets/base/theme.h"

/// Seven pixels a letter in any size: layouts can be checked by hand.
inline float seven_px(std::string_view s, widgets::Type) { return 7.0f * static_cast<float>(s.size()); }

/// Layouts read spacing from the theme; no ImGui context is needed for that.
struct PlainTheme {
  PlainTheme() { widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {})); }
};
