#include <algorithm>
#include <cmath>

#include "chapters/interview/recall/draw_parts.h"
#include "widgets/base/heading.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"

/// The deck as a wall: a row a topic, a tile a card.
namespace chapters::interview::recall {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

struct WallPlace {
  float tile = 0, gap = 0, names = 0, counts = 0;
  std::size_t columns = 1;
};

std::size_t lines_of(const WallRow& row, std::size_t columns) { return (row.size + columns - 1) / columns; }

/// The largest tiles with which every row has room.
WallPlace place_wall(const Picture& picture, float width, float high) {
  const auto& t = theme();
  WallPlace w;
  for (const WallRow& row : picture.wall) {
    w.names = std::max(w.names, widgets::text_size(row.label, Type::small).x);
    w.counts = std::max(w.counts, widgets::text_size(row.count, Type::small).x);
  }
  w.names = std::min(w.names, 0.35f * width) + t.px(12);
  w.counts = width > t.px(420) ? w.counts + t.px(8) : 0;
  for (float tile = 18; tile >= 3; tile -= 0.5f) {
    w.tile = t.px(tile);
    w.gap = t.px(tile >= 9 ? 3 : tile >= 5 ? 2 : 1);
    const float room = width - w.names - w.counts;
    w.columns = std::max<std::size_t>(1, static_cast<std::size_t>((room + w.gap) / (w.tile + w.gap)));
    float needs = 0;
    for (const WallRow& row : picture.wall)
      needs += std::max(static_cast<float>(lines_of(row, w.columns)) * (w.tile + w.gap), t.type(Type::small)) + t.px(4);
    if (needs <= high) break;
  }
  return w;
}

void paint_tile(const Painter& p, ImVec2 at, float side, const CardState& card, bool open, bool hot) {
  const auto& t = theme();
  const ImVec2 end{at.x + side, at.y + side};
  const float round = std::min(t.px(3), side / 4);
  if (card.chance < 0) {
    p.rect(at, end, t.panel, round);
    p.frame(at, end, t.line, 1, round);
  } else {
    const double share = std::clamp((card.chance - 0.5) / 0.5, 0.0, 1.0);
    p.rect(at, end, t.card, round);
    p.rect(at, end, widgets::with_alpha(t.good, static_cast<float>(0.2 + 0.8 * share)), round);
    if (card.due) p.circle({at.x + side / 2, at.y + side / 2}, std::max(side * 0.18f, 1.0f), t.background);
  }
  if (open || hot) p.frame({at.x - 1, at.y - 1}, {end.x + 1, end.y + 1}, t.text, t.px(open ? 2 : 1), round);
}

void paint_legend_row(const Painter& p, const Picture& picture, ImVec2 at, float width) {
  const auto& t = theme();
  const float side = t.px(11);
  float x = at.x;
  const auto word = [&](std::string_view text) {
    const float wide = widgets::text_size(text, Type::small).x;
    if (x + wide > at.x + width) return;
    x += p.text({x, at.y}, text, t.muted, Type::small) + t.px(14);
  };
  const float y = at.y + t.px(3);
  paint_tile(p, {x, y}, side, {}, false, false);
  x += side + t.px(5);
  word("never answered");
  if (x + t.px(150) > at.x + width) return;
  x += p.text({x, at.y}, picture.legend_low, t.muted, Type::small) + t.px(4);
  for (int i = 0; i <= 5; ++i) {
    paint_tile(p, {x, y}, side, {0.5 + 0.1 * i, false}, false, false);
    x += side;
  }
  x += t.px(4);
  word(picture.legend_high);
  if (x + t.px(60) > at.x + width) return;
  paint_tile(p, {x, y}, side, {0.85, true}, false, false);
  x += side + t.px(5);
  word("due");
}

}  // namespace

void draw_wall(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  widgets::heading("The deck: what is left of each card", picture.wall_note, size.x, widgets::HeadingMore::below);
  float y = ImGui::GetCursorScreenPos().y + t.px(4);
  const float legend = t.type(Type::small) + t.px(8), bottom = corner.y + size.y - legend;
  const WallPlace w = place_wall(picture, size.x, bottom - y);
  const Painter p = Painter::window();
  const RecallCard* const first = picture.card - picture.run->open;
  for (const WallRow& row : picture.wall) {
    const std::size_t lines = lines_of(row, w.columns);
    const float high = std::max(static_cast<float>(lines) * (w.tile + w.gap), t.type(Type::small)) + t.px(4);
    if (y + high > bottom + t.px(4)) break;
    p.text_fit({corner.x, y - t.px(1)}, row.label, w.names - t.px(8), t.muted, Type::small);
    if (w.counts > 0)
      p.text({corner.x + size.x, y - t.px(1)}, row.count, t.muted, Type::small, Font::sans, Align::right);
    for (std::size_t k = 0; k < row.size; ++k) {
      const std::size_t i = row.first + k;
      const ImVec2 at{corner.x + w.names + static_cast<float>(k % w.columns) * (w.tile + w.gap),
                      y + static_cast<float>(k / w.columns) * (w.tile + w.gap)};
      ImGui::PushID(static_cast<int>(i));
      ImGui::SetCursorScreenPos(at);
      if (widgets::press_area("card", {w.tile, w.tile})) in.card = first[i].id;
      const bool hot = ImGui::IsItemHovered();
      const bool focused = ImGui::IsItemFocused();
      ImGui::PopID();
      paint_tile(p, at, w.tile, picture.run->cards[i], i == picture.run->open, hot || focused);
      if (hot) widgets::tip(first[i].question, picture.tips[i], row.label);
    }
    y += high;
  }
  paint_legend_row(p, picture, {corner.x, corner.y + size.y - t.type(Type::small) - t.px(2)}, size.x);
}

}  // namespace chapters::interview::recall
