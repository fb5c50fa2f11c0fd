#include <algorithm>

#include "chapters/profiling/utilization/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::profiling::utilization {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Type;

void paint_fill(const Painter& p, const Theme& t, Rect r, widgets::Tint tint, PartFill fill) {
  const ImU32 colour = widgets::colour(tint, t);
  switch (fill) {
    case PartFill::solid:
      p.rect(r.min, r.max, colour);
      return;
    case PartFill::pale:
      p.rect(r.min, r.max, widgets::with_alpha(colour, 0.45f));
      widgets::hatch(p, r, colour, t.px(7));
      return;
    case PartFill::hatched:
      p.rect(r.min, r.max, t.card);
      widgets::hatch(p, r, widgets::with_alpha(t.muted, 0.5f), t.px(9));
      return;
  }
}

void paint_name(const Painter& p, const Theme& t, const SecondPart& part, const PlacedPart& placed) {
  const float line = t.type(Type::small);
  const Rect& r = placed.rect;
  const float room = 2 * std::min(placed.name_y - r.min.y, r.max.y - placed.name_y);
  const bool two = room >= 2.4f * line + t.px(6);
  const ImVec2 middle{(r.min.x + r.max.x) / 2, placed.name_y};
  const float top = middle.y - (two ? line + t.px(1) : line / 2);
  // On hatching the letters need a ground of their own.
  const bool solid = part.fill == PartFill::solid;
  const ImU32 ink = solid ? widgets::text_on(widgets::colour(part.tint, t), t) : t.text;
  const auto words = [&](std::string_view s, float y, Font font) {
    const ImVec2 size = widgets::text_size(s, Type::small, font);
    if (!solid)
      p.rect({middle.x - size.x / 2 - t.px(4), y - t.px(1)}, {middle.x + size.x / 2 + t.px(4), y + line + t.px(3)},
             t.card, t.px(3));
    p.text({middle.x, y}, s, ink, Type::small, font, Align::center);
  };
  words(part.name, top, Font::sans);
  if (two) words(part.value, top + line + t.px(4), Font::mono);
}

/// A line with ends from the square's left edge to `x`, and words in its middle.
void paint_dimension(const Painter& p, const Theme& t, float x0, float x1, float y, std::string_view words,
                     float most) {
  const float tick = t.px(4);
  p.line({x0, y}, {x1, y}, t.muted, t.px(1));
  p.line({x0, y - tick}, {x0, y + tick}, t.muted, t.px(1));
  p.line({x1, y - tick}, {x1, y + tick}, t.muted, t.px(1));
  widgets::fit_text(p, {x0 + t.px(7), y + t.px(4)}, words, most - x0 - t.px(7), t.text, Type::small);
}

void paint_ledger(const Painter& p, const Theme& t, const Picture& picture, const SecondLayout& l) {
  const float line = t.type(Type::small), swatch = t.px(10);
  float y = l.ledger.min.y;
  for (const LedgerLine& row : picture.ledger) {
    if (l.totals_only && !row.total) continue;
    const float top = y + (l.line_px - line) / 2;
    const ImU32 ink = row.reported ? t.accent : row.total ? t.text : t.muted;
    const Font font = row.total ? Font::bold : Font::sans;
    float x = l.ledger.min.x;
    if (!row.total) {
      const Rect mark{{x, top + (line - swatch) / 2 + t.px(1)}, {x + swatch, top + (line + swatch) / 2 + t.px(1)}};
      paint_fill(p, t, mark, row.tint, row.fill);
      p.frame(mark.min, mark.max, t.line, t.px(1));
      x += swatch + t.px(6);
    } else if (y > l.ledger.min.y) {
      p.line({l.ledger.min.x, y}, {l.ledger.max.x, y}, t.line, t.px(1));
    }
    const float value = widgets::text_size(row.value, Type::small, font).x;
    widgets::fit_text(p, {x, top}, row.words, l.ledger.max.x - value - t.px(8) - x, ink, Type::small, font);
    p.text({l.ledger.max.x, top}, row.value, row.total ? ink : t.text, Type::small, font, Align::right);
    y += l.line_px;
  }
}

