#include <algorithm>
#include <cmath>

#include "chapters/serving/prefix_cache/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// Many requests: their columns over all that comes back, by how many other blocks were touched in between. A cache of
/// so many blocks finds what lies below its line.
namespace chapters::serving::prefix_cache {
namespace {

using models::PrefixEviction;
using widgets::Align, widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme,
    widgets::Type;

constexpr double top_decade_room = 1.15;

/// The log axis of distances, in blocks or in milliseconds.
struct DistanceAxis {
  Rect area;
  double lo = 1, hi = 10;
  float y(double distance) const {
    const double share = std::log(std::clamp(distance, lo, hi) / lo) / std::log(hi / lo);
    return area.max.y - area.height() * static_cast<float>(share);
  }
  double distance(float at) const {
    const double share = std::clamp(static_cast<double>((area.max.y - at) / std::max(1.0f, area.height())), 0.0, 1.0);
    return lo * std::pow(hi / lo, share);
  }
};

DistanceAxis axis_of(Rect area, const Picture& picture, bool clock) {
  double least = std::exp2(picture.rows / rows_per_octave);
  for (const ReturnCell& cell : picture.cells) least = std::min(least, std::exp2(cell.row / rows_per_octave));
  DistanceAxis out{area, std::max(clock ? 100.0 : 1.0, std::pow(10, std::floor(std::log10(least) + 1e-9))), 10};
  const double most = std::exp2(picture.rows / rows_per_octave) * top_decade_room;
  out.hi = std::max({out.lo * 100, most, clock ? 1.0 : picture.most_capacity * top_decade_room});
  return out;
}

/// What the cache keeps, on the axis; 0: everything.
double line_of(const Inputs& in) {
  if (in.eviction == PrefixEviction::ttl) return 1000 * in.ttl_s;
  return keeps_by_size(in.eviction) ? static_cast<double>(in.capacity_blocks) : 0;
}

void paint_axis(const Painter& p, const DistanceAxis& axis, bool clock, float left) {
  const auto& t = theme();
  for (double tick = axis.lo; tick <= axis.hi; tick *= 10) {
    const float y = axis.y(tick), line = t.type(Type::small);
    p.line({axis.area.min.x, y}, {axis.area.max.x, y}, t.grid);
    const auto words =
        clock ? widgets::format(tick / 1000, "s", 3, widgets::Prefix::none) : widgets::format(tick, "", 9);
    if (left > t.px(40) && y - line / 2 > axis.area.min.y && y + line / 2 < axis.area.max.y + line)
      p.text({axis.area.min.x - t.px(6), y - line / 2}, words, t.muted, Type::small, Font::mono, Align::right);
  }
}

void paint_cells(const Painter& p, const DistanceAxis& axis, const ColumnPlace& columns, const Picture& picture,
                 double line) {
  const auto& t = theme();
  const float half = columns.pitch() / 2;
  for (const ReturnCell& cell : picture.cells) {
    const double lo = std::exp2(cell.row / rows_per_octave), hi = std::exp2((cell.row + 1) / rows_per_octave);
    if (hi < axis.lo) continue;
    const bool found = line <= 0 || std::sqrt(lo * hi) <= line;
    const auto alpha = static_cast<float>(0.3 + 0.7 * std::sqrt(cell.blocks / picture.most_cell));
    const float x = columns.centre(static_cast<std::size_t>(cell.column));
    p.rect({x - half, axis.y(hi)}, {x + half, axis.y(lo)},
           widgets::with_alpha(found ? t.of(Meaning::kv_cache) : t.bad, alpha));
  }
}

/// The line is dragged: what is below it stays.
void take_line(Inputs& in, const DistanceAxis& axis, double line) {
  const auto& t = theme();
  if (line <= 0) return;
  const bool clock = in.eviction == PrefixEviction::ttl;
  ImGui::SetCursorScreenPos(axis.area.min);
  widgets::press_area("cache line", {axis.area.width(), axis.area.height()});
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const double to = axis.distance(ImGui::GetMousePos().y);
    if (clock)
      in.ttl_s = std::clamp(std::round(to / 100) / 10, 0.1, 1e6);
    else
      in.capacity_blocks = std::clamp<std::int64_t>(std::llround(to), 1, 10'000'000);
  }
  if (ImGui::IsItemHovered())
    widgets::tip(clock ? "how long blocks stay" : "size of the cache", {},
                 "drag: what comes back below the line is found, above it is recomputed");
  const float y = axis.y(line);
  const Painter p = Painter::window();
  p.line({axis.area.min.x, y}, {axis.area.max.x, y}, t.accent, t.px(2));
  const auto words =
      clock ? widgets::format(in.ttl_s, "s") : widgets::format(static_cast<double>(in.capacity_blocks), "", 9);
  const ImVec2 size = widgets::text_size(words.view(), Type::small, Font::mono);
  const float x = axis.area.max.x - size.x - t.px(12);
  const float top = std::clamp(y - size.y / 2 - t.px(3), axis.area.min.y,
                               std::max(axis.area.min.y, axis.area.max.y - size.y - t.px(6)));
  p.rect({x, top}, {axis.area.max.x, top + size.y + t.px(6)}, t.accent, t.px(4));
  p.text({x + t.px(6), top + t.px(3)}, words, widgets::text_on(t.accent, t), Type::small, Font::mono);
}

/// What the axis counts, at its left.
void paint_back_after(const Painter& p, ImVec2 at, float room, bool clock) {
  const auto& t = theme();
  if (room < t.px(40)) return;
  const float line = t.type(Type::small) + t.px(4);
  widgets::fit_text(p, at, "Back after", room, t.text, Type::small, Font::bold);
  widgets::fit_text(p, {at.x, at.y + line}, clock ? "so long" : "so many", room, t.muted, Type::small);
  if (!clock) widgets::fit_text(p, {at.x, at.y + 2 * line}, "blocks", room, t.muted, Type::small);
}

void add_returns_table(const Painter& p, const Picture& picture, bool clock) {
  widgets::Record* record = p.record();
  if (!record) return;
  widgets::DataTable table{"returns", {"from place", clock ? "from s" : "from blocks", "blocks"}, {}};
  for (const ReturnCell& cell : picture.cells)
    table.rows.push_back({std::to_string(picture.columns[static_cast<std::size_t>(cell.column)].first + 1),
                          widgets::exact(std::exp2(cell.row / rows_per_octave) / (clock ? 1000 : 1)),
                          widgets::exact(cell.blocks)});
  record->tables.push_back(std::move(table));
}

}  // namespace

