#include "chapters/profiling/utilization/second_layout.h"

#include <algorithm>

namespace chapters::profiling::utilization {

void layout_second(const std::vector<SecondPart>& parts, const std::vector<LedgerLine>& ledger, double busy,
                   double products, double reported, widgets::Rect area, widgets::Measure measure, float px, float line,
                   SecondLayout& out) {
  using widgets::Type;
  float words = 0, values = 0;
  for (const LedgerLine& l : ledger) {
    words = std::max(words, measure(l.words, Type::small));
    values = std::max(values, measure(l.value, Type::small));
  }
  // Bold type is a little wider than what is measured.
  const float swatch = 16 * px,
              wide = std::min(swatch + 1.08f * words + 14 * px + 1.08f * values, 0.52f * area.width());
  const float left = measure("100 %", Type::small) + 8 * px, under = 2 * (line + 8 * px) + 4 * px;
  const float gap = 20 * px;
  out.ledger = {{area.max.x - wide, area.min.y}, area.max};
  out.square = {{area.min.x + left, area.min.y + line + 6 * px}, {out.ledger.min.x - gap, area.max.y - under}};
  const auto count = static_cast<float>(std::max<std::size_t>(1, ledger.size()));
  out.line_px = std::clamp(area.height() / count, line + px, 1.75f * line);
  const widgets::Rect& s = out.square;
  const auto x = [&](double at) { return s.min.x + static_cast<float>(at) * s.width(); };
  const auto y = [&](double at) { return s.max.y - static_cast<float>(at) * s.height(); };
  out.parts.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const SecondPart& p = parts[i];
    const widgets::Rect rect{{x(p.x0), y(p.y1)}, {x(p.x1), y(p.y0)}};
    if (rect.width() <= 0 || rect.height() <= 0) continue;
    const float room = measure(p.name, Type::small) + 12 * px;
    out.parts.push_back({i, rect, rect.width() >= room && rect.height() >= line + 6 * px});
  }
  out.busy_x = x(busy);
  out.products_x = x(products);
  const double top = products > 0 ? reported / products : 0;
  out.reported_over = top > 1;
  out.reported_y = y(std::min(top, 1.0));
  out.dimension_y[0] = s.max.y + 8 * px;
  out.dimension_y[1] = s.max.y + 8 * px + line + 8 * px;
}

}  // namespace chapters::profiling::utilization
