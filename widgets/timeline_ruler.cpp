#include <algorithm>
#include <cmath>

#include "widgets/number.h"
#include "widgets/timeline_frame.h"

namespace widgets {
namespace {

/// Round steps of time: 1, 2 or 5 of a power of ten, at least `least` long.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= least) return m * power;
  return 10.0 * power;
}

/// As many digits as tell one tick from the next.
int digits_for(double at, double step) {
  const double ratio = std::max(std::abs(at), step) / step;
  return std::clamp(static_cast<int>(std::ceil(std::log10(ratio) + 1e-9)) + 1, 1, 15);
}

}  // namespace

void paint_timeline_ruler(const TimelineFrame& f, const Painter& painter) {
  if (!f.options.ruler) return;
  const Theme& t = theme();
  const TimelineViewport& v = f.viewport;
  const double step = round_step(v.duration_s * static_cast<double>(t.px(92) / std::max(v.width, 1.0f)));
  if (!(step > 0) || !std::isfinite(step)) return;
  const double first = std::ceil(v.start_s / step - 1e-9);
  const float y = f.lanes.min.y - t.type(Type::small) - t.px(5);
  float free_from = f.lanes.min.x - t.px(6);
  for (int i = 0; i < 64; ++i) {
    const double at = (first + i) * step;
    const float x = v.x_of_s(at);
    if (!(x <= f.lanes.max.x + 0.5f)) break;
    painter.line({x, f.lanes.min.y - t.px(3)}, {x, f.lanes.max.y}, t.grid);
    const NumberText text = format(std::abs(at) < step * 1e-6 ? 0.0 : at, "s", digits_for(at, step));
    const float w = text_size(text, Type::small, Font::mono).x;
    const float left = std::clamp(x - w / 2, f.lanes.min.x, std::max(f.lanes.min.x, f.lanes.max.x - w));
    if (left < free_from) continue;
    painter.text({left, y}, text, t.muted, Type::small, Font::mono);
    free_from = left + w + t.px(8);
  }
}

void paint_timeline_cursor(const TimelineFrame& f, const Painter& painter) {
  const Theme& t = theme();
  const auto inside = [&](float x) { return std::clamp(x, f.lanes.min.x, f.lanes.max.x); };
  if (std::isfinite(f.view.range_start_s) && std::isfinite(f.view.range_end_s) && f.view.range_start_s != f.view.range_end_s) {
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
