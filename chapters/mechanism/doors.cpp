#include "chapters/mechanism/doors.h"

#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"

namespace chapters {
namespace {

using widgets::Type;

/// Calls `place(index, offset, width)` for each word; returns the height of all rows.
template <class Place>
float flow_doors(std::span<const Door> doors, float width, const Place& place) {
  const auto& t = widgets::theme();
  const float gap = t.px(6), line = t.type(Type::small) + t.px(15);
  float x = 0, y = 0;
  for (std::size_t i = 0; i < doors.size(); ++i) {
    const float wide = widgets::text_size(doors[i].words, Type::small).x + t.px(14);
    if (x > 0 && x + wide > width) {
      x = 0;
      y += line;
    }
    place(i, ImVec2{x, y}, wide);
    x += wide + gap;
  }
  return y + line + t.px(2);
}

bool draw_door(const Door& door, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const float height = t.type(Type::small) + t.px(10);
  const bool open = door.why_shut.empty();
  ImGui::SetCursorScreenPos(at);
  const bool pressed = widgets::press_area(door.label, {width, height}) && open;
  if (!open && ImGui::IsItemHovered()) widgets::tip(door.words, {}, door.why_shut);
  const bool hot = open && (ImGui::IsItemHovered() || ImGui::IsItemFocused());
  const auto painter = widgets::Painter::window();
  painter.frame(at, {at.x + width, at.y + height}, hot ? t.accent : t.line, t.px(1), t.px(6));
  const ImU32 ink = hot ? t.accent : open ? t.text : t.muted;
  painter.text({at.x + width / 2, at.y + t.px(4)}, door.words, ink, Type::small, widgets::Font::sans,
               widgets::Align::center);
  return pressed;
}

}  // namespace

float doors_height(std::span<const Door> doors, float width) {
  return flow_doors(doors, width, [](std::size_t, ImVec2, float) {});
}

int draw_doors(std::span<const Door> doors, ImVec2 at, float width) {
  int pressed = -1;
  flow_doors(doors, width, [&](std::size_t i, ImVec2 offset, float wide) {
    if (draw_door(doors[i], {at.x + offset.x, at.y + offset.y}, wide)) pressed = static_cast<int>(i);
  });
  return pressed;
}

}  // namespace chapters
