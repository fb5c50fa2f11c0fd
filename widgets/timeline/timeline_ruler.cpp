#include <algorithm>
#include <cmath>

#include "widgets/number/number.h"
#include "widgets/plot/axis.h"
#include "widgets/timeline/timeline_frame.h"

namespace widgets {
namespace {

float tick_width_px(std::string_view s) { return text_size(s, Type::small, Font::mono).x; }

}  // namespace

void paint_timeline_ruler(const TimelineFrame& f, const Painter& painter) {
  if (!f.options.ruler) return;
  const Theme& t = theme();
  const TimelineViewport& v = f.viewport;
  const AxisSpec spec{.kind = AxisKind::time, .unit = "s"};
  const Range range{v.start_s, v.start_s + v.duration_s};
  AxisTicks ticks;
  const LabelMeasure measure{tick_width_px, t.type(Type::small)};
  layout_ticks(spec, range, AxisMap(spec.kind, range, static_cast<double>(v.x), static_cast<double>(v.x + v.width)),
               measure, ticks);
  const float y = f.area.min.y;  // above the cursor's handle
  float free_from = f.lanes.min.x - t.px(6);
  // The unit once: before the numbers where labels have a column, else after them.
  const float unit_px = text_size(ticks.unit, Type::small, Font::mono).x;
  const bool before = f.lanes.min.x - f.area.min.x > unit_px + t.px(12);
  if (before)
    painter.text({f.lanes.min.x - t.px(8), y}, ticks.unit, t.muted, Type::small, Font::mono, Align::right);
  else
    painter.text({f.lanes.max.x, y}, ticks.unit, t.muted, Type::small, Font::mono, Align::right);
  const float free_to = before ? f.area.max.x : f.lanes.max.x - unit_px - t.px(8);
  for (const Tick& tick : ticks.major()) {
    const auto x = static_cast<float>(tick.pixel);
    if (!(x >= f.lanes.min.x - 0.5f) || !(x <= f.lanes.max.x + 0.5f)) continue;
    painter.line({x, f.lanes.min.y - t.px(3)}, {x, f.lanes.max.y}, t.grid);
    const std::string_view text = tick.label;
    const float w = text_size(text, Type::small, Font::mono).x;
    const float left = std::clamp(x - w / 2, f.lanes.min.x, std::max(f.lanes.min.x, f.lanes.max.x - w));
    if (left < free_from || left + w > free_to) continue;
    painter.text({left, y}, text, t.muted, Type::small, Font::mono);
    free_from = left + w + t.px(8);
  }
}

void paint_timeline_cursor(const TimelineFrame& f, const Painter& painter) {
  const Theme& t = theme();
  const auto inside = [&](float x) { return std::clamp(x, f.lanes.min.x, f.lanes.max.x); };
  if (std::isfinite(f.view.range_start_s) && std::isfinite(f.view.range_end_s) &&
      f.view.range_start_s != f.view.range_end_s) {
    const auto [from, to] = std::minmax(f.view.range_start_s, f.view.range_end_s);
    const float x0 = inside(f.viewport.x_of_s(from)), x1 = inside(f.viewport.x_of_s(to));
    painter.rect({x0, f.lanes.min.y}, {x1, f.lanes.max.y}, with_alpha(t.accent, 0.14f));
    painter.line({x0, f.lanes.min.y}, {x0, f.lanes.max.y}, t.accent);
    painter.line({x1, f.lanes.min.y}, {x1, f.lanes.max.y}, t.accent);
    const NumberText text = format(to - from, "s", 4);
    const float w = text_size(text, Type::small, Font::mono).x + t.px(8), h = t.type(Type::small) + t.px(4);
    if (x1 > x0) {
      const float left = std::clamp((x0 + x1 - w) / 2, f.lanes.min.x, std::max(f.lanes.min.x, f.lanes.max.x - w));
      painter.rect({left, f.lanes.max.y - h - t.px(2)}, {left + w, f.lanes.max.y - t.px(2)}, t.panel, t.px(3));
      painter.text({left + t.px(4), f.lanes.max.y - h}, text, t.text, Type::small, Font::mono);
    }
  }
  if (!f.options.cursor || !std::isfinite(f.view.cursor_s)) return;
  const float x = f.viewport.x_of_s(f.view.cursor_s), half = t.px(5);
  if (!(x >= f.lanes.min.x - 0.5f) || !(x <= f.lanes.max.x + 0.5f)) return;
  painter.line({x, f.lanes.min.y - t.px(2)}, {x, f.lanes.max.y}, t.accent, t.px(1.5f));
  const float top = f.lanes.min.y - t.px(8);
  const ImVec2 handle[] = {{x - half, top}, {x + half, top}, {x, top + t.px(7)}};
  painter.polygon(handle, t.accent);
}

}  // namespace widgets