/// The four meters as bars on one scale; what exceeds the whole is cut off with an arrow.
void paint_meters(const Painter& p, const Theme& t, const Picture& picture, const SecondLayout& l) {
  if (l.meters_top < 0) return;
  const float line = t.type(Type::small), names = widgets::text_size("busy", Type::small, Font::bold).x + t.px(8);
  const float left = l.ledger.min.x + names, values = widgets::text_size("0.0000 %", Type::small).x + t.px(8);
  const float right = l.ledger.max.x - values;
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  float y = l.meters_top;
  for (const Meter& m : picture.meters) {
    const float top = y + t.px(2), bottom = y + line + t.px(4);
    p.text({l.ledger.min.x, y + t.px(2)}, m.name, t.text, Type::small, Font::bold);
    p.rect({left, top}, {right, bottom}, t.card, t.px(2));
    p.frame({left, top}, {right, bottom}, t.line, t.px(1), t.px(2));
    const float end = left + (right - left) * static_cast<float>(std::min(1.0, m.share));
    if (end > left) p.rect({left, top}, {end, bottom}, widgets::colour(m.tint, t), t.px(2));
    if (m.share > 1) {
      const float middle = (top + bottom) / 2, half = (bottom - top) / 2;
      const ImVec2 arrow[] = {{right - half, top}, {right + t.px(2), middle}, {right - half, bottom}};
      p.polygon(arrow, t.text);
    }
    p.text({l.ledger.max.x, y + t.px(2)}, m.value, t.text, Type::small, Font::sans, Align::right);
    if (guess && guess->output == m.output) {
      const float x = left + (right - left) * static_cast<float>(std::clamp(0.01 * guess->value, 0.0, 1.0));
      p.line({x, top - t.px(3)}, {x, bottom + t.px(3)}, t.accent, t.px(2.5f));
      const widgets::Line words =
          widgets::guess_words(widgets::format(guess->value, guess->unit).view(), guess->value > 100);
      const float wide = widgets::text_size(words.view(), Type::small).x;
      widgets::paint_guess_words(p, {x + t.px(8) + wide <= right ? x + t.px(8) : x - t.px(8) - wide, y + t.px(2)},
                                 words.view());
    }
    y += 1.5f * l.line_px;
  }
}

/// The reported utilization as a dashed frame over the square, its words where they cover no other.
void paint_reported(const Painter& p, const Theme& t, const Picture& picture, const SecondLayout& l) {
  const Rect& s = l.square;
  const float line = t.type(Type::small);
  if (picture.reported > 0) {
    const ImVec2 corners[] = {
        {s.min.x, s.max.y}, {s.min.x, l.reported_y}, {l.products_x, l.reported_y}, {l.products_x, s.max.y}};
    p.dashed_polyline(corners, t.accent, t.px(2.5f), t.px(6));
    if (!picture.reported_words.empty()) {
      const ImVec2 wide = widgets::text_size(picture.reported_words, Type::small, Font::bold);
      const float y = l.reported_y - (l.reported_y - s.min.y > line + t.px(10) ? line + t.px(8) : -t.px(6));
      const ImVec2 at{s.min.x + t.px(10), y};
      const Rect tag{{at.x - t.px(4), at.y - t.px(1)}, {at.x + wide.x + t.px(4), at.y + line + t.px(3)}};
      bool clear = s.height() > 9 * line && tag.max.x + t.px(2) < l.products_x;
      for (const PlacedPart& placed : l.parts) {
        const float half = widgets::text_size(picture.parts[placed.part].name, Type::small).x / 2 + t.px(8);
        const float middle = (placed.rect.min.x + placed.rect.max.x) / 2, tall = 1.5f * line;
        clear = clear && !(placed.named && middle - half < tag.max.x && placed.name_y - tall < tag.max.y &&
                           placed.name_y + tall > tag.min.y);
      }
      if (clear) {
        p.rect(tag.min, tag.max, t.card, t.px(3));
        p.text(at, picture.reported_words, t.accent, Type::small, Font::bold);
      }
    }
  }
}

