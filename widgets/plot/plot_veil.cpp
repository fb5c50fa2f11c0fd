#include "widgets/plot/plot_veil.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/shorten.h"
#include "widgets/plot/draw_curve.h"
#include "widgets/plot/plot_paint.h"

namespace widgets {
namespace {

struct VeiledAxis {
  AxisKind kind = AxisKind::linear;
  Line label, unit;
  bool drawn = true, binary = false;
};
struct VeiledPoints {
  std::size_t first = 0, count = 0;
  Marker marker = Marker::circle;
  float radius = 0;  ///< design pixels; of a line its width
  ImU32 colour = 0;
  bool line = false;
};
struct VeiledPlot {
  Box outer{};
  VeiledAxis x, y;
  std::size_t first_group = 0, groups = 0;
};

bool gathering = false;
std::array<VeiledPlot, 12> noted;
std::size_t noted_count = 0;
std::vector<VeiledPoints> noted_groups;
std::vector<PlotPoint> noted_points;

VeiledAxis axis_of(const AxisSpec& spec, bool drawn) {
  VeiledAxis axis{is_category(spec) ? AxisKind::category : spec.kind, {}, {}, drawn, spec.binary};
  axis.label.add(spec.label);
  axis.unit.add(spec.unit);
  return axis;
}

/// The input that this axis is over; null where it shows something else, of which no range is given.
const GivenAxis* given_on(const VeiledAxis& axis, std::span<const GivenAxis> given) {
  if (axis.label.length == 0 || axis.kind == AxisKind::category) return nullptr;
  const auto at = std::find_if(given.begin(), given.end(), [&](const GivenAxis& g) {
    return same_letters(g.label, axis.label.view()) && g.unit == axis.unit.view();
  });
  if (at == given.end() || !(at->range.lo < at->range.hi) || (is_log(axis.kind) && !(at->range.lo > 0))) return nullptr;
  return &*at;
}

/// Even lines that name no value, so that they say nothing of the range.
constexpr int even_lines = 5;

void paint_even_grid(const Painter& p, const Box& a, bool along_x) {
  for (int i = 1; i < even_lines; ++i) {
    const float share = static_cast<float>(i) / even_lines;
    if (along_x) {
      const float x = std::floor(a.min.x + share * a.width()) + 0.5f;
      p.line({x, a.min.y}, {x, a.max.y}, theme().grid);
    } else {
      const float y = std::floor(a.min.y + share * a.height()) + 0.5f;
      p.line({a.min.x, y}, {a.max.x, y}, theme().grid);
    }
  }
}

/// The axis's name with the unit that it is described in: "attainable (FLOP/s)".
NumberText plain_title(const VeiledAxis& axis) {
  Line words;
  words.add(axis.label.view());
  if (axis.unit.length > 0) words.add(axis.label.length > 0 ? " (" : "(").add(axis.unit.view()).add(")");
  NumberText title;
  title.length = std::min(words.length, sizeof title.chars - 1);
  std::copy_n(words.chars, title.length, title.chars);
  return title;
}

/// What the given points span on an axis; nothing where there are none, or they say nothing of a range.
Range span_of_points(const VeiledPlot& plot, const VeiledAxis& axis, bool along_x) {
  RangeFinder found{.positive_only = is_log(axis.kind)};
  for (std::size_t g = 0; g < plot.groups; ++g) {
    const VeiledPoints& group = noted_groups[plot.first_group + g];
    for (std::size_t i = 0; i < group.count; ++i) {
      const PlotPoint& p = noted_points[group.first + i];
      found.add(along_x ? p.x : p.y);
    }
  }
  if (!found.any() || axis.kind == AxisKind::category) return {0, 0};
  // A single share says nothing of a range: it stands between none and all.
  if (found.lo == found.hi && axis.unit.view() == "%" && found.lo >= 0 && found.hi <= 100) return {0, 100};
  return sane_range(axis.kind, fit_range(axis.kind, {found.lo, found.hi}, 0.07));
}

void paint_given_points(const Painter& p, const VeiledPlot& plot, const PlotFrame& f) {
  p.clip(f.area.min, f.area.max);
  for (std::size_t g = 0; g < plot.groups; ++g) {
    const VeiledPoints& group = noted_groups[plot.first_group + g];
    ImVec2 before{};
    for (std::size_t i = 0; i < group.count; ++i) {
      const PlotPoint& point = noted_points[group.first + i];
      const ImVec2 at{static_cast<float>(f.x.pixel(point.x)), static_cast<float>(f.y.pixel(point.y))};
      if (group.line && i > 0) p.line(before, at, group.colour, theme().px(group.radius));
      if (!group.line && f.area.contains(at)) paint_marker(p, at, group.marker, theme().px(group.radius), group.colour);
      before = at;
    }
  }
  p.unclip();
}

void paint_one(const Painter& p, const VeiledPlot& plot, std::span<const GivenAxis> given) {
  const Theme& t = theme();
  // An axis has a range where an input gives one, or else where points that are given lie on it.
  const GivenAxis *gx = given_on(plot.x, given), *gy = given_on(plot.y, given);
  GivenAxis of_points_x{.value = std::nan("")}, of_points_y = of_points_x;
  of_points_x.range = span_of_points(plot, plot.x, true);
  of_points_y.range = span_of_points(plot, plot.y, false);
  if (!gx && of_points_x.range.lo < of_points_x.range.hi) gx = &of_points_x;
  if (!gy && of_points_y.range.lo < of_points_y.range.hi) gy = &of_points_y;
  DrawCurveSpec spec;
  const auto axis = [](const VeiledAxis& a, const GivenAxis* g) {
    return AxisSpec{.kind = g ? a.kind : AxisKind::linear,
                    .label = a.label.view(),
                    .unit = g ? a.unit.view() : std::string_view(),
                    .binary = a.binary};
  };
  spec.x = axis(plot.x, gx);
  spec.y = axis(plot.y, gy);
  spec.x_range = gx ? gx->range : Range{0, 1};
  spec.y_range = gy ? gy->range : Range{0, 1};
  PlotFrame f;
  layout_frame(plot.outer, {.x_axis = plot.x.drawn}, spec.x, spec.y, spec.x_range, spec.y_range, tick_width_px,
               t.type(Type::small), f);
  if (f.area.empty()) return;
  if (!gx) {
    f.x_ticks.major_count = f.x_ticks.minor_count = 0;
    f.x_title = plain_title(plot.x);
  }
  if (!gy) {
    f.y_ticks.major_count = f.y_ticks.minor_count = 0;
    f.y_title = plain_title(plot.y);
  }
  if (!plot.x.drawn) {
    f.x_ticks.major_count = 0;
    f.x_title = NumberText();
  }
  p.rect(plot.outer.min, plot.outer.max, t.panel, t.px(6));
  paint_veil(p, f.area);
  if (!gx) paint_even_grid(p, f.area, true);
  if (!gy) paint_even_grid(p, f.area, false);
  paint_curve_frame(p, f, spec, {}, {});
  if (gx && gy) paint_given_points(p, plot, f);
  if (gx && gx->value >= spec.x_range.lo && gx->value <= spec.x_range.hi) {
    const float x = static_cast<float>(f.x.pixel(gx->value));
    p.dashed_line({x, f.area.min.y}, {x, f.area.max.y}, t.accent, t.px(1.5f), t.px(4));
    Line words;
    words.add("given: ").add(axis_value(spec.x, gx->value, 3));
    const float width = text_size(words.view(), Type::small).x;
    const bool left = x + t.px(8) + width > f.area.max.x;
    const ImVec2 at{left ? x - t.px(8) - width : x + t.px(8), f.area.min.y + t.px(6)};
    if (at.x > f.area.min.x) {
      p.rect({at.x - t.px(3), at.y - t.px(1)}, {at.x + width + t.px(3), at.y + t.type(Type::small) + t.px(2)}, t.panel);
      p.text(at, words.view(), t.accent, Type::small);
    }
  }
  if (gy && gy->value >= spec.y_range.lo && gy->value <= spec.y_range.hi) {
    const float y = static_cast<float>(f.y.pixel(gy->value));
    p.dashed_line({f.area.min.x, y}, {f.area.max.x, y}, t.accent, t.px(1.5f), t.px(4));
  }
}

}  // namespace

VeilPlots::VeilPlots() {
  gathering = true;
  noted_count = 0;
  noted_groups.clear();
  noted_points.clear();
}
VeilPlots::~VeilPlots() { gathering = false; }

bool veil_plot(const Box& outer, const AxisSpec& x, const AxisSpec& y, bool x_axis) {
  if (!gathering || given_now()) return false;
  if (noted_count < noted.size())
    noted[noted_count++] = {outer, axis_of(x, x_axis), axis_of(y, true), noted_groups.size(), 0};
  return true;
}

/// Keeps a group of given points of the plot noted last.
static void keep_given(std::span<const double> xs, std::span<const double> ys, VeiledPoints group) {
  if (!gathering || noted_count == 0) return;
  VeiledPlot& plot = noted[noted_count - 1];
  if (plot.first_group + plot.groups != noted_groups.size()) return;  // more plots than are noted
  group.first = noted_points.size();
  for (std::size_t i = 0; i < std::min(xs.size(), ys.size()); ++i)
    if (std::isfinite(xs[i]) && std::isfinite(ys[i])) noted_points.push_back({xs[i], ys[i]});
  group.count = noted_points.size() - group.first;
  noted_groups.push_back(group);
  ++plot.groups;
}

void veil_points(std::span<const double> xs, std::span<const double> ys, Marker marker, float radius, ImU32 colour) {
  keep_given(xs, ys, {0, 0, marker, radius, colour, false});
}

void veil_line(std::span<const double> xs, std::span<const double> ys, float width, ImU32 colour) {
  keep_given(xs, ys, {0, 0, Marker::circle, width, colour, true});
}

std::size_t veiled_plots() { return noted_count; }

void paint_veiled_plots(const Painter& painter, std::span<const GivenAxis> given) {
  for (std::size_t i = 0; i < noted_count; ++i) paint_one(painter, noted[i], given);
}

}  // namespace widgets
