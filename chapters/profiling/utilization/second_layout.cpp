#include "chapters/profiling/utilization/second_layout.h"

#include <algorithm>

namespace chapters::profiling::utilization {

void layout_second(const std::vector<SecondPart>& parts, const std::vector<LedgerLine>& ledger, double busy,
                   double products, double reported, std::size_t meters, widgets::Rect area, widgets::Measure measure,
                   float px, float line, SecondLayout& out) {
  using widgets::Type;
  float words = 0, values = 0;
  for (const LedgerLine& l : ledger) {
    words = std::max(words, measure(l.words, Type::small));
    values = std::max(values, measure(l.value, Type::small));
  }
  // Bold type is a little wider than what is measured.
  const float swatch = 16 * px,
              wide = std::min(swatch + 1.08f * words + 14 * px + 1.08f * values, 0.52f * area.width());
  const float left = measure("100 %", Type::small) + 8 * px, low = 13 * line;
  out.has_dimensions = area.height() >= low;
  const float under = out.has_dimensions ? 2 * (line + 8 * px) + 4 * px : px;
  const float gap = 20 * px;
  out.ledger = {{area.max.x - wide, area.min.y}, area.max};
  out.square = {{area.min.x + left, area.min.y + line + 6 * px}, {out.ledger.min.x - gap, area.max.y - under}};
  // The meters take a line and a half each, with a line of their own above them.
  const auto totals = std::count_if(ledger.begin(), ledger.end(), [](const LedgerLine& l) { return l.total; });
  out.totals_only = static_cast<float>(ledger.size()) * (line + px) > area.height();
  const auto lines = out.totals_only ? static_cast<std::size_t>(totals) : ledger.size();
  const auto count = static_cast<float>(std::max<std::size_t>(1, lines));
  const float meter_lines = meters > 0 ? 1 + 1.5f * static_cast<float>(meters) : 0;
  out.line_px = std::clamp(area.height() / (count + meter_lines), line + 3 * px, 1.75f * line);
  const bool room = meters > 0 && (count + meter_lines) * out.line_px <= area.height() + 0.5f;
  if (!room) out.line_px = std::clamp(area.height() / count, line + px, 1.75f * line);
  out.meters_top = room ? area.min.y + (count + 1) * out.line_px : -1;
  const widgets::Rect& s = out.square;
  const auto x = [&](double at) { return s.min.x + static_cast<float>(at) * s.width(); };
  const auto y = [&](double at) { return s.max.y - static_cast<float>(at) * s.height(); };
  const double top = products > 0 ? reported / products : 0;
  out.reported_over = top > 1;
  out.reported_y = y(std::min(top, 1.0));
  out.parts.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const SecondPart& p = parts[i];
    const widgets::Rect rect{{x(p.x0), y(p.y1)}, {x(p.x1), y(p.y0)}};
    if (rect.width() <= 0 || rect.height() <= 0) continue;
    const float words_wide = measure(p.name, Type::small) + 12 * px;
    // Words stand in the larger part of what the reported line cuts.
    float above = rect.min.y, below = rect.max.y;
    if (reported > 0 && p.x0 <= 0 && out.reported_y > above && out.reported_y < below)
      (out.reported_y - above > below - out.reported_y ? below : above) = out.reported_y;
    out.parts.push_back({i, rect, rect.width() >= words_wide && below - above >= line + 6 * px, (above + below) / 2});
  }
  out.busy_x = x(busy);
  out.products_x = x(products);
  out.dimension_y[0] = s.max.y + 8 * px;
  out.dimension_y[1] = s.max.y + 8 * px + line + 8 * px;
}

}  // namespace chapters::profiling::utilization
