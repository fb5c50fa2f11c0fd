#include "widgets/charts/port_bars.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widgets {
namespace {

double load_of(const PortRow& r) {
  if (!std::isfinite(r.demand) || !std::isfinite(r.supply) || r.demand < 0 || r.supply < 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (r.supply > 0) return r.demand / r.supply;
  return r.demand > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

Line load_text(double load) {
  Line text;
  if (std::isnan(load)) return text.add("no amount");
  if (std::isinf(load)) return text.add("no supply");
  return text.add(format(100 * load, "%"));
}

void tip_port(const PortRow& row, double load, bool tightest) {
  Line value = load_text(load);
  value.add(": ").add(port_figures(row).view());
  if (tightest) value.add("; the tightest");
  tip(row.label, value.view(), row.info);
}

void record_ports(Record& record, const char* label, std::span<const PortRow> rows) {
  DataTable table{label, {"port", "demand", "supply", "unit"}, {}};
  for (const PortRow& r : rows)
    table.rows.push_back({std::string(r.label), exact(r.demand), exact(r.supply), std::string(r.unit)});
  record.tables.push_back(std::move(table));
}

void paint_port(const Painter& painter, const PortPlace& p, bool tightest) {
  const Theme& t = theme();
  const ImU32 ink = t.series_at(0);
  painter.rect(p.track.min, p.track.max, t.grid, t.px(2));
  if (p.bar.width() > 0) painter.rect(p.bar.min, p.bar.max, tightest ? ink : with_alpha(ink, 0.6f), t.px(2));
  if (p.over.width() > 0) {
    painter.rect(p.over.min, p.over.max, with_alpha(t.bad, 0.35f));
    hatch(painter, p.over, t.bad, t.px(5));
  }
  painter.frame(p.track.min, p.track.max, tightest ? t.text : t.line, t.px(tightest ? 1.6f : 1.0f), t.px(2));
  if (p.beyond_axis) {
    const float y = (p.over.min.y + p.over.max.y) / 2, h = p.over.height() / 2;
    const ImVec2 arrow[] = {{p.over.max.x, y}, {p.over.max.x - h, y - h}, {p.over.max.x - h, y + h}};
    painter.polygon(arrow, t.bad);
  }
}

}  // namespace

Line port_figures(const PortRow& row) {
  // The demand leaves its unit to the supply where both take the same prefix: "15.1 of 5.53 TB/s", "400 GB/s of 3
  // TB/s".
  const NumberParts demand = format_parts(row.demand, row.unit), supply = format_parts(row.supply, row.unit);
  const bool same = demand.unit.view() == supply.unit.view();
  Line text;
  text.add(same ? demand.number : format(row.demand, row.unit));
  return text.add(" of ").add(format(row.supply, row.unit));
}

void layout_port_bars(std::span<const PortRow> rows, const PortBarOptions& o, Rect area, Measure measure,
                      PortBarLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small), gap = t.px(12);
  out.rows.clear();
  out.problem = {};
  out.tightest = -1;
  double most = 0;
  float labels = 0, loads = 0, figures = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double load = load_of(rows[i]);
    labels = std::max(labels, measure(rows[i].label, Type::small));
    loads = std::max(loads, measure(load_text(load).view(), Type::small));
    figures = std::max(figures, measure(port_figures(rows[i]).view(), Type::small));
    if (load > most) {
      most = load;
      out.tightest = static_cast<std::int64_t>(i);
    }
    if (std::isnan(load) && out.problem.length == 0)
      out.problem.add("\"").add(rows[i].label).add("\" has a demand or a supply that is no finite amount.");
  }
  const float mark = t.px(14);  // the triangle in front of the tightest
  const float gutter = label_gutter(labels, area.width()) + mark, inner = area.width() - gutter;
  const bool with_loads = inner - loads - gap >= t.px(50);
  const bool with_figures = with_loads && inner - loads - figures - 2 * gap >= t.px(140);
  out.load_right = with_loads && !rows.empty() ? area.max.x - (with_figures ? figures + gap : 0.0f) : 0.0f;
  out.figures_right = with_figures && !rows.empty() ? area.max.x : 0.0f;
  const float right = (with_loads ? loads + gap : 0.0f) + (with_figures ? figures + gap : 0.0f);
  out.axis_lines = row_axis_lines(area.height(), 2 * (small + t.px(2)), !o.axis_label.empty());
  const float foot =
      row_axis_height(out.axis_lines) + (out.problem.length > 0 && out.axis_lines > 0 ? small + t.px(2) : 0.0f);
  out.plot = {{area.min.x + gutter + t.px(4), area.min.y}, {area.max.x - right - t.px(4), area.max.y - foot}};
  out.plot.max.x = std::max(out.plot.max.x, out.plot.min.x + 1);
  out.plot.max.y = std::max(out.plot.max.y, out.plot.min.y);
  out.range = {0, most > 1 ? 100 * std::min(most * 1.05, 2.0) : 100.0};
  out.map =
      AxisMap(AxisKind::linear, out.range, static_cast<double>(out.plot.min.x), static_cast<double>(out.plot.max.x));
  out.stack = stack_rows(rows.size(), out.plot.min.y, out.plot.max.y, t.px(o.row_px), small + t.px(2));
  const float used = out.stack.bottom() + (out.stack.left_out > 0 ? small + t.px(2) : 0.0f);
  out.plot.max.y = std::min(out.plot.max.y, std::max(used, out.plot.min.y + 1));
  const float full = std::round(static_cast<float>(out.map.pixel(100)));
  for (std::size_t i = 0; i < out.stack.shown; ++i) {
    PortPlace p{.row = i};
    if (i + 1 == out.stack.shown && out.tightest >= static_cast<std::int64_t>(out.stack.shown))
      p.row = static_cast<std::size_t>(out.tightest);
    p.load = load_of(rows[p.row]);
    const float inset = std::min(t.px(5), out.stack.slot * 0.2f);
    const float top = out.stack.row_top(i) + inset, bottom = out.stack.row_top(i + 1) - inset;
    p.track = {{out.plot.min.x, top}, {full, bottom}};
    const float end = p.load <= 1 ? std::round(static_cast<float>(out.map.pixel(100 * p.load))) : full;
    p.bar = {{out.plot.min.x, top}, {std::isnan(p.load) || p.load <= 0 ? out.plot.min.x : end, bottom}};
    p.over = {{full, top}, {full, bottom}};
    if (p.load > 1) {
      p.beyond_axis = !(100 * p.load <= out.range.hi);
      p.over.max.x = p.beyond_axis ? out.plot.max.x : static_cast<float>(out.map.pixel(100 * p.load));
    }
    out.rows.push_back(p);
  }
}

