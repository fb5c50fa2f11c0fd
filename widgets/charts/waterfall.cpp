#include "widgets/charts/waterfall.h"

#include <algorithm>
#include <cmath>

#include "widgets/charts/stacked_bar.h"

namespace widgets {
namespace {

double after_step(double before, double value, WaterfallRule rule) {
  const double after = rule == WaterfallRule::add ? before + value : before * value;
  return std::isfinite(after) ? after : before;
}

std::string_view row_label(std::size_t row, std::span<const WaterfallStep> steps, const WaterfallOptions& o) {
  return row == 0 ? o.start_label : row <= steps.size() ? steps[row - 1].label : o.end_label;
}

/// The figure of a row; a step adds what is left after it.
Line row_text(std::size_t row, const WaterfallLayout& l, std::span<const WaterfallStep> steps,
              const WaterfallOptions& o) {
  Line text;
  if (row == 0) return text.add(format(l.rows[0].after, o.unit));
  if (row <= steps.size()) return step_text(steps[row - 1], o);
  text.add(format(l.rows[row].after, o.unit));
  if (!std::isfinite(o.measured)) return text;
  text.add(", measured ").add(format(o.measured, o.unit));
  const double residual = residual_of(l.rows[row].after, o.measured);
  if (std::isfinite(residual)) text.add(residual >= 0 ? " (+" : " (").add(format(100 * residual, "%", 2)).add(")");
  return text;
}

}  // namespace

Line step_text(const WaterfallStep& step, const WaterfallOptions& o) {
  Line text;
  if (o.rule == WaterfallRule::multiply) return text.add("\xC3\x97 ").add(format(step.value, "", 3));
  return text.add(step.value > 0 ? "+" : "").add(format(step.value, o.unit));
}

void layout_waterfall(double start, std::span<const WaterfallStep> steps, const WaterfallOptions& o, Rect area,
                      Measure measure, WaterfallLayout& out) {
  const Theme& t = theme();
  out.rows.clear();
  out.problem = {};
  if (!std::isfinite(start)) {
    out.problem.add("The start is not a finite number, so there is nothing to take from: 0 is shown.");
    start = 0;
  }
  double now = start, low = std::min(0.0, start), high = std::max(0.0, start);
  if (std::isfinite(o.measured)) high = std::max(high, o.measured), low = std::min(low, o.measured);
  const auto add = [&](double before, double after) {
    out.rows.push_back({before, after, {}, 0, 0, after > before});
    low = std::min(low, after);
    high = std::max(high, after);
  };
  add(0, start);
  for (const WaterfallStep& s : steps) {
    if (!std::isfinite(s.value) && out.problem.length == 0)
      out.problem.add("\"").add(s.label).add("\" is not a finite number and changes nothing here.");
    const double next = std::isfinite(s.value) ? after_step(now, s.value, o.rule) : now;
    add(now, next);
    now = next;
  }
  add(0, now);

  float labels = 0, figures = 0;
  for (std::size_t r = 0; r < out.rows.size(); ++r) {
    labels = std::max(labels, measure(row_label(r, steps, o), Type::small));
    figures = std::max(figures, measure(row_text(r, out, steps, o).view(), Type::small));
  }
  // Room beyond the largest value, but not into the next multiple of the unit: 989 TFLOP/s is no axis of PFLOP/s.
  const bool next_unit = unit_scale(high * 1.02, o.unit).factor > unit_scale(high, o.unit).factor;
  const double pad = next_unit ? 0 : (high - low) * 0.02;
  out.range = high > low ? Range{low < 0 ? low - pad : 0.0, high + (high > 0 ? pad : 0.0)} : Range{0, 1};
  if (!std::isfinite(out.range.hi - out.range.lo)) out.range = {std::max(low, -1e300), std::min(high, 1e300)};
  const float left = std::min(labels + t.px(12), area.width() * 0.4f),
              right = std::min(figures + t.px(12), area.width() * 0.4f);
  out.plot = {{area.min.x + left, area.min.y}, {area.max.x - right, area.max.y - t.type(Type::small) - t.px(8)}};
  out.plot.max.x = std::max(out.plot.max.x, out.plot.min.x + 1);
  out.plot.max.y = std::max(out.plot.max.y, out.plot.min.y + 1);
  out.map = AxisMap(o.axis, out.range, static_cast<double>(out.plot.min.x), static_cast<double>(out.plot.max.x));

  const float slot = std::min(t.px(o.row_px), out.plot.height() / static_cast<float>(out.rows.size()));
  for (std::size_t r = 0; r < out.rows.size(); ++r) {
    WaterfallRow& row = out.rows[r];
    row.row_top = out.plot.min.y + slot * static_cast<float>(r);
    row.row_bottom = row.row_top + slot;
    const auto x = [&](double value) {
      return static_cast<float>(
          std::clamp(out.map.pixel(value), static_cast<double>(out.plot.min.x), static_cast<double>(out.plot.max.x)));
    };
    const float a = x(std::min(row.before, row.after)), b = x(std::max(row.before, row.after));
    const float inset = std::min(t.px(5), slot * 0.15f);
    row.bar = {{a, row.row_top + inset}, {std::max(b, a + 1.0f), row.row_bottom - inset}};
  }
}

namespace {

/// What a row is: the start, one of the steps, or the end.
struct RowKind {
  bool step, last;
};
RowKind kind_of(std::size_t row, const WaterfallLayout& l) {
  return {row > 0 && row + 1 < l.rows.size(), row + 1 == l.rows.size()};
}

void paint_waterfall_axis(const Painter& painter, const WaterfallLayout& l, const WaterfallOptions& o) {
  const Theme& t = theme();
  AxisTicks ticks;
  layout_ticks({.kind = o.axis, .unit = o.unit}, l.range, l.map,
               {[](std::string_view s) { return measure_text(s, Type::small); }, t.type(Type::small)}, ticks);
  const float bottom = l.rows.back().row_bottom;
  for (const Tick& tick : ticks.major()) {
    painter.line({static_cast<float>(tick.pixel), l.plot.min.y}, {static_cast<float>(tick.pixel), bottom}, t.grid);
    painter.text({static_cast<float>(tick.pixel), bottom + t.px(3)}, tick.label, t.muted, Type::small, Font::mono,
                 Align::center);
  }
  painter.text({l.plot.max.x + t.px(10), bottom + t.px(3)}, ticks.unit, t.muted, Type::small);
}

void paint_row(const Painter& painter, const WaterfallLayout& l, std::size_t r, std::span<const WaterfallStep> steps,
               const WaterfallOptions& o, Rect area, bool selected) {
  const Theme& t = theme();
  const WaterfallRow& row = l.rows[r];
  const auto [step, last] = kind_of(r, l);
  const float y = (row.row_top + row.row_bottom - t.type(Type::small)) / 2;
  painter.rect(row.bar.min, row.bar.max,
               colour(step   ? steps[r - 1].tint
                      : last ? o.end_tint
                             : o.start_tint,
                      t),
               t.px(2));
  if (step && !row.rises) hatch(painter, row.bar, with_alpha(t.background, 0.35f), t.px(6));  // what is lost
  // Idle is as pale as the ground: an edge tells it from nothing.
  if (step && steps[r - 1].tint == Tint(Meaning::idle))
    painter.frame(row.bar.min, row.bar.max, with_alpha(t.muted, 0.6f), t.px(1), t.px(2));
  if (selected) painter.frame(row.bar.min, row.bar.max, t.text, t.px(2), t.px(2));
  if (!last) {
    const auto x = static_cast<float>(l.map.pixel(row.after));
    painter.line({x, row.bar.max.y}, {x, l.rows[r + 1].bar.min.y}, t.muted);
  }
  const float label_right = l.plot.min.x - t.px(10);
  fit_text(painter, {label_right, y}, row_label(r, steps, o), label_right - area.min.x, step ? t.muted : t.text,
           Type::small, Font::sans, Align::right);
  float end = row.bar.max.x + t.px(7);
  if (last && std::isfinite(o.measured)) end = std::max(end, static_cast<float>(l.map.pixel(o.measured)) + t.px(11));
  fit_text(painter, {end, y}, row_text(r, l, steps, o).view(), area.max.x - end, t.text, Type::small,
           step ? Font::sans : Font::bold);
}

/// A line across the last bar with a diamond over it.
void paint_measured(const Painter& painter, const WaterfallLayout& l, double measured) {
  const Theme& t = theme();
  const auto x = static_cast<float>(l.map.pixel(measured));
  const Rect& bar = l.rows.back().bar;
  painter.line({x, bar.min.y - t.px(4)}, {x, bar.max.y + t.px(4)}, t.text, t.px(2));
  const float d = t.px(5), y = bar.min.y - t.px(4);
  const ImVec2 diamond[] = {{x - d, y}, {x, y - d}, {x + d, y}, {x, y + d}};
  painter.polygon(diamond, t.text);
}

void tip_row(const WaterfallLayout& l, std::size_t r, std::span<const WaterfallStep> steps, const WaterfallOptions& o) {
  const auto [step, last] = kind_of(r, l);
  Line value;
  value.add(row_text(r, l, steps, o).view());
  if (step)
    value.add(": ").add(format(l.rows[r].before, o.unit, 4)).add(" to ").add(format(l.rows[r].after, o.unit, 4));
  tip(row_label(r, steps, o), value.view(), step ? steps[r - 1].info : last ? o.measured_source : std::string_view{});
}

void record_waterfall(Record& record, const char* label, const WaterfallLayout& l, std::span<const WaterfallStep> steps,
                      const WaterfallOptions& o) {
  DataTable table{
      label, {"step", o.rule == WaterfallRule::add ? "change" : "factor", "after (" + std::string(o.unit) + ")"}, {}};
  for (std::size_t r = 0; r < l.rows.size(); ++r)
    table.rows.push_back({std::string(row_label(r, steps, o)), kind_of(r, l).step ? exact(steps[r - 1].value) : "",
                          exact(l.rows[r].after)});
  record.tables.push_back(std::move(table));
}

}  // namespace

double draw_waterfall(const char* label, double start, std::span<const WaterfallStep> steps, WaterfallView& view,
                      const WaterfallOptions& o) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const float needed =
      static_cast<float>(steps.size() + 2) * t.px(o.row_px) + small + t.px(8) + (o.unit.empty() ? 0.0f : small);
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : needed}, {t.px(120), t.px(60)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  WaterfallLayout& l = view.layout;
  layout_waterfall(start, steps, o, area, measure_text, l);

  const Painter painter = Painter::window();
  paint_waterfall_axis(painter, l, o);
  for (std::size_t r = 0; r < l.rows.size(); ++r)
    paint_row(painter, l, r, steps, o, area, static_cast<std::int64_t>(r) == view.selected);
  if (std::isfinite(o.measured)) paint_measured(painter, l, o.measured);
  if (l.problem.length > 0)
    fit_text(painter, {area.min.x, area.max.y - small}, l.problem.view(), area.width(), t.bad, Type::small);
  if (Record* record = painter.record()) record_waterfall(*record, label, l, steps, o);

  const float y = ImGui::GetIO().MousePos.y;
  const auto under = std::find_if(l.rows.begin(), l.rows.end(), [&](const WaterfallRow& row) {
    return hovered && y >= row.row_top && y < row.row_bottom;
  });
  const bool any = under != l.rows.end();
  if (any) tip_row(l, static_cast<std::size_t>(under - l.rows.begin()), steps, o);
  if (clicked) view.selected = any ? under - l.rows.begin() : -1;
  return l.rows.back().after;
}

}  // namespace widgets
