#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/charts/step_bites.h"
#include "widgets/number/number.h"

namespace widgets {
namespace {

constexpr float least_axis = 232, toggle_width = 36, column_width = 62, tight_column_width = 46;

double bite_sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Where a slab and what its row gives back end.
double reach_of(const BiteRow& row) {
  double end = bite_sum(row.before);
  for (std::size_t i = 0; i < row.before.size() && i < row.after.size(); ++i)
    end += std::max(0.0, row.after[i] - row.before[i]);
  return end;
}

void place_slab(const BiteBar& bar, const BiteOptions& options, Rect rect, float px_per_unit, Measure measure,
                std::vector<BitePiece>& out) {
  const Theme& t = theme();
  out.clear();
  double at = 0;
  for (std::size_t i = 0; i < bar.values.size() && i < options.parts.size(); ++i) {
    const double value = bar.values[i];
    if (!(value > 0)) continue;
    const float left = rect.min.x + static_cast<float>(at) * px_per_unit;
    at += value;
    const float right = rect.min.x + static_cast<float>(at) * px_per_unit;
    if (right - left < 0.5f) continue;
    BitePiece piece{i, {{left, rect.min.y}, {right, rect.max.y}}};
    const float room = right - left - t.px(8), name = measure(options.parts[i].label, Type::small),
                number = measure(format(value, options.unit), Type::small);
    const bool two_lines = rect.height() >= 2 * t.type(Type::small) + t.px(4);
    if (two_lines ? std::max(name, number) <= room : name + number + t.px(8) <= room)
      piece.caption = BiteCaption::both;
    else if (number <= room)
      piece.caption = BiteCaption::value;
    else if (name <= room)
      piece.caption = BiteCaption::name;
    out.push_back(piece);
  }
}

void place_row_bites(const BiteRow& row, std::size_t index, Rect rect, float left, float px_per_unit,
                     std::vector<PlacedBite>& out) {
  const Theme& t = theme();
  const float pad = std::min(t.px(5), rect.height() * 0.2f);
  const float top = rect.min.y + pad, bottom = rect.max.y - pad;
  double at = 0, end = bite_sum(row.before);
  for (std::size_t i = 0; i < row.before.size() && i < row.after.size(); ++i) {
    at += row.before[i];
    const double change = row.after[i] - row.before[i];
    const bool given = change > 0;
    const double from = given ? end : at + change, to = given ? end + change : at;
    if (given) end = to;
    const float x0 = left + static_cast<float>(from) * px_per_unit, x1 = left + static_cast<float>(to) * px_per_unit;
    if (x1 - x0 >= 0.75f) out.push_back({index, i, {{x0, top}, {x1, bottom}}, given});
  }
}

/// The columns of figures at the right end, as many as leave the axis its room. Gives where the first begins.
float place_bite_columns(std::span<const BiteRow> rows, const BiteOptions& options, Rect area, float left,
                         Measure measure, BiteLayout& out) {
  const Theme& t = theme();
  std::array<bool, bite_columns> shown{};
  const auto width_of = [&](std::size_t c) {
    float widest = measure(options.titles[c], Type::small);
    for (const BiteRow& row : rows) widest = std::max(widest, measure(row.figures[c], Type::small));
    return std::clamp(widest + t.px(10), t.px(tight_column_width), t.px(column_width) * 1.4f);
  };
  float columns = 0;
  for (std::size_t c = 0; c < bite_columns; ++c) {
    shown[c] = !options.titles[c].empty();
    if (shown[c]) columns += width_of(c);
  }
  for (const std::size_t c : options.drop_order) {
    if (area.max.x - left - columns >= t.px(least_axis) || !shown[c] || c == 0) continue;
    shown[c] = false;
    columns -= width_of(c);
  }
  float x = area.max.x;
  out.column_right = {};
  for (std::size_t c = bite_columns; c-- > 0;) {
    if (!shown[c]) continue;
    out.column_right[c] = x - t.px(6);
    x -= width_of(c);
  }
  return x;
}

/// The parts that at least one of the two slabs shows.
void list_bite_parts(const BiteOptions& options, BiteLayout& out) {
  out.legend.clear();
  for (std::size_t i = 0; i < options.parts.size(); ++i) {
    const auto has = [&](const BiteBar& bar) {
      return i < bar.values.size() && static_cast<float>(bar.values[i]) * out.px_per_unit >= 0.5f;
    };
    if (has(options.first) || has(options.main)) out.legend.push_back({options.parts[i].label, options.parts[i].tint});
  }
}

}  // namespace

void layout_bites(std::span<const BiteRow> rows, const BiteOptions& options, Rect area, Measure measure,
                  BiteLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  float names = std::max(measure(options.first.label, Type::small), measure(options.floor_label, Type::small));
  for (const BiteRow& row : rows) names = std::max(names, measure(row.label, Type::small) + t.px(toggle_width));
  names = std::min(names + t.px(14), area.width() * 0.34f);
  out.label_left = area.min.x + t.px(toggle_width);
  const float left = area.min.x + names;
  const float x = place_bite_columns(rows, options, area, left, measure, out);
  const float right = std::max(left + 1, x - t.px(10));
  out.slab = {{left, area.min.y}, {right, area.max.y}};
  double reach = std::max(bite_sum(options.first.values), bite_sum(options.main.values));
  if (std::isfinite(options.floor)) reach = std::max(reach, options.floor);
  for (const BiteRow& row : rows) reach = std::max(reach, reach_of(row));
  out.px_per_unit = reach > 0 ? (right - left) / static_cast<float>(reach) : 0;

  // Heights: titles, the slab as found, the one that is bitten into, the floor, then the rows.
  const float height = area.height(), count = static_cast<float>(std::max<std::size_t>(rows.size(), 1));
  list_bite_parts(options, out);
  float legend = layout_legend(out.legend, area.width(), legend_row_px(), measure, out.placed_legend) + t.px(4);
  float thin = std::clamp(height * 0.055f, t.px(14), t.px(24)) + t.px(6), strip = small + t.px(9);
  const float thick = std::clamp(height * 0.125f, t.px(30), t.px(64)) + t.px(4), heads = small + t.px(6),
              least_pitch = small + t.px(2);
  // In little room the legend goes first, then the slab as found, then the floor, then rows at the end.
  const auto short_of_room = [&] { return legend + thin + thick + strip + heads + count * least_pitch > height; };
  if (short_of_room()) {
    legend = 0;
    out.legend.clear();
    out.placed_legend.clear();
  }
  const bool no_first = short_of_room();
  if (no_first) thin = 0;
  if (short_of_room()) strip = 0;
  float y = area.min.y + legend;
  out.first_rect = {{left, y}, {right, y + std::max(0.0f, thin - t.px(6))}};
  y += thin;
  out.main_rect = {{left, y}, {right, y + thick - t.px(4)}};
  y += thick;
  out.floor_rect = {{left, y}, {right, y + std::max(0.0f, strip - t.px(6))}};
  y += strip;
  out.heads_y = y;
  y += heads;
  out.rows_top = y;
  const float pitch = std::clamp((area.max.y - y) / count, least_pitch, t.px(44));
  out.rows.clear();
  out.bites.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float top = y + pitch * static_cast<float>(i);
    if (top + pitch > area.max.y + 0.5f) break;
    out.rows.push_back({{area.min.x, top}, {area.max.x, top + pitch - 1}});
    place_row_bites(rows[i], i, out.rows.back(), left, out.px_per_unit, out.bites);
  }
  place_slab(options.first, options, out.first_rect, out.px_per_unit, measure, out.first);
  if (no_first) out.first.clear();
  place_slab(options.main, options, out.main_rect, out.px_per_unit, measure, out.main);
  out.floor_x = std::isfinite(options.floor) ? left + static_cast<float>(options.floor) * out.px_per_unit : 0;
}

}  // namespace widgets
