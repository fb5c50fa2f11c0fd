#include "widgets/base/press_area.h"

namespace widgets {

bool press_area(const char* label, ImVec2 size, ImGuiButtonFlags flags) {
  const auto side = [](float px) { return px >= 1 ? px : 1.0f; };  // not a number is less than nothing too
  return ImGui::InvisibleButton(label, {side(size.x), side(size.y)}, flags);
}

}  // namespace widgets
