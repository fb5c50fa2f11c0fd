#include <algorithm>
#include <cmath>

#include "chapters/roofline/roofline/draw_notes.h"
#include "widgets/base/painter.h"

namespace chapters::roofline::roofline {

void draw_legend(const Picture& pic, const widgets::PlotView& plot) {
  using widgets::Meaning;
  using widgets::Type;
  const widgets::Theme& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const widgets::PlotFrame& f = plot.scratch.frame;
  const float line = t.type(Type::small), top = f.area.min.y - std::floor(line * 0.4f) - line, r = t.px(4.5f);
  const float least = f.area.min.x + widgets::text_size(f.y_title, Type::small).x + t.px(24);
  float x = f.area.max.x;
  const auto entry = [&](std::string_view name, auto&& mark) {
    const float width = widgets::text_size(name, Type::small).x;
    if (x - width - t.px(16) < least) return;
    x -= width;
    p.text({x, top}, name, t.muted, Type::small);
    x -= t.px(10);
    mark(ImVec2{x, top + line / 2});
    x -= t.px(22);
  };
  const auto launch_bound = [](const Picture::Dot& dot) { return dot.regime == models::Regime::launch; };
  if (std::any_of(pic.dots.begin(), pic.dots.end(), launch_bound))
    entry("launch-bound", [&](ImVec2 c) {
      const ImVec2 points[] = {{c.x, c.y - r}, {c.x + r, c.y + r * 0.8f}, {c.x - r, c.y + r * 0.8f}};
      p.polyline(points, t.of(Meaning::launch_bound), t.px(1.5f), true);
    });
  if (!pic.measured.empty() || !pic.published.empty())
    entry("measured", [&](ImVec2 c) {
      const ImVec2 points[] = {{c.x, c.y - r}, {c.x + r, c.y}, {c.x, c.y + r}, {c.x - r, c.y}};
      p.polygon(points, t.text);
    });
  if (!pic.measured_ceilings.empty())
    entry("measured ceiling", [&](ImVec2 c) {
      p.dashed_line({c.x - t.px(12), c.y}, {c.x + t.px(4), c.y}, t.text, t.px(1.2f), t.px(4));
    });
  if (!pic.dots.empty())
    entry("bound of the model", [&](ImVec2 c) { p.ring(c, r, t.of(Meaning::memory_bound), t.px(1.8f)); });
  entry("yours", [&](ImVec2 c) {
    p.circle(c, r + t.px(2), t.accent);
    p.circle(c, r + t.px(1), IM_COL32_WHITE);
    p.circle(c, r, t.accent);
  });
}

}  // namespace chapters::roofline::roofline
