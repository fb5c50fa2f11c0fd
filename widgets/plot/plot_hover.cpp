#include <algorithm>
#include <cmath>
#include <cstdio>

#include "widgets/base/press_area.h"
#include "widgets/plot/plot_paint.h"

/// Legend, crosshair and what hover says; and the same data as tables for CSV.
namespace widgets {
namespace {

struct Nearest {
  float distance2 = HUGE_VALF;
  std::string_view name, info;
  double x = 0, y = 0, y2 = 0;
  bool has_x = true, has_y = true, has_y2 = false;
  ImVec2 at{};
  ImU32 colour = 0;
};

void nearest_series(const PlotEnd& plot, ImVec2 mouse, Nearest& best) {
  PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  using Kind = PlotSeries::Kind;
  for (std::size_t i = 0; i < s.series.size(); ++i) {
    const PlotSeries& series = s.series[i];
    if (series.hidden || series.kind == Kind::errors) continue;
    const std::vector<PlotPoint>& points = s.caches[i].points;
    const auto offer = [&](float d2, ImVec2 at, double x, double y, std::string_view name) {
      if (d2 >= best.distance2) return;
      best = {
          .distance2 = d2,
          .name = name,
          .info = text_of(s, series.info),
          .x = x,
          .y = y,
          .at = at,
          .colour = series.colour,
      };
    };
    const std::string_view label = text_of(s, series.label);
    const bool bars = series.kind == Kind::bars;
    const float half = bars ? bar_half_px(s, series, f) : 0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double px = f.x.pixel(points[k].x), py = f.y.pixel(points[k].y);
      if (!(std::abs(px) < 1e6) || !(std::abs(py) < 1e6)) continue;
      const ImVec2 at{static_cast<float>(px), static_cast<float>(py)};
      if (bars) {
        const float x = at.x + series.offset * half * 2;
        const float base = static_cast<float>(std::clamp(f.y.pixel(points[k].y2), f.y.end() - 2, f.y.start() + 2));
        if (std::abs(mouse.x - x) > half || mouse.y < std::min(at.y, base) - 2 || mouse.y > std::max(at.y, base) + 2)
          continue;
        offer(0, {x, at.y}, points[k].x, points[k].y, label);
        if (best.distance2 == 0 && series.has_y2) best.y -= points[k].y2;  // a layer's own part, not the sum under it
        continue;
      }
      const float d2 = (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
      const bool named = k < series.point_labels;
      // A vertex wins over the line through it: its values are given ones, not interpolated.
      offer(d2 <= 64 ? d2 * 0.25f : d2, at, points[k].x, points[k].y,
            named ? text_of(s, s.point_labels[series.first_point_label + k]) : label);
      if (series.kind == Kind::scatter || k == 0) continue;
      const double qx = f.x.pixel(points[k - 1].x), qy = f.y.pixel(points[k - 1].y);
      double ax = qx, ay = qy, bx = px, by = series.kind == Kind::steps ? qy : py;
      if (!clip_segment(ax, ay, bx, by, f.area)) continue;
      ImVec2 on;
      const float to_line = nearest_on_segment(mouse, {static_cast<float>(ax), static_cast<float>(ay)},
                                               {static_cast<float>(bx), static_cast<float>(by)}, on);
      offer(to_line, on, f.x.value(static_cast<double>(on.x)), f.y.value(static_cast<double>(on.y)), label);
    }
  }
}

void nearest_mark(const PlotEnd& plot, ImVec2 mouse, Nearest& best) {
  const PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  using Kind = PlotMark::Kind;
  for (const PlotMark& m : s.marks) {
    if (m.label.length == 0) continue;
    const double px = f.x.pixel((m.x + m.x2) / 2), py = f.y.pixel((m.y + m.y2) / 2);
    const bool vertical = m.kind == Kind::vertical || m.kind == Kind::handle_x,
               horizontal = m.kind == Kind::horizontal || m.kind == Kind::handle_y;
    const ImVec2 at{horizontal ? mouse.x : static_cast<float>(std::clamp(px, -1e5, 1e5)),
                    vertical ? mouse.y : static_cast<float>(std::clamp(py, -1e5, 1e5))};
    const float d2 = (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
    if (!(d2 <= 36) || !(d2 < best.distance2)) continue;
    best = {
        .distance2 = d2,
        .name = text_of(s, m.label),
        .info = {},
        .x = (m.x + m.x2) / 2,
        .y = (m.y + m.y2) / 2,
        .has_x = !horizontal,
        .has_y = !vertical,
        .at = at,
        .colour = m.colour,
    };
  }
}

void say(std::string_view axis, const AxisSpec& spec, double value) {
  const NumberText v = axis_value(spec, value);
  ImGui::TextUnformatted(v.chars, v.chars + v.length);
  if (axis.empty()) return;
  ImGui::SameLine();
  ImGui::PushStyleColor(ImGuiCol_Text, theme().muted);
  ImGui::TextUnformatted(axis.data(), axis.data() + axis.size());
  ImGui::PopStyleColor();
}

void tooltip(const PlotEnd& plot, const Nearest& n) {
  if (!ImGui::BeginTooltip()) return;
  if (!n.name.empty()) ImGui::TextUnformatted(n.name.data(), n.name.data() + n.name.size());
  if (n.has_x) say(plot.options.x.label, plot.options.x, n.x);
  if (n.has_y) say(plot.options.y.label, plot.options.y, n.y);
  if (!n.info.empty()) {
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + theme().px(320));
    ImGui::PushStyleColor(ImGuiCol_Text, theme().muted);
    ImGui::TextUnformatted(n.info.data(), n.info.data() + n.info.size());
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
  }
  ImGui::EndTooltip();
}

/// A value in a small box on the axis, kept inside the plot.
void axis_chip(const PlotEnd& plot, const Painter& painter, ImVec2 at, std::string_view text, bool on_x) {
  const Theme& t = theme();
  const ImVec2 size = text_size(text, Type::small);
  ImVec2 min = on_x ? ImVec2{at.x - size.x / 2, at.y + 2} : ImVec2{at.x - size.x - 6, at.y - size.y / 2};
  min.x = std::clamp(min.x, plot.outer.min.x + 3, std::max(plot.outer.max.x - size.x - 3, plot.outer.min.x + 3));
  painter.rect({min.x - 4, min.y - 1}, {min.x + size.x + 4, min.y + size.y + 1}, t.card, t.px(3));
  painter.text(min, text, t.text, Type::small);
}

}  // namespace

float legend(const PlotEnd& plot, float top, const Painter* painter) {
  PlotScratch& s = plot.scratch();
  const Theme& t = theme();
  int entries = 0;
  for (const PlotSeries& series : s.series) entries += series.legend_index >= 0 ? 1 : 0;
  if (!plot.options.legend || (entries < 2 && plot.view.hidden == 0)) return 0;
  const float row = t.type(Type::small) * 1.55f, swatch = t.px(14), gap = t.px(6), space = t.px(16);
  const float left = plot.outer.min.x + s.area_from_corner.min.x,
              right = plot.outer.max.x;  // of the frame before, which is where it stays
  ImVec2 at{left, top};
  for (const PlotSeries& series : s.series) {
    if (series.legend_index < 0) continue;
    const std::string_view label = text_of(s, series.label);
    const float width =
        swatch + gap + std::min(text_size(label, Type::small).x, std::max(right - left - swatch - gap, 1.0f));
    if (at.x > left && at.x + width > right) at = {left, at.y + row};
    if (painter) {
      const float middle = at.y + row / 2;
      bool hot = false;
      if (plot.options.interactive) {
        char name[96];
        const std::size_t n = std::min(label.size(), sizeof name - 1);
        std::copy_n(label.begin(), n, name);
        name[n] = '\0';
        ImGui::PushID(series.legend_index);
        ImGui::SetCursorScreenPos(at);
        if (press_area(name, {width, row})) plot.view.hidden ^= std::uint64_t{1} << series.legend_index;
        hot = ImGui::IsItemHovered() || ImGui::IsItemFocused();
        ImGui::PopID();
      }
      const ImU32 colour = series.hidden ? t.line : series.colour;
      const ImVec2 centre{at.x + swatch / 2, middle};
      if (series.kind == PlotSeries::Kind::scatter)
        paint_marker(*painter, centre, series.marker, t.px(4.5f), colour);
      else if (series.kind == PlotSeries::Kind::bars || series.kind == PlotSeries::Kind::area)
        painter->rect({at.x + t.px(2), middle - t.px(4)}, {at.x + swatch - t.px(2), middle + t.px(4)}, colour, t.px(2));
      else if (series.dashed)
        painter->dashed_line({at.x, middle}, {at.x + swatch, middle}, colour, t.px(2), t.px(4));
      else
        painter->line({at.x, middle}, {at.x + swatch, middle}, colour, t.px(series.width));
      // Struck through as well as grey: colour alone must not say that a series is off.
      const float text_y = middle - t.type(Type::small) / 2;
      const float drawn = painter->text_fit({at.x + swatch + gap, text_y}, label, right - at.x - swatch - gap,
                                            hot || !series.hidden ? t.text : t.muted, Type::small);
      if (series.hidden) painter->line({at.x + swatch + gap, middle}, {at.x + swatch + gap + drawn, middle}, t.muted);
    }
    at.x += width + space;
  }
  return at.y + row - top;
}

void paint_hover(const PlotEnd& plot, const Painter& painter) {
  const PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (s.boxing) {
    painter.clip(f.area.min, f.area.max);
    const ImVec2 lo{std::min(s.box_from.x, mouse.x), std::min(s.box_from.y, mouse.y)},
        hi{std::max(s.box_from.x, mouse.x), std::max(s.box_from.y, mouse.y)};
    painter.rect(lo, hi, with_alpha(t.accent, 0.15f));
    painter.frame(lo, hi, t.accent);
    painter.unclip();
    return;
  }
  if (!plot.hovered || !plot.options.crosshair || !f.area.contains(mouse)) return;
  painter.dashed_line({mouse.x, f.area.min.y}, {mouse.x, f.area.max.y}, with_alpha(t.muted, 0.6f), 1, t.px(3));
  painter.dashed_line({f.area.min.x, mouse.y}, {f.area.max.x, mouse.y}, with_alpha(t.muted, 0.6f), 1, t.px(3));
  axis_chip(plot, painter, {mouse.x, f.area.max.y},
            axis_value(plot.options.x, f.x.value(static_cast<double>(mouse.x)), 3), true);
  axis_chip(plot, painter, {f.area.min.x, mouse.y},
            axis_value(plot.options.y, f.y.value(static_cast<double>(mouse.y)), 3), false);
  Nearest best;
  nearest_mark(plot, mouse, best);
  nearest_series(plot, mouse, best);
  const float reach = t.px(24);
  if (!(best.distance2 <= reach * reach)) return;
  painter.ring(best.at, t.px(6), best.colour, t.px(2));
  tooltip(plot, best);
}

void record_tables(const PlotEnd& plot, Record& record) {
  const PlotScratch& s = plot.scratch();
  const auto column = [](const AxisSpec& a, std::string_view fallback) {
    std::string name(a.label.empty() ? fallback : a.label);
    if (!a.unit.empty()) name += " (" + std::string(a.unit) + ")";
    return name;
  };
  const auto cell = [](double v) {
    char text[40];
    return std::isfinite(v) ? std::string(text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.17g", v)))
                            : std::string();
  };
  for (const PlotSeries& series : s.series) {
    if (series.hidden) continue;
    DataTable table;
    table.name = text_of(s, series.label);
    table.columns = {column(plot.options.x, "x"), column(plot.options.y, "y")};
    if (series.has_y2) table.columns.push_back("from " + table.columns[1]);
    if (series.point_labels > 0) table.columns.push_back("name");
    const auto xs = values_of(s, series, 0), ys = values_of(s, series, 1), y2 = values_of(s, series, 2);
    for (std::size_t i = 0; i < series.n; ++i) {
      std::vector<std::string> row{cell(xs[i]), cell(ys[i])};
      if (series.has_y2) row.push_back(cell(y2[i]));
      if (series.point_labels > 0)
        row.push_back(i < series.point_labels ? std::string(text_of(s, s.point_labels[series.first_point_label + i]))
                                              : std::string());
      table.rows.push_back(std::move(row));
    }
    record.tables.push_back(std::move(table));
  }
}

}  // namespace widgets
