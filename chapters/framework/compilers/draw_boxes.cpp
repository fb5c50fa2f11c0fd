#include <algorithm>
#include <string_view>

#include "chapters/framework/compilers/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"

namespace chapters::framework::compilers {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// No box is narrower than its words want, however few calls fell into it.
float least_box(float room, std::size_t boxes) {
  const auto& t = widgets::theme();
  return std::min(t.px(92), room / static_cast<float>(std::max<std::size_t>(1, boxes)));
}

void paint_box(const Painter& p, const GraphBox& box, ImVec2 from, ImVec2 to) {
  const auto& t = widgets::theme();
  const ImU32 hue = widgets::colour(box.tint, t);
  const float small = t.type(Type::small) + t.px(2), head = t.px(5), room = to.x - from.x - t.px(10);
  p.rect(from, to, t.card, t.px(4));
  p.rect(from, {to.x, from.y + head}, hue, t.px(2));
  p.frame(from, to, hue, t.px(1.5f), t.px(4));
  if (room < t.px(24)) return;
  const float x = from.x + t.px(5);
  float y = from.y + head + t.px(3);
  p.text_fit({x, y}, box.name, room, t.text, Type::small, Font::bold);
  y += small;
  if (y + small > to.y) return;
  p.text_fit({x, y}, box.calls, room, t.muted, Type::small);
  y += small;
  if (y + small > to.y) return;
  p.text_fit({x, y}, box.seconds, room, t.text, Type::small, Font::mono);
}

}  // namespace

void draw_boxes(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  constexpr std::string_view words =
      "graphs, as wide as the calls that pass their guards; under them what compiling took";
  const float line = t.type(Type::small) + t.px(5);
  const bool captioned = size.y >= 4 * line;
  if (captioned) p.text_fit(corner, words, size.x, t.muted, Type::small);
  const float top = corner.y + (captioned ? line : 0), low = corner.y + size.y - t.px(3);
  if (!widgets::veiled() && !picture.boxes.empty() && low > top + t.px(12)) {
    const float gap = t.px(4), n = static_cast<float>(picture.boxes.size());
    const float room = size.x - gap * (n - 1), least = least_box(room, picture.boxes.size());
    // What is left when every box has its least width is shared by the calls.
    const float shared = std::max(0.0f, room - least * n);
    float x = corner.x;
    for (const GraphBox& box : picture.boxes) {
      const float wide = least + shared * static_cast<float>(std::clamp(box.share, 0.0, 1.0));
      paint_box(p, box, {x, top}, {std::min(x + wide, corner.x + size.x), low});
      x += wide + gap;
    }
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::framework::compilers
