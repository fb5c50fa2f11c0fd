#include "widgets/charts/dot_plot.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

bool fits_axis(double value, AxisKind kind) { return std::isfinite(value) && (!is_log(kind) || value > 0); }

NumberText dot_share_text(double share) { return format(100 * share, "%"); }

DotMark mark_of(double value, const DotPlotLayout& l, AxisKind kind) {
  DotMark mark;
  if (std::isnan(value)) return mark;
  mark.shown = true;
  const float x = fits_axis(value, kind) ? static_cast<float>(l.map.pixel(value))
                                         : (value > 0 ? l.plot.max.x + 1 : l.plot.min.x - 1);
  mark.off_scale = !(x >= l.plot.min.x - 0.5f && x <= l.plot.max.x + 0.5f);
  mark.x = std::clamp(x, l.plot.min.x, l.plot.max.x);
  return mark;
}

void paint_mark(const Painter& painter, const DotMark& mark, const Rect& plot, float y, ImU32 ink, bool filled,
                float radius) {
  if (!mark.shown) return;
  const Theme& t = theme();
  if (mark.off_scale) {
    const float way = mark.x > (plot.min.x + plot.max.x) / 2 ? 1.0f : -1.0f;
    const ImVec2 arrow[] = {
        {mark.x, y}, {mark.x - way * 2 * radius, y - radius}, {mark.x - way * 2 * radius, y + radius}};
    painter.polygon(arrow, ink);
    return;
  }
  if (filled) {
    painter.circle({mark.x, y}, radius, ink);
    return;
  }
  painter.circle({mark.x, y}, radius, t.background);
  painter.ring({mark.x, y}, radius, ink, t.px(1.6f));
}

void paint_dot_head(const Painter& painter, const DotPlotLayout& l, const DotPlotOptions& o, Rect area) {
  const Theme& t = theme();
  const float small = t.type(Type::small), y = area.min.y + small / 2;
  float x = area.min.x + t.px(5);
  const float end = l.share_right > 0 ? l.plot.max.x : area.max.x;
  for (const bool filled : {false, true}) {
    const std::string_view word = filled ? o.measured_label : o.bound_label;
    const float w = t.px(10) + text_size(word, Type::small).x;
    if (x + w > end) break;
    if (filled)
      painter.circle({x, y}, t.px(4), t.muted);
    else
      painter.ring({x, y}, t.px(4), t.muted, t.px(1.6f));
    painter.text({x + t.px(10), area.min.y}, word, t.muted, Type::small);
    x += w + t.px(18);
  }
  const auto head = [&](float right, std::string_view word) {
    if (right > 0 && right - text_size(word, Type::small).x >= x)
      painter.text({right, area.min.y}, word, t.muted, Type::small, Font::sans, Align::right);
  };
  head(l.share_right, "share");
}

void tip_dot(const DotRow& row, const DotPlotOptions& o) {
  Line value;
  if (!std::isnan(row.bound)) value.add(o.bound_label).add(" ").add(format(row.bound, o.unit, 4));
  if (!std::isnan(row.measured))
    value.add(value.length > 0 ? ", " : "").add(o.measured_label).add(" ").add(format(row.measured, o.unit, 4));
  if (std::isfinite(row.measured / row.bound))
    value.add(" (").add(dot_share_text(row.measured / row.bound)).add(" of it)");
  tip(row.label, value.length > 0 ? value.view() : "no value", row.info);
}

void record_dots(Record& record, const char* label, std::span<const DotRow> rows, const DotPlotOptions& o) {
  DataTable table{label, {"row", std::string(o.bound_label), std::string(o.measured_label)}, {}};
  for (const DotRow& r : rows) table.rows.push_back({std::string(r.label), exact(r.bound), exact(r.measured)});
  record.tables.push_back(std::move(table));
}

}  // namespace

void layout_dot_plot(std::span<const DotRow> rows, const DotPlotOptions& o, Rect area, Measure measure,
                     DotPlotLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  out.rows.clear();
  out.problem = {};
  double lo = 0, hi = 0;
  bool any = false;
  float labels = 0, values = 0, shares = 0;
  for (const DotRow& r : rows) {
    labels = std::max(labels, measure(r.label, Type::small));
    for (const double v : {r.bound, r.measured}) {
      if (fits_axis(v, o.axis)) {
        lo = any ? std::min(lo, v) : v;
        hi = any ? std::max(hi, v) : v;
        any = true;
      } else if (!std::isnan(v) && out.problem.length == 0) {
        out.problem.add("\"").add(r.label).add("\" has a value that this axis cannot show; it stands at the edge.");
      }
    }
    if (!std::isnan(r.measured)) values = std::max(values, measure(format(r.measured, o.unit), Type::small));
    if (std::isfinite(r.measured / r.bound))
      shares = std::max(shares, measure(dot_share_text(r.measured / r.bound), Type::small));
  }
  if (!any) {
    lo = is_log(o.axis) ? 1 : 0;
    hi = is_log(o.axis) ? 10 : 1;
  }
  if (!is_log(o.axis)) {
    lo = std::min(lo, 0.0);
    hi = std::max(hi, 0.0);
  }
  out.range = fit_range(o.axis, sane_range(o.axis, {lo, hi}), 0.04);
  const float gutter = label_gutter(labels, area.width());
  const float gap = t.px(12);
  if (shares > 0) shares = std::max(shares, measure("share", Type::small));
  const float inner = area.width() - gutter;
  const bool with_share = shares > 0 && inner - shares - gap >= t.px(70);
  const bool with_values = values > 0 && inner - values - gap - (with_share ? shares + gap : 0) >= t.px(140);
  out.share_right = with_share ? area.max.x : 0.0f;
  out.values_right = with_values ? area.max.x - (with_share ? shares + gap : 0.0f) : 0.0f;
  const float figures = (with_share ? shares + gap : 0.0f) + (with_values ? values + gap : 0.0f);
  out.head = area.height() >= 3 * (small + t.px(6)) ? small + t.px(6) : 0.0f;
  const bool titled = !o.axis_label.empty() || !o.unit.empty();
  out.axis_lines = row_axis_lines(area.height() - out.head, 2 * (small + t.px(2)), titled);
  const float foot =
      row_axis_height(out.axis_lines) + (out.problem.length > 0 && out.axis_lines > 0 ? small + t.px(2) : 0.0f);
  out.plot = {{area.min.x + gutter + t.px(6), area.min.y + out.head},
              {area.max.x - figures - t.px(6), area.max.y - foot}};
  out.plot.max.x = std::max(out.plot.max.x, out.plot.min.x + 1);
  out.plot.max.y = std::max(out.plot.max.y, out.plot.min.y);
  out.map = AxisMap(o.axis, out.range, static_cast<double>(out.plot.min.x), static_cast<double>(out.plot.max.x));
  out.stack = stack_rows(rows.size(), out.plot.min.y, out.plot.max.y, t.px(o.row_px), small + t.px(2));
  const float used = out.stack.bottom() + (out.stack.left_out > 0 ? small + t.px(2) : 0.0f);
  out.plot.max.y = std::min(out.plot.max.y, std::max(used, out.plot.min.y + 1));
  for (std::size_t i = 0; i < out.stack.shown; ++i)
    out.rows.push_back({mark_of(rows[i].bound, out, o.axis), mark_of(rows[i].measured, out, o.axis),
                        rows[i].measured / rows[i].bound});
}

bool draw_dot_plot(const char* label, std::span<const DotRow> rows, DotPlotView& view, const DotPlotOptions& o) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const float needed =
      static_cast<float>(std::max<std::size_t>(rows.size(), 1)) * t.px(o.row_px) + small * 4 + t.px(24);
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : needed}, {t.px(40), t.px(24)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  DotPlotLayout& l = view.layout;
  layout_dot_plot(rows, o, area, measure_text, l);
  const Painter painter = Painter::window();
  if (Record* record = painter.record()) record_dots(*record, label, rows, o);
  if (rows.empty()) {
    paint_nothing(painter, area, "Nothing to show: there are no rows.");
    return false;
  }
  paint_row_axis(painter, {.kind = o.axis, .label = o.axis_label, .unit = o.unit}, l.range, l.map, l.plot, area,
                 l.axis_lines);
  if (l.head > 0) paint_dot_head(painter, l, o, area);
  const std::int64_t under = hovered ? l.stack.row_at(ImGui::GetIO().MousePos.y) : -1;
  const float radius = std::min(t.px(5), l.stack.slot * 0.36f);
  for (std::size_t i = 0; i < l.rows.size(); ++i) {
    const DotRowPlace& p = l.rows[i];
    const float y = l.stack.middle(i), text_y = y - small / 2;
    const auto index = static_cast<std::int64_t>(i);
    if (index == view.selected || index == under)
      painter.rect({area.min.x, l.stack.row_top(i)}, {area.max.x, l.stack.row_top(i + 1)},
                   with_alpha(t.accent, index == view.selected ? 0.14f : 0.07f));
    fit_text(painter, {area.min.x, text_y}, rows[i].label, l.plot.min.x - area.min.x - t.px(12), t.text, Type::small);
    const ImU32 ink = colour(rows[i].tint, t);
    painter.line({l.plot.min.x, y}, {l.plot.max.x, y}, t.grid);
    if (p.bound.shown && p.measured.shown)
      painter.line({p.bound.x, y}, {p.measured.x, y}, with_alpha(ink, 0.45f), std::max(2.0f, radius * 0.7f));
    paint_mark(painter, p.bound, l.plot, y, ink, false, radius);
    paint_mark(painter, p.measured, l.plot, y, ink, true, radius);
    if (l.values_right > 0 && p.measured.shown)
      painter.text({l.values_right, text_y}, format(rows[i].measured, o.unit), t.text, Type::small, Font::sans,
                   Align::right);
    if (l.share_right > 0 && std::isfinite(p.share))
      painter.text({l.share_right, text_y}, dot_share_text(p.share), t.muted, Type::small, Font::sans, Align::right);
  }
  paint_left_out(painter, l.stack, area.min.x, area.max.x, l.plot.max.y);
  if (l.problem.length > 0 && l.axis_lines > 0)
    fit_text(painter, {area.min.x, area.max.y - small}, l.problem.view(), area.width(), t.bad, Type::small);
  if (under >= 0) tip_dot(rows[static_cast<std::size_t>(under)], o);
  if (!clicked) return false;
  const bool changed = under != view.selected;
  view.selected = under;
  return changed;
}

}  // namespace widgets
