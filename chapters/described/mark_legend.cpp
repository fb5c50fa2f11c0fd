#include "chapters/described/mark_legend.h"

#include <algorithm>
#include <array>

#include "widgets/base/marks.h"
#include "widgets/base/painter.h"

namespace chapters {
namespace {

using widgets::Painter, widgets::Rect, widgets::Theme;

void paint_shade_mark(const Painter& p, Rect box) {
  const Theme& t = widgets::theme();
  const float third = box.width() / 3;
  for (std::size_t i = 0; i < 3; ++i) {
    const float x = box.min.x + third * static_cast<float>(i);
    p.rect({x, box.min.y}, {x + third, box.max.y}, t.ramp_at(2 * i, 5));
  }
}

void paint_tower_mark(const Painter& p, Rect box) {
  const Theme& t = widgets::theme();
  const float half = box.height() / 2;
  for (std::size_t i = 0; i < 2; ++i) {
    const float y = box.min.y + half * static_cast<float>(i);
    p.rect({box.min.x, y}, {box.max.x, y + half - 1}, t.ramp_at(2 * i + 1, 5));
    p.frame({box.min.x, y}, {box.max.x, y + half - 1}, t.text);
  }
}

void paint_legend_mark(const Painter& p, Rect box, LegendMark mark) {
  const Theme& t = widgets::theme();
  const ImVec2 corners[] = {box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}, box.min};
  const float middle = (box.min.y + box.max.y) / 2;
  switch (mark) {
    case LegendMark::shades:
      return paint_shade_mark(p, box);
    case LegendMark::wanted:
      p.rect(box.min, box.max, t.accent);
      return p.frame(box.min, box.max, t.text);
    case LegendMark::padding:
      p.rect(box.min, box.max, t.background);
      p.frame(box.min, box.max, t.line);
      return p.line({box.min.x, box.max.y}, {box.max.x, box.min.y}, t.muted);
    case LegendMark::row:
      p.rect({box.min.x, middle - t.px(3)}, {box.max.x, middle + t.px(3)}, t.card);
      return p.rect({box.min.x + t.px(2), middle - t.px(3)}, {box.min.x + t.px(7), middle + t.px(3)}, t.accent);
    case LegendMark::button:
      p.rect(box.min, box.max, widgets::with_alpha(t.accent, 0.28f), t.px(3));
      return p.frame(box.min, box.max, t.accent, t.px(1.2f), t.px(3));
    case LegendMark::thread: {
      const ImVec2 zigzag[] = {
          {box.min.x, box.max.y - t.px(2)}, {box.min.x, middle}, {box.max.x, middle}, {box.max.x, box.min.y}};
      p.polyline(zigzag, widgets::with_alpha(t.text, 0.7f), t.px(1.2f));
      return p.circle(zigzag[0], t.px(2.5f), t.text);
    }
    case LegendMark::held:
      return p.dashed_polyline(corners, t.text, t.px(1.5f), t.px(3));
    case LegendMark::tower:
      return paint_tower_mark(p, box);
    case LegendMark::number:
      p.rect(box.min, box.max, t.card);
      p.text({(box.min.x + box.max.x) / 2, middle - t.type(widgets::Type::small) / 2 - t.px(1)}, "7", t.text,
             widgets::Type::small, widgets::Font::mono, widgets::Align::center);
      return;
    case LegendMark::copies:
      p.rect(box.min, box.max, t.card);
      p.line({(box.min.x + box.max.x) / 2, box.min.y}, {(box.min.x + box.max.x) / 2, box.max.y}, t.text, t.px(2));
      return p.line({box.min.x, middle}, {box.max.x, middle}, t.text, t.px(2));
  }
}

}  // namespace

float draw_mark_legend(std::span<const MarkEntry> entries, ImVec2 at, float width,
                       std::vector<widgets::PlacedLegend>& placed) {
  constexpr std::size_t most = 10;
  std::array<widgets::LegendEntry, most> names;
  const std::size_t n = std::min(most, entries.size());
  for (std::size_t i = 0; i < n; ++i) names[i] = {.label = entries[i].label};
  const float row = widgets::legend_row_px();
  const float height = widgets::layout_legend({names.data(), n}, width, row, widgets::measure_text, placed);
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(widgets::Type::small), side = 0.85f * small;
  for (const widgets::PlacedLegend& l : placed) {
    const ImVec2 from{at.x + l.at.x, at.y + l.at.y + (row - side) / 2};
    paint_legend_mark(p, {from, {from.x + side, from.y + side}}, entries[l.entry].mark);
    p.text_fit({from.x + side + t.px(5), from.y + (side - small) / 2 - t.px(1)}, entries[l.entry].label,
               at.x + width - from.x - side - t.px(5), t.muted, widgets::Type::small);
  }
  return height;
}

}  // namespace chapters
