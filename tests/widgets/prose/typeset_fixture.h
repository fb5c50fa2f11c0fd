#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/support/ui/ui_driver.h"
#include "widgets/base/theme.h"
#include "widgets/prose/formula.h"

namespace typeset {

/// A context with Dear ImGui's own font as all three faces, so that layout can be asked for outside a frame.
inline void set_up() {
  ImFont* font = ImGui::GetIO().Fonts->AddFontDefault();
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {font, font, font}));
  widgets::apply_to_imgui(widgets::theme());
}

/// `draw` in one window that fills the display.
inline std::function<void()> in_window(std::function<void()> draw) {
  return [draw = std::move(draw)] {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("page", nullptr, ImGuiWindowFlags_NoDecoration);
    draw();
    ImGui::End();
  };
}

/// Live values from a map.
struct Values {
  std::map<std::string, std::string, std::less<>> texts;
  widgets::ValueSource source() {
    return {this,
            [](const void* context, std::string_view key, widgets::NumberText&) -> std::string_view {
              const auto& known = static_cast<const Values*>(context)->texts;
              const auto found = known.find(key);
              return found == known.end() ? std::string_view{} : std::string_view(found->second);
            },
            nullptr};
  }
};

/// A frame in which text can be measured.
struct Page {
  support::UiDriver ui{in_window([] {}), {400, 300}, set_up};
};

}  // namespace typeset
