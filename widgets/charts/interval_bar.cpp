#include "widgets/charts/interval_bar.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

Line interval_value_text(const IntervalRow& row, std::string_view unit) {
  Line text;
  return std::isfinite(row.value) ? text.add(format(row.value, unit)) : text.add("not known");
}
Line count_text(std::int64_t n) {
  Line text;
  if (n >= 0) text.add("n ").add_integer(n);
  return text;
}

void tip_interval(const IntervalRow& row, const IntervalBarOptions& o) {
  Line value = interval_value_text(row, o.unit);
  if (std::isfinite(row.low) && std::isfinite(row.high))
    value.add(", between ").add(format(row.low, o.unit)).add(" and ").add(format(row.high, o.unit));
  if (std::isfinite(row.goal)) value.add(", ").add(o.goal_label).add(" ").add(format(row.goal, o.unit));
  if (row.n >= 0) value.add(", ").add(count_text(row.n).view());
  tip(row.label, value.view(), row.info);
}

void record_intervals(Record& record, const char* label, std::span<const IntervalRow> rows) {
  DataTable table{label, {"row", "low", "value", "high", "goal", "n"}, {}};
  for (const IntervalRow& r : rows)
    table.rows.push_back({std::string(r.label), exact(r.low), exact(r.value), exact(r.high), exact(r.goal),
                          r.n >= 0 ? std::to_string(r.n) : std::string()});
  record.tables.push_back(std::move(table));
}

void paint_interval(const Painter& painter, const IntervalPlace& p, const Rect& plot, float y, float slot) {
  const Theme& t = theme();
  const float half = std::min(t.px(5), slot * 0.28f);
  painter.rect({plot.min.x, y - half}, {plot.max.x, y + half}, t.grid, t.px(2));
  if (!p.has_value && !p.has_interval)
    hatch(painter, {{plot.min.x, y - half}, {plot.max.x, y + half}}, t.line, t.px(5));
  const ImU32 ink = t.series_at(0);
  if (p.has_interval) {
    painter.rect(p.bar.min, p.bar.max, with_alpha(ink, 0.45f), t.px(2));
    for (const float x : {p.bar.min.x, p.bar.max.x})
      painter.line({x, p.bar.min.y - t.px(1)}, {x, p.bar.max.y + t.px(1)}, ink, t.px(1.4f));
  }
  if (p.has_goal) {
    const float reach = std::min(slot / 2 - 1, half + t.px(4));
    painter.line({p.goal_px, y - reach}, {p.goal_px, y + reach}, t.text, t.px(1.6f));
    const float d = std::min(t.px(4), reach * 0.6f);
    const ImVec2 flag[] = {{p.goal_px - d, y - reach}, {p.goal_px + d, y - reach}, {p.goal_px, y - reach + d}};
    painter.polygon(flag, t.text);
  }
  if (p.has_value) {
    painter.circle({p.value_px, y}, half + t.px(1), t.background);
    painter.circle({p.value_px, y}, half, ink);
  }
}

}  // namespace

