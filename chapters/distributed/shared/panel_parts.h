#pragma once
#include <imgui.h>

#include <cstddef>

#include "widgets/base/theme.h"

/// One panel of several pictures, so that a lab has few tabs.
namespace chapters::distributed {

/// Draws the parts from the cursor in `size` px: beside each other where each gets `least` design pixels of width, else
/// one above the other. A part is called with the size that it has.
template <class... Parts>
void draw_parts(ImVec2 size, float least, const Parts&... parts) {
  constexpr auto count = static_cast<float>(sizeof...(Parts));
  const auto& t = widgets::theme();
  const float gap = t.px(18);
  const bool row = size.x >= count * t.px(least) + (count - 1) * gap;
  const ImVec2 each =
      row ? ImVec2{(size.x - (count - 1) * gap) / count, size.y} : ImVec2{size.x, (size.y - (count - 1) * gap) / count};
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  float place = 0;
  const auto draw_one = [&](const auto& part) {
    ImGui::SetCursorScreenPos(row ? ImVec2{corner.x + place * (each.x + gap), corner.y}
                                  : ImVec2{corner.x, corner.y + place * (each.y + gap)});
    part(each);
    place += 1;
  };
  (draw_one(parts), ...);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed
