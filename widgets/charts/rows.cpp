#include "widgets/charts/rows.h"

#include <algorithm>
#include <cmath>

namespace widgets {

std::int64_t RowStack::row_at(float y) const {
  if (!(slot > 0) || y < top || y >= bottom()) return -1;
  return std::min(static_cast<std::int64_t>((y - top) / slot), static_cast<std::int64_t>(shown) - 1);
}

RowStack stack_rows(std::size_t rows, float top, float bottom, float row_px, float least_px) {
  RowStack out{.top = top};
  const float height = bottom - top;
  if (rows == 0 || !(height > 0)) {
    out.left_out = rows;
    return out;
  }
  if (static_cast<float>(rows) * least_px <= height) {
    out.slot = std::floor(std::min(row_px, height / static_cast<float>(rows)));
    out.shown = rows;
    return out;
  }
  const auto places = static_cast<std::size_t>(height / least_px);
  out.slot = std::floor(least_px);
  out.shown = places > 1 ? places - 1 : places;
  out.left_out = rows - out.shown;
  return out;
}

Rect rows_canvas(const char* label, ImVec2 size, std::size_t rows, float row_px, float least_y) {
  const Theme& t = theme();
  const float needed =
      static_cast<float>(std::max<std::size_t>(rows, 1)) * t.px(row_px) + t.type(Type::small) * 3 + t.px(16);
  return canvas(label, {size.x, size.y > 0 ? size.y : needed}, {t.px(40), t.px(least_y)});
}

void paint_left_out(const Painter& painter, const RowStack& stack, float left, float right, float bottom) {
  const Theme& t = theme();
  if (stack.left_out == 0 || stack.bottom() + t.type(Type::small) > bottom + 1) return;
  Line text;
  if (stack.shown > 0) text.add("and ");
  text.add_integer(static_cast<std::int64_t>(stack.left_out)).add(stack.shown > 0 ? " more" : " rows");
  paint_whole(painter, {left, stack.bottom()}, text.view(), right - left, t.muted);
}

float label_gutter(float widest_px, float width_px, float share) {
  return widest_px > 0 ? std::floor(std::min(widest_px + theme().px(12), width_px * share)) : 0.0f;
}

float row_axis_height(int lines) {
  const Theme& t = theme();
  if (lines <= 0) return 0;
  return t.type(Type::small) + t.px(6) + (lines > 1 ? t.type(Type::small) + t.px(3) : 0.0f);
}

int row_axis_lines(float height_px, float least_px, bool titled) {
  for (int lines = titled ? 2 : 1; lines > 0; --lines)
    if (height_px - row_axis_height(lines) >= least_px) return lines;
  return 0;
}

void paint_row_axis(const Painter& painter, const AxisSpec& spec, Range range, const AxisMap& map, Rect plot, Rect area,
                    int lines) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  AxisTicks ticks;
  layout_ticks(spec, range, map, {[](std::string_view s) { return measure_text(s, Type::small); }, small}, ticks);
  for (const Tick& tick : ticks.major()) {
    const auto x = static_cast<float>(tick.pixel);
    if (x < plot.min.x - 0.5f || x > plot.max.x + 0.5f) continue;
    painter.line({x, plot.min.y}, {x, plot.max.y}, t.grid);
    if (lines == 0) continue;
    const float half = text_size(tick.label, Type::small, Font::mono).x / 2;
    if (x - half < area.min.x || x + half > area.max.x) continue;
    painter.text({x, plot.max.y + t.px(4)}, tick.label, t.muted, Type::small, Font::mono, Align::center);
  }
  if (lines < 2) return;
  const NumberText title = axis_title(spec, ticks);
  fit_text(painter, {(plot.min.x + plot.max.x) / 2, plot.max.y + small + t.px(6)}, title,
           2 * std::min((plot.min.x + plot.max.x) / 2 - area.min.x, area.max.x - (plot.min.x + plot.max.x) / 2),
           t.muted, Type::small, Font::sans, Align::center);
}

bool paint_whole(const Painter& painter, ImVec2 at, std::string_view s, float room, ImU32 ink, Type type, Align align,
                 Font font) {
  if (s.empty() || text_size(s, type, font).x > room + 0.5f) return false;
  painter.text(at, s, ink, type, font, align);
  return true;
}

void paint_nothing(const Painter& painter, Rect area, std::string_view sentence) {
  const Theme& t = theme();
  if (area.height() < t.type(Type::small)) return;
  fit_text(painter, {(area.min.x + area.max.x) / 2, (area.min.y + area.max.y - t.type(Type::small)) / 2}, sentence,
           area.width() - t.px(8), t.muted, Type::small, Font::sans, Align::center);
}

Line signed_text(double value, std::string_view unit) {
  Line text;
  return text.add(value > 0 ? "+" : "").add(format(value, unit));
}

}  // namespace widgets