void layout_interval_bars(std::span<const IntervalRow> rows, const IntervalBarOptions& o, Rect area, Measure measure,
                          IntervalBarLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small), gap = t.px(12);
  out.rows.clear();
  out.problem = {};
  float labels = 0, values = 0, counts = 0;
  for (const IntervalRow& r : rows) {
    labels = std::max(labels, measure(r.label, Type::small));
    values = std::max(values, measure(interval_value_text(r, o.unit).view(), Type::small));
    counts = std::max(counts, measure(count_text(r.n).view(), Type::small));
    if (r.low > r.high && out.problem.length == 0)
      out.problem.add("The interval of \"").add(r.label).add("\" ends before it starts and is turned around.");
  }
  const float gutter = label_gutter(labels, area.width()), inner = area.width() - gutter;
  const bool with_values = values > 0 && inner - values - gap >= t.px(50);
  const bool with_counts = counts > 0 && inner - counts - gap - (with_values ? values + gap : 0) >= t.px(80);
  out.n_right = with_counts ? area.max.x : 0.0f;
  out.value_right = with_values ? area.max.x - (with_counts ? counts + gap : 0.0f) : 0.0f;
  const float figures = (with_counts ? counts + gap : 0.0f) + (with_values ? values + gap : 0.0f);
  out.axis_lines = !o.axis ? 0 : row_axis_lines(area.height(), 2 * (small + t.px(2)), !o.axis_label.empty());
  const float foot =
      row_axis_height(out.axis_lines) + (out.problem.length > 0 && out.axis_lines > 0 ? small + t.px(2) : 0.0f);
  out.plot = {{area.min.x + gutter + t.px(6), area.min.y}, {area.max.x - figures - t.px(6), area.max.y - foot}};
  out.plot.max.x = std::max(out.plot.max.x, out.plot.min.x + 1);
  out.plot.max.y = std::max(out.plot.max.y, out.plot.min.y);
  out.map = AxisMap(AxisKind::linear, sane_range(AxisKind::linear, {o.lo, o.hi}), static_cast<double>(out.plot.min.x),
                    static_cast<double>(out.plot.max.x));
  out.stack = stack_rows(rows.size(), out.plot.min.y, out.plot.max.y, t.px(o.row_px), small + t.px(2));
  const float used = out.stack.bottom() + (out.stack.left_out > 0 ? small + t.px(2) : 0.0f);
  out.plot.max.y = std::min(out.plot.max.y, std::max(used, out.plot.min.y + 1));
  const auto x = [&](double v) {
    return static_cast<float>(
        std::clamp(out.map.pixel(v), static_cast<double>(out.plot.min.x), static_cast<double>(out.plot.max.x)));
  };
  for (std::size_t i = 0; i < out.stack.shown; ++i) {
    const IntervalRow& r = rows[i];
    IntervalPlace p;
    const float half = std::min(t.px(5), out.stack.slot * 0.28f), y = out.stack.middle(i);
    p.has_interval = std::isfinite(r.low) && std::isfinite(r.high);
    if (p.has_interval) p.bar = {{x(std::min(r.low, r.high)), y - half}, {x(std::max(r.low, r.high)), y + half}};
    p.has_value = std::isfinite(r.value);
    if (p.has_value) p.value_px = x(r.value);
    p.has_goal = std::isfinite(r.goal);
    if (p.has_goal) p.goal_px = x(r.goal);
    out.rows.push_back(p);
  }
}

bool draw_interval_bars(const char* label, std::span<const IntervalRow> rows, IntervalBarView& view,
                        const IntervalBarOptions& o) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const Rect area = rows_canvas(label, o.size, rows.size(), o.row_px, 16);
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  IntervalBarLayout& l = view.layout;
  layout_interval_bars(rows, o, area, measure_text, l);
  const Painter painter = Painter::window();
  if (Record* record = painter.record()) record_intervals(*record, label, rows);
  if (rows.empty()) {
    paint_nothing(painter, area, "Nothing to show: there are no rows.");
    return false;
  }
  if (o.axis)
    paint_row_axis(painter, {.label = o.axis_label, .unit = o.unit}, sane_range(AxisKind::linear, {o.lo, o.hi}), l.map,
                   l.plot, area, l.axis_lines);
  const std::int64_t under = hovered ? l.stack.row_at(ImGui::GetIO().MousePos.y) : -1;
  for (std::size_t i = 0; i < l.rows.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const float y = l.stack.middle(i), text_y = y - small / 2;
    if (index == view.selected || index == under)
      painter.rect({area.min.x, l.stack.row_top(i)}, {area.max.x, l.stack.row_top(i + 1)},
                   with_alpha(t.accent, index == view.selected ? 0.14f : 0.07f));
    fit_text(painter, {area.min.x, text_y}, rows[i].label, l.plot.min.x - area.min.x - t.px(12), t.text, Type::small);
    paint_interval(painter, l.rows[i], l.plot, y, l.stack.slot);
    if (l.value_right > 0)
      painter.text({l.value_right, text_y}, interval_value_text(rows[i], o.unit).view(),
                   l.rows[i].has_value ? t.text : t.muted, Type::small, Font::sans, Align::right);
    if (l.n_right > 0)
      painter.text({l.n_right, text_y}, count_text(rows[i].n).view(), t.muted, Type::small, Font::sans, Align::right);
  }
  paint_left_out(painter, l.stack, area.min.x, area.max.x, l.plot.max.y);
  if (l.problem.length > 0 && l.axis_lines > 0)
    fit_text(painter, {area.min.x, area.max.y - small}, l.problem.view(), area.width(), t.bad, Type::small);
  if (under >= 0) tip_interval(rows[static_cast<std::size_t>(under)], o);
  if (!clicked) return false;
  const bool changed = under != view.selected;
  view.selected = under;
  return changed;
}

}  // namespace widgets