void draw_returns(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = theme();
  const Rect area = widgets::reserve(size, {16, 16});
  const float key = size.y > t.px(150) ? t.type(Type::small) + t.px(8) : 0, side = side_width(size.x),
              left = area.min.x + side, columns_px = 0.34f * (size.y - key);
  const ColumnPlace columns{{{left, area.min.y + key}, {area.max.x, area.min.y + key + columns_px}},
                            picture.columns.size()};
  const Rect below{{left, columns.area.max.y + t.px(10)}, area.max};
  const bool clock = in.eviction == PrefixEviction::ttl;
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    const Painter on_veil = Painter::window();
    paint_column_outlines(on_veil, columns, picture);
    paint_side_words(on_veil, {area.min.x, columns.area.min.y}, side - t.px(10), picture.order_name,
                     picture.given_words, "blocks asked for");
    return;
  }
  const Painter p = Painter::window();
  if (key > 0) paint_key(p, {left, area.min.y}, area.max.x - left, picture.column_words);
  paint_columns(p, columns, picture, picture.columns.size());
  widgets::drew("requests");
  const DistanceAxis axis = axis_of(below, picture, clock);
  paint_axis(p, axis, clock, side);
  paint_cells(p, axis, columns, picture, line_of(in));
  widgets::drew("tree");
  take_line(in, axis, line_of(in));
  const float room = side - t.px(10);
  paint_side_words(p, {area.min.x, columns.area.min.y}, room, picture.order_name, picture.computed, "blocks computed");
  paint_back_after(p, {area.min.x, below.min.y}, side - t.px(72), clock);
  add_returns_table(p, picture, clock);
}

}  // namespace chapters::serving::prefix_cache
