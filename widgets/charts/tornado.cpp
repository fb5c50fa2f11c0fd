#include "widgets/charts/tornado.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widgets {
namespace {

bool is_known(const TornadoSpan& s) { return std::isfinite(s.low) && std::isfinite(s.high); }
double fall_of(const TornadoSpan& s) { return is_known(s) ? std::min({s.low, s.high, 0.0}) : 0.0; }
double rise_of(const TornadoSpan& s) { return is_known(s) ? std::max({s.low, s.high, 0.0}) : 0.0; }
double size_of_row(const TornadoRow& r) {
  return std::max({-fall_of(r.alone), rise_of(r.alone), -fall_of(r.on_top), rise_of(r.on_top)});
}

/// The widest value at the falling or the rising ends.
float widest_value(const TornadoRow& r, const UnitScale& unit, bool rises, Measure measure) {
  float most = 0;
  for (const TornadoSpan& s : {r.alone, r.on_top}) {
    const double value = rises ? rise_of(s) : fall_of(s);
    if (value != 0 || (rises && is_known(s)))
      most = std::max(most, measure(tornado_text(value, unit).view(), Type::small));
  }
  return most;
}

void place_tornado_bar(const TornadoSpan& s, double base, float top, float height, const TornadoLayout& l,
                       TornadoBar& bar) {
  bar = {};
  bar.known = is_known(s);
  bar.low = fall_of(s);
  bar.high = rise_of(s);
  const auto x = [&](double change) {
    return std::clamp(static_cast<float>(l.map.pixel(base + change)), l.plot.min.x, l.plot.max.x);
  };
  bar.fall = {{bar.low < 0 ? x(bar.low) : l.base_px, top}, {l.base_px, top + height}};
  bar.rise = {{l.base_px, top}, {bar.high > 0 ? x(bar.high) : l.base_px, top + height}};
}

/// `under`: the bar right below, which the values of this one stay clear of where rows are low; null for none.
void paint_tornado_bar(const Painter& painter, const TornadoBar& bar, const TornadoBar* under, bool hatched,
                       const TornadoLayout& l) {
  if (!bar.known) return;
  const Theme& t = theme();
  const float y = (bar.fall.min.y + bar.fall.max.y - t.type(Type::small)) / 2;
  const auto side = [&](Rect r, Tint tint) {
    if (!(r.width() > 0)) return;
    const ImU32 ink = colour(tint, t);
    painter.rect(r.min, r.max, hatched ? with_alpha(ink, 0.35f) : ink, t.px(2));
    if (hatched) hatch(painter, r, ink, t.px(5));
  };
  side(bar.fall, Tint::series(0));
  side(bar.rise, Tint::series(1));
  if (!l.values || (hatched && l.compact)) return;
  const bool clear = under && under->known && l.compact;
  if (bar.low < 0)
    painter.text({(clear ? std::min(bar.fall.min.x, under->fall.min.x) : bar.fall.min.x) - t.px(5), y},
                 tornado_text(bar.low, l.unit).view(), t.text, Type::small, Font::sans, Align::right);
  if (bar.high > 0 || bar.low == 0)
    painter.text({(clear ? std::max(bar.rise.max.x, under->rise.max.x) : bar.rise.max.x) + t.px(5), y},
                 tornado_text(bar.high, l.unit).view(), bar.high > 0 ? t.text : t.muted, Type::small);
}

void paint_tornado_head(const Painter& painter, const TornadoLayout& l, const TornadoOptions& o, Rect area) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  if (l.legend) {
    const float side = small * 0.9f;
    float x = area.min.x;
    // In the colour of the bars: of those that fall, where there are any.
    const bool falls = std::any_of(l.rows.begin(), l.rows.end(), [](const auto& r) { return r.alone.low < 0; });
    const ImU32 ink = colour(Tint::series(falls ? 0 : 1), t);
    for (const bool hatched : {false, true}) {
      const std::string_view word = hatched ? "on top of the others" : "alone";
      const float w = side + t.px(6) + text_size(word, Type::small).x;
      if (x + w > area.max.x) break;
      const Rect r{{x, area.min.y + t.px(1)}, {x + side, area.min.y + t.px(1) + side}};
      painter.rect(r.min, r.max, with_alpha(ink, hatched ? 0.35f : 1.0f), t.px(2));
      if (hatched) hatch(painter, r, ink, t.px(4));
      painter.text({x + side + t.px(6), area.min.y}, word, t.muted, Type::small);
      x += w + t.px(16);
    }
  }
  if (l.head == 0) return;
  Line base, value;
  value.add(format(o.base, o.unit));
  base.add(o.base_label).add(o.base_label.empty() ? "" : " ").add(value.view());
  const float y = l.plot.min.y - small - t.px(4);
  for (const std::string_view s : {base.view(), value.view()}) {
    const float w = text_size(s, Type::small).x;
    if (w > area.width()) continue;
    const float x = std::clamp(l.base_px - w / 2, area.min.x, area.max.x - w);
    painter.text({x, y}, s, t.text, Type::small);
    break;
  }
}