/// Rate upwards, time to the right.
void paint_axes(const Painter& p, const Theme& t, Rect all, Rect s, bool of_bytes) {
  const float line = t.type(Type::small);
  p.text({s.min.x - t.px(6), s.min.y - line / 2}, "100 %", t.muted, Type::small, Font::sans, Align::right);
  if (s.height() > 4 * line)
    p.text({s.min.x - t.px(6), (s.min.y + s.max.y - line) / 2}, "50 %", t.muted, Type::small, Font::sans, Align::right);
  p.text({s.min.x - t.px(6), s.max.y - line}, "0", t.muted, Type::small, Font::sans, Align::right);
  const std::string_view long_axes = of_bytes ? "up: share of the memory's bandwidth; right: time"
                                              : "up: share of the peak rate; right: time, by what runs",
                         short_axes = of_bytes ? "up: bandwidth; right: time" : "up: rate; right: time";
  const bool wide = widgets::text_size(long_axes, Type::small).x <= s.width();
  widgets::fit_text(p, {s.min.x, all.min.y}, wide ? long_axes : short_axes, s.width(), t.muted, Type::small);
}

void export_second(const Painter& p, const Picture& picture) {
  if (!p.record()) return;
  widgets::DataTable table{"second", {"part", "from_time", "to_time", "from_rate", "to_rate"}, {}};
  for (const SecondPart& s : picture.parts)
    table.rows.push_back(
        {s.name, widgets::exact(s.x0), widgets::exact(s.x1), widgets::exact(s.y0), widgets::exact(s.y1)});
  p.record()->tables.push_back(std::move(table));
}

}  // namespace

void draw_second(const Picture& picture, View& view, ImVec2 size) {
  const Theme& t = widgets::theme();
  const Rect all = widgets::canvas("second", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  if (picture.version == 0) return;
  if (widgets::veiled()) {  // the empty second is given: how much of it is what is the question
    const widgets::GivenMarks given;
    layout_second({}, {}, 1, 1, -1, 0, all, widgets::measure_text, t.px(1), t.type(Type::small), view.second);
    p.rect(view.second.square.min, view.second.square.max, t.card);
    p.frame(view.second.square.min, view.second.square.max, t.text, t.px(1.5f));
    paint_axes(p, t, all, view.second.square, picture.of_bytes);
    return;
  }
  SecondLayout& l = view.second;
  layout_second(picture.parts, picture.ledger, picture.busy, picture.products, picture.reported, picture.meters.size(),
                all, widgets::measure_text, t.px(1), t.type(Type::small), l);
  const Rect& s = l.square;
  p.rect(s.min, s.max, t.card);
  for (const PlacedPart& placed : l.parts) {
    const SecondPart& part = picture.parts[placed.part];
    paint_fill(p, t, placed.rect, part.tint, part.fill);
    if (placed.rect.width() > t.px(6) && placed.rect.height() > t.px(6))
      p.frame(placed.rect.min, placed.rect.max, t.panel, t.px(1));
  }
  // The nested frames: wall, busy, products.
  p.frame(s.min, s.max, t.text, t.px(1.5f));
  p.line({l.busy_x, s.min.y}, {l.busy_x, s.max.y}, t.text, t.px(1.5f));
  p.line({l.products_x, s.min.y}, {l.products_x, s.max.y}, t.text, t.px(1.5f));
  for (const PlacedPart& placed : l.parts)
    if (placed.named) paint_name(p, t, picture.parts[placed.part], placed);
  paint_reported(p, t, picture, l);
  paint_axes(p, t, all, s, picture.of_bytes);
  if (l.has_dimensions) {
    if (!picture.products_words.empty())
      paint_dimension(p, t, s.min.x, l.products_x, l.dimension_y[0], picture.products_words, s.max.x);
    paint_dimension(p, t, s.min.x, l.busy_x, l.dimension_y[1], picture.busy_words, s.max.x);
  }
  paint_ledger(p, t, picture, l);
  paint_meters(p, t, picture, l);
  widgets::drew("second");
  if (!picture.ledger.empty()) widgets::drew("ledger");
  if (hovered) {
    const ImVec2 mouse = ImGui::GetMousePos();
    for (const PlacedPart& placed : l.parts)
      if (placed.rect.contains(mouse)) {
        const SecondPart& part = picture.parts[placed.part];
        widgets::tip(part.name, part.value, part.info);
      }
  }
  export_second(p, picture);
}

}  // namespace chapters::profiling::utilization