bool draw_port_bars(const char* label, std::span<const PortRow> rows, PortBarView& view, const PortBarOptions& o) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const Rect area = rows_canvas(label, o.size, rows.size(), o.row_px, 16);
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  PortBarLayout& l = view.layout;
  layout_port_bars(rows, o, area, measure_text, l);
  const Painter painter = Painter::window();
  if (Record* record = painter.record()) record_ports(*record, label, rows);
  if (rows.empty()) {
    paint_nothing(painter, area, "Nothing to show: there are no ports.");
    return false;
  }
  paint_row_axis(painter, {.label = o.axis_label, .unit = "%"}, l.range, l.map, l.plot, area, l.axis_lines);
  const std::int64_t place = hovered ? l.stack.row_at(ImGui::GetIO().MousePos.y) : -1;
  const std::int64_t under = place >= 0 ? static_cast<std::int64_t>(l.rows[static_cast<std::size_t>(place)].row) : -1;
  for (std::size_t i = 0; i < l.rows.size(); ++i) {
    const PortPlace& p = l.rows[i];
    const auto index = static_cast<std::int64_t>(p.row);
    const bool tightest = index == l.tightest;
    const float y = l.stack.middle(i), text_y = y - small / 2;
    if (index == view.selected || index == under)
      painter.rect({area.min.x, l.stack.row_top(i)}, {area.max.x, l.stack.row_top(i + 1)},
                   with_alpha(t.accent, index == view.selected ? 0.14f : 0.07f));
    const Font font = tightest ? Font::bold : Font::sans;
    if (tightest) {
      const float d = std::min(t.px(4), l.stack.slot * 0.3f), x = area.min.x + t.px(2);
      const ImVec2 pointer[] = {{x, y - d}, {x + 2 * d, y}, {x, y + d}};
      painter.polygon(pointer, t.text);
    }
    fit_text(painter, {area.min.x + t.px(14), text_y}, rows[p.row].label, l.plot.min.x - area.min.x - t.px(22), t.text,
             Type::small, font);
    paint_port(painter, p, tightest);
    if (l.load_right > 0)
      painter.text({l.load_right, text_y}, load_text(p.load).view(), p.load > 1 ? t.bad : t.text, Type::small,
                   Font::sans, Align::right);
    if (l.figures_right > 0)
      painter.text({l.figures_right, text_y}, port_figures(rows[p.row]).view(), t.muted, Type::small, Font::sans,
                   Align::right);
  }
  paint_left_out(painter, l.stack, area.min.x, area.max.x, l.plot.max.y);
  if (l.problem.length > 0 && l.axis_lines > 0)
    fit_text(painter, {area.min.x, area.max.y - small}, l.problem.view(), area.width(), t.bad, Type::small);
  if (place >= 0)
    tip_port(rows[static_cast<std::size_t>(under)], l.rows[static_cast<std::size_t>(place)].load, under == l.tightest);
  if (!clicked) return false;
  const bool changed = under != view.selected;
  view.selected = under;
  return changed;
}

}  // namespace widgets