void tip_tornado(const TornadoRow& row, const TornadoOptions& o) {
  Line value;
  const auto add = [&](const TornadoSpan& s, std::string_view name) {
    if (!is_known(s)) return;
    value.add(value.length > 0 ? "; " : "").add(name).add(" ");
    if (s.low != 0) value.add(signed_text(s.low, o.unit).view()).add(s.high != 0 ? " to " : "");
    if (s.high != 0 || s.low == 0) value.add(signed_text(s.high, o.unit).view());
  };
  add(row.alone, "alone");
  add(row.on_top, "on top of the others");
  tip(row.label, value.length > 0 ? value.view() : "no value", row.info);
}

void record_tornado(Record& record, const char* label, std::span<const TornadoRow> rows) {
  DataTable table{label, {"row", "alone low", "alone high", "on top low", "on top high"}, {}};
  for (const TornadoRow& r : rows)
    table.rows.push_back(
        {std::string(r.label), exact(r.alone.low), exact(r.alone.high), exact(r.on_top.low), exact(r.on_top.high)});
  record.tables.push_back(std::move(table));
}

/// The rows' own order, or the largest first.
void order_tornado(std::span<const TornadoRow> rows, bool sorted, std::vector<std::size_t>& order) {
  order.resize(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (sorted)  // equal sizes keep their order, without the memory that a stable sort takes
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const double first = size_of_row(rows[a]), second = size_of_row(rows[b]);
      return first != second ? first > second : a < b;
    });
}

/// The bars of each row that is shown, the change alone above the one on top.
void place_tornado_rows(std::span<const TornadoRow> rows, double base, TornadoLayout& out) {
  const Theme& t = theme();
  for (std::size_t i = 0; i < out.stack.shown; ++i) {
    const TornadoRow& r = rows[out.order[i]];
    TornadoPlace place{.row = out.order[i]};
    const float inset = std::min(t.px(3), out.stack.slot * 0.12f), inner = out.stack.slot - 2 * inset;
    const float upper = !out.has_on_top ? inner : std::floor(inner * (out.compact ? 0.62f : 0.5f)),
                top = out.stack.row_top(i) + inset;
    place_tornado_bar(r.alone, base, top, upper, out, place.alone);
    place_tornado_bar(r.on_top, base, top + upper, inner - upper, out, place.on_top);
    out.rows.push_back(place);
  }
}

}  // namespace

Line tornado_text(double change, const UnitScale& unit) {
  Line text;
  text.add(change > 0 ? "+" : "").add(format_in(unit, change));
  return text.add(unit.unit.length > 0 ? " " : "").add(unit.unit);
}

void layout_tornado(std::span<const TornadoRow> rows, const TornadoOptions& o, Rect area, Measure measure,
                    TornadoLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  out.problem = {};
  out.rows.clear();
  out.has_on_top = false;
  order_tornado(rows, o.sorted, out.order);
  const double base = std::isfinite(o.base) ? o.base : 0;
  if (!std::isfinite(o.base)) out.problem.add("The base is not a finite number: changes are shown about 0.");
  double low = 0, high = 0;
  double largest = 0;
  for (const TornadoRow& r : rows) largest = std::max(largest, size_of_row(r));
  out.unit = unit_scale(largest, o.unit);
  float labels = 0, falls = 0, rises = 0;
  for (const TornadoRow& r : rows) {
    out.has_on_top = out.has_on_top || is_known(r.on_top);
    if (!is_known(r.alone) && !is_known(r.on_top) && out.problem.length == 0)
      out.problem.add("\"").add(r.label).add("\" has no finite change and shows none.");
    low = std::min({low, fall_of(r.alone), fall_of(r.on_top)});
    high = std::max({high, rise_of(r.alone), rise_of(r.on_top)});
    labels = std::max(labels, measure(r.label, Type::small));
    falls = std::max(falls, widest_value(r, out.unit, false, measure));
    rises = std::max(rises, widest_value(r, out.unit, true, measure));
  }
  const float gutter = label_gutter(labels, area.width());
  const float left = falls > 0 ? falls + t.px(8) : t.px(4), right = rises > 0 ? rises + t.px(8) : t.px(4);
  out.values = area.width() - gutter - left - right >= t.px(60);
  const float words = small + t.px(6), least = 2 * (small + t.px(4));
  out.head = area.height() >= words + least ? words : 0.0f;
  out.axis_lines = row_axis_lines(area.height() - out.head, least, !o.axis_label.empty());
  out.legend = out.has_on_top && area.height() - out.head - row_axis_height(out.axis_lines) - words >= least;
  if (out.legend) out.head += small + t.px(4);
  const float foot =
      row_axis_height(out.axis_lines) + (out.problem.length > 0 && out.axis_lines > 0 ? small + t.px(2) : 0.0f);
  out.plot = {{area.min.x + gutter + (out.values ? left : t.px(4)), area.min.y + out.head},
              {area.max.x - (out.values ? right : t.px(4)), area.max.y - foot}};
  out.plot.max.x = std::max(out.plot.max.x, out.plot.min.x + 1);
  out.plot.max.y = std::max(out.plot.max.y, out.plot.min.y);
  const double span = high - low;
  out.range = sane_range(AxisKind::linear, span > 0 ? Range{base + low, base + high} : Range{base - 1, base + 1});
  out.map =
      AxisMap(AxisKind::linear, out.range, static_cast<double>(out.plot.min.x), static_cast<double>(out.plot.max.x));
  out.base_px = std::clamp(std::round(static_cast<float>(out.map.pixel(base))), out.plot.min.x, out.plot.max.x);
  const float line = small + t.px(2);
  out.compact = out.has_on_top && static_cast<float>(rows.size()) * 2 * line > out.plot.height();
  out.stack = stack_rows(rows.size(), out.plot.min.y, out.plot.max.y, t.px(o.row_px) * (out.has_on_top ? 1.5f : 1.0f),
                         out.has_on_top && !out.compact ? 2 * line : line + t.px(2));
  // The axis stands right under the last row, not at the foot of an area that is too high for them.
  const float used = out.stack.bottom() + (out.stack.left_out > 0 ? small + t.px(2) : 0.0f);
  out.plot.max.y = std::min(out.plot.max.y, std::max(used, out.plot.min.y + 1));
  place_tornado_rows(rows, base, out);
}

