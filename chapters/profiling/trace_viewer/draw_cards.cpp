#include <algorithm>

#include "chapters/profiling/trace_viewer/draw.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"

namespace chapters::profiling::trace_viewer {
namespace {

using widgets::Font, widgets::Painter, widgets::Type;

/// The edge in the colour of what is to blame.
void paint_edge(const Painter& painter, const Card& card, widgets::Rect edge) {
  const auto& t = widgets::theme();
  painter.rect(edge.min, edge.max, widgets::colour(card.tint, t), t.px(2));
  if (card.hatched) widgets::hatch(painter, edge, t.text, t.px(5));
}

void paint_card(const Painter& painter, const Card& card, ImVec2 at, ImVec2 size, bool lit) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), left = at.x + t.px(16), room = size.x - t.px(24);
  painter.rect(at, {at.x + size.x, at.y + size.y}, t.card, t.px(6));
  if (lit) painter.frame(at, {at.x + size.x, at.y + size.y}, t.accent, 1, t.px(6));
  paint_edge(painter, card, {at, {at.x + t.px(6), at.y + size.y}});
  // A bold title is not cut: one without room gives way to its quieter form.
  const bool fits = widgets::text_size(card.title, Type::small, Font::bold).x <= room;
  painter.text_fit({left, at.y + t.px(6)}, card.title, room, t.text, Type::small, fits ? Font::bold : Font::sans);
  float x = left;
  const float y = at.y + t.px(11) + small;
  if (!card.figure.empty()) x += painter.text({x, y}, card.figure, t.text, Type::small, Font::mono) + t.px(8);
  if (!card.share.empty()) {
    painter.text_fit({x, y}, card.share, left + room - x, t.muted, Type::small);
  }
}

}  // namespace

void draw_cards(const Picture& pic, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float gap = t.px(10);
  const auto room = static_cast<std::size_t>(std::max(1.0f, std::floor((size.x + gap) / (t.px(200) + gap))));
  const std::size_t n = std::min({pic.cards.size(), room, std::size_t{4}});
  const float width = std::min((size.x - gap * static_cast<float>(n - 1)) / static_cast<float>(n), t.px(360));
  const Painter painter = Painter::window();
  for (std::size_t i = 0; i < n; ++i) {
    const Card& card = pic.cards[i];
    const ImVec2 at{start.x + static_cast<float>(i) * (width + gap), start.y};
    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(static_cast<int>(i));
    const bool pressed = widgets::press_area("finding", {width, size.y});
    const bool can_show = card.place.end_s > card.place.start_s;
    paint_card(painter, card, at, {width, size.y}, ImGui::IsItemHovered() && can_show);
    if (pressed && can_show) show(view, card.place);
    if (ImGui::IsItemHovered()) widgets::tip(card.title, card.sentence, can_show ? "press to see where" : "");
    ImGui::PopID();
  }
}

void draw_findings(const Outputs& out, const Picture& pic, float width) {
  const auto& t = widgets::theme();
  const Painter painter = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float seen = std::min(width, ImGui::GetContentRegionAvail().x);  // left of a bar that scrolls
  const float left = at.x + t.px(18), room = std::min(seen - t.px(24), t.px(760)), small = t.type(Type::small);
  float y = at.y + t.px(2);
  const ImVec2 low = ImGui::GetWindowPos(), high{low.x + ImGui::GetWindowWidth(), low.y + ImGui::GetWindowHeight()};
  painter.clip(low, high);  // also in a file, where the window does not cut what is scrolled away
  for (const Card& card : pic.cards) {
    const float top = y;
    y += widgets::wrapped_text(painter, {left, y}, card.title, room, t.text, {.font = Font::bold}) + t.px(2);
    y += widgets::wrapped_text(painter, {left, y}, card.sentence, room, t.text);
    paint_edge(painter, card, {{at.x, top}, {at.x + t.px(6), y}});
    y += t.px(12);
  }
  if (!out.losses.empty()) y += widgets::wrapped_text(painter, {left, y}, out.losses, room, t.warning) + t.px(8);
  painter.unclip();
  ImGui::Dummy({width, y - at.y + small});
}

}  // namespace chapters::profiling::trace_viewer
