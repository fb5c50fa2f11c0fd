#include "chapters/role/platform_map/river.h"

#include <algorithm>
#include <cmath>

namespace chapters::role::platform_map {

River layout_river(widgets::Rect area, const std::vector<RiverRow>& rows, double hi_gpus, double hi_hours, float scale,
                   float line) {
  River out;
  out.hi_gpus = hi_gpus;
  out.hi_hours = std::max(hi_hours, 1e-9);
  for (const RiverRow& row : rows) out.hi_usd = std::max(out.hi_usd, row.usd);
  constexpr auto n = static_cast<float>(models::platform::part_count);
  const float gap = std::clamp(0.008f * area.width(), 3 * scale, 8 * scale);
  const float width = (area.width() - gap * (n - 1)) / n, height = 3 * line + 14 * scale;
  for (std::size_t i = 0; i < out.cards.size(); ++i) {
    const float x = area.min.x + static_cast<float>(i) * (width + gap);
    out.cards[i] = {{x, area.min.y}, {x + width, area.min.y + height}};
  }
  const float left = area.min.x + 46 * scale, right = area.max.x - 10 * scale, foot = 2 * line + 26 * scale;
  const float top = area.min.y + height + line + 10 * scale, bottom = area.max.y - foot;
  const bool has_money = bottom - top > 190 * scale;
  const float money = has_money ? std::clamp(0.18f * (bottom - top), 40 * scale, 80 * scale) : 0;
  const float between = has_money ? line + 8 * scale : 0;
  out.hours = {{left, top}, {right, std::max(top + 1, bottom - money - between)}};
  out.money = {{left, bottom - money}, {right, bottom}};
  out.axis = {{left, bottom + 2 * scale}, {right, area.max.y}};
  return out;
}

float River::x(double gpus) const {
  return hours.min.x + hours.width() * static_cast<float>(place_of_gpus(gpus, hi_gpus));
}
float River::y(double hours_up) const {
  return hours.max.y - hours.height() * static_cast<float>(std::min(hours_up / hi_hours, 50.0));
}
float River::y_money(double usd) const {
  return money.max.y - money.height() * static_cast<float>(std::clamp(usd / hi_usd, 0.0, 1.0));
}

double place_of_gpus(double gpus, double hi) {
  return std::clamp(std::log(std::max(1.0, gpus)) / std::log(std::max(2.0, hi)), 0.0, 1.0);
}
double gpus_at_place(double place, double hi) {
  return std::clamp(std::round(std::pow(std::max(2.0, hi), std::clamp(place, 0.0, 1.0))), 1.0, std::max(2.0, hi));
}

}  // namespace chapters::role::platform_map
