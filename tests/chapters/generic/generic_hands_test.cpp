#include <imgui_internal.h>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/base/effort.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"
#include "tests/support/lab/shell_driver.h"

// Careless hands: whatever is clicked, dragged, scrolled or typed anywhere, inputs stay within what is described and
// outputs stay finite. The same seed does the same.

using namespace support;

namespace {

class Hands {
 public:
  Hands(ShellDriver& d, std::uint32_t seed) : d_(d), state_(seed * 2654435761u + 1) {}

  /// One thing that somebody might do; returns what it was.
  std::string act() {
    const ImVec2 at = spot();
    switch (below(9)) {
      case 0:
      case 1:
      case 2:
        d_.ui.click_at(at);
        return "click" + place(at);
      case 3:
      case 4: {
        const ImVec2 to = spot();
        d_.ui.drag_points(at, to);
        return "drag" + place(at) + place(to);
      }
      case 5:
        d_.ui.wheel_at(at, below(2) == 0 ? 3.0f : -3.0f);
        return "wheel" + place(at);
      case 6: {
        static constexpr ImGuiKey keys[] = {
            ImGuiKey_Tab,        ImGuiKey_Space,   ImGuiKey_Enter,     ImGuiKey_Escape,   ImGuiKey_LeftArrow,
            ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow, ImGuiKey_PageDown, ImGuiKey_Home};
        const ImGuiKey key = keys[below(std::size(keys))];
        d_.ui.key(key);
        return std::string("key ") + ImGui::GetKeyName(key);
      }
      case 7: {
        static constexpr ImGuiKey keys[] = {ImGuiKey_Z, ImGuiKey_Y, ImGuiKey_R, ImGuiKey_J, ImGuiKey_T};
        const ImGuiKey key = keys[below(std::size(keys))];
        d_.ui.key(key, ImGuiMod_Ctrl);
        return std::string("Ctrl+") + ImGui::GetKeyName(key);
      }
      default: {
        static constexpr const char* texts[] = {"7", "-1", "1e400", "nan", "12 GB", "[1,2]", "\xC3\xA9", "0"};
        const char* text = texts[below(std::size(texts))];
        d_.ui.type(text);
        return std::string("type ") + text;
      }
    }
  }

 private:
  std::uint32_t below(std::size_t n) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<std::uint32_t>((state_ >> 8) % n);
  }
  ImVec2 spot() { return {static_cast<float>(below(1280)), static_cast<float>(below(800))}; }
  static std::string place(ImVec2 p) {
    return " " + std::to_string(static_cast<int>(p.x)) + "," + std::to_string(static_cast<int>(p.y));
  }

  ShellDriver& d_;
  std::uint32_t state_;
};

}  // namespace

TEST_CASE("every lab: careless hands leave inputs in range and outputs finite") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      const Folder folder;
      ShellDriver d(bundled_content(), {folder / "data", folder / "config", folder / "state", {}});
      std::uint32_t seed = 0;
      for (const Budget budget{1, 3, 0.1}; budget.allows(seed); ++seed) {
        REQUIRE(d.workspace.open(entry.id));
        Hands hands(d, seed);
        std::string done;
        for (int i = 0; i < (sanitized() ? 30 : 60); ++i) {
          done += hands.act() + "; ";
          const auto& lab = d.workspace.lab();
          INFO("seed " << seed << ": " << done);
          const auto check = chapters::make_lab_by_id(lab.info().id);
          REQUIRE(app::apply_inputs(*check, app::fields_to_json(lab.inputs())).error == "");
          if (lab.reason().empty()) REQUIRE(first_bad_value(lab.outputs()) == "");
        }
        d.ui.key(ImGuiKey_Escape);
      }
    }
}