bool draw_tornado(const char* label, std::span<const TornadoRow> rows, TornadoView& view, const TornadoOptions& o) {
  const Theme& t = theme();
  const float needed = static_cast<float>(std::max<std::size_t>(rows.size(), 1)) * t.px(o.row_px) * 1.5f +
                       t.type(Type::small) * 5 + t.px(20);
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : needed}, {t.px(40), t.px(24)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  TornadoLayout& l = view.layout;
  layout_tornado(rows, o, area, measure_text, l);
  const Painter painter = Painter::window();
  if (Record* record = painter.record()) record_tornado(*record, label, rows);
  if (rows.empty()) {
    paint_nothing(painter, area, "Nothing to show: there is no change to compare.");
    return false;
  }
  paint_row_axis(painter, {.label = o.axis_label, .unit = o.unit}, l.range, l.map, l.plot, area, l.axis_lines);
  paint_tornado_head(painter, l, o, area);
  const float small = t.type(Type::small);
  for (std::size_t i = 0; i < l.rows.size(); ++i) {
    const TornadoPlace& p = l.rows[i];
    const bool chosen = static_cast<std::int64_t>(p.row) == view.selected;
    if (chosen)
      painter.rect({area.min.x, l.stack.row_top(i)}, {area.max.x, l.stack.row_top(i + 1)}, with_alpha(t.accent, 0.12f));
    const float gutter = l.plot.min.x - area.min.x;
    float room = label_gutter(gutter, area.width());
    for (const TornadoBar* b : {&p.alone, &p.on_top})
      if (l.values && b->known && b->low < 0)
        room = std::min(room, b->fall.min.x - t.px(12) - text_size(tornado_text(b->low, l.unit).view(), Type::small).x -
                                  area.min.x);
    const float label_y = l.compact ? (p.alone.fall.min.y + p.alone.fall.max.y) / 2 : l.stack.middle(i);
    fit_text(painter, {area.min.x, label_y - small / 2}, rows[p.row].label, room, t.text, Type::small,
             chosen ? Font::bold : Font::sans);
    paint_tornado_bar(painter, p.alone, l.has_on_top ? &p.on_top : nullptr, false, l);
    if (l.has_on_top) paint_tornado_bar(painter, p.on_top, nullptr, true, l);
  }
  painter.line({l.base_px, std::max(l.plot.min.y - t.px(2), area.min.y)}, {l.base_px, l.stack.bottom()}, t.text,
               t.px(1.5f));
  paint_left_out(painter, l.stack, area.min.x, area.max.x, l.plot.max.y);
  if (l.problem.length > 0 && l.axis_lines > 0)
    fit_text(painter, {area.min.x, area.max.y - small}, l.problem.view(), area.width(), t.bad, Type::small);
  const std::int64_t under = hovered ? l.stack.row_at(ImGui::GetIO().MousePos.y) : -1;
  if (under >= 0) tip_tornado(rows[l.rows[static_cast<std::size_t>(under)].row], o);
  if (!clicked) return false;
  const std::int64_t now = under >= 0 ? static_cast<std::int64_t>(l.rows[static_cast<std::size_t>(under)].row) : -1;
  const bool changed = now != view.selected;
  view.selected = now;
  return changed;
}

}  // namespace widgets
