#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "widgets/base/painter.h"
#include "widgets/plot/axis.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// A plot, immediate mode: make one, say what it shows, and it is painted when it goes out of scope.
///
///   Plot plot("roofline", view.plot, {.x = {.kind = AxisKind::log10, .label = "arithmetic intensity", .unit =
///   "FLOP/B"}, .y = ...}); plot.line("H100 SXM", xs, ys, {.info = "min(peak, intensity x bandwidth)"}); if
///   (plot.drag_point("drag decode", x, y)) ...
///
/// Texts and up to 4,096 values a series are copied; longer data must live until the plot ends. Nothing else may be
/// submitted to ImGui while the plot is open. Colour 0 means: the next of the palette. A NaN breaks a line and is left
/// out elsewhere. Mouse: drag pans, shift- or right-drag zooms to a box, the wheel zooms about the cursor (ctrl: x
/// only, shift: y only), double click fits. With the keyboard focus: arrows pan, + and - zoom, 0 or Home fits; on a
/// handle arrows move it (shift: faster).
namespace widgets {

struct PlotOptions {
  AxisSpec x{}, y{};
  ImVec2 size{0, 0};  ///< 0: all the width there is; 360 design pixels high
  std::string_view title{};
  bool legend = true, crosshair = true, interactive = true;
  PlotLink* link = nullptr;  ///< the group whose gutter, x range and cursor this plot shares
  bool x_axis = true;        ///< false: a plot of the group further down draws it
  bool end_labels = false;   ///< names of lines stand right of the frame, beside the ends of their lines
  bool ghost = true;         ///< lines and dots with a version leave their last state behind, pale, until the next
};

struct LineOptions {
  ImU32 colour = 0;
  float width = 2;  ///< design pixels
  bool dashed = false;
  bool label = true;  ///< writes its name along the line where there is room
  bool legend = true;
  std::string_view info{};    ///< formula or source, for hover
  std::uint64_t version = 0;  ///< not 0: changed by the caller with the data, which saves reading long data every frame
                              ///< to see whether it changed
  std::string_view output{};  ///< the key of the output that it shows, lit with its figure
  bool given = false;         ///< known before a question is answered: it stays under its veil
};
struct AreaOptions {
  ImU32 colour = 0;
  float alpha = 0.28f;
  bool legend = true;
  bool outline = true;  ///< false: a ground without an edge, as under a roof
  std::string_view info{};
  std::uint64_t version = 0;
};
struct ScatterOptions {
  ImU32 colour = 0;
  Marker marker = Marker::circle;
  float radius = 5;                            ///< design pixels
  std::span<const std::string_view> labels{};  ///< one a point
  bool legend = true;
  std::string_view info{};
  std::uint64_t version = 0;
  std::string_view output{};  ///< the key of the output that they show, lit with its figure
  bool given = false;         ///< known before a question is answered: they stay under its veil
};
struct BarOptions {
  ImU32 colour = 0;
  float width = 0.7f;  ///< share of the space between neighbouring x
  float offset = 0;    ///< in widths: -0.5 and 0.5 put two series side by side
  bool legend = true;
  std::string_view info{};
};
struct StackedOptions {
  bool bars = false;  ///< else areas
  float width = 0.7f;
  std::span<const ImU32> colours{};  ///< one a layer; missing: palette
  std::string_view info{};
};
struct MarkOptions {
  ImU32 colour = 0;  ///< 0: muted
  bool dashed = true;
  std::string_view output{};  ///< the key of the output that it shows, lit with its figure
};
struct DragOptions {
  ImU32 colour = 0;  ///< 0: accent
  Marker marker = Marker::circle;
  std::string_view label{};                  ///< written beside it
  double lo = -HUGE_VAL, hi = HUGE_VAL;      ///< limits of x (drag_y: of y)
  double y_lo = -HUGE_VAL, y_hi = HUGE_VAL;  ///< limits of y for drag_point
  std::string_view output{};                 ///< the key of the output that it shows, lit with its figure
};

class Plot {
 public:
  Plot(const char* id, PlotView& view, const PlotOptions& options);
  ~Plot() { end(); }
  Plot(const Plot&) = delete;
  Plot& operator=(const Plot&) = delete;

  using Values = std::span<const double>;
  void line(std::string_view label, Values xs, Values ys, const LineOptions& options = {});
  /// A series of a lab's picture; see curve.h.
  void curve(const Curve& curve);
  void curves(std::span<const Curve> all) {
    for (const Curve& one : all) curve(one);
  }
  /// Each value holds until the next x.
  void steps(std::string_view label, Values xs, Values ys, const LineOptions& options = {});
  void area(std::string_view label, Values xs, Values upper, Values lower, const AreaOptions& options = {});
  /// Down to zero, or to the bottom of a log axis.
  void area(std::string_view label, Values xs, Values ys, const AreaOptions& options = {});
  void scatter(std::string_view label, Values xs, Values ys, const ScatterOptions& options = {});
  void bars(std::string_view label, Values xs, Values ys, const BarOptions& options = {});
  /// Layers on top of each other; `values` holds xs.size() numbers a layer, the first layer at the bottom. Hidden
  /// layers leave no gap.
  void stacked(std::span<const std::string_view> labels, Values xs, Values values, const StackedOptions& options = {});
  void error_bars(Values xs, Values lo, Values hi, ImU32 colour = 0);

  void vertical_mark(double x, std::string_view label, const MarkOptions& options = {});
  void horizontal_mark(double y, std::string_view label, const MarkOptions& options = {});
  void arrow(double x0, double y0, double x1, double y1, std::string_view label, const MarkOptions& options = {});
  void text(double x, double y, std::string_view label, const MarkOptions& options = {});

  /// A value in a filled tag on the axis; ticks that it would touch give way. Empty label: the value itself.
  void tag_x(double x, std::string_view label = {}, const MarkOptions& options = {});
  void tag_y(double y, std::string_view label = {}, const MarkOptions& options = {});
  /// A dimension line at x from y0 to y1: what could be gained, in bold ("2.4×") and in words ("with more FLOP per
  /// byte").
  void bracket(double x, double y0, double y1, std::string_view bold, std::string_view words,
               const MarkOptions& options = {});
  /// A bordered box with a leader to the point, placed where it covers least: a line in bold and one beneath it.
  void callout(double x, double y, std::string_view bold, std::string_view words, const MarkOptions& options = {});

  /// Handles. `id` is what keyboard users and tests find; true in the frames in which the value changes.
  /// They are offered from the second frame on, when it is known where values lie.
  bool drag_point(const char* id, double& x, double& y, const DragOptions& options = {});
  bool drag_x(const char* id, double& x, const DragOptions& options = {});
  bool drag_y(const char* id, double& y, const DragOptions& options = {});

  /// Paints; the destructor calls it. Afterwards frame() says where things are.
  void end();
  const PlotFrame& frame() const { return view_.scratch.frame; }

 private:
  PlotText keep(std::string_view s);
  PlotSeries& add(PlotSeries::Kind kind, std::string_view label, Values xs, Values ys, Values y2, ImU32 colour,
                  bool legend, std::string_view info, std::uint64_t version);
  void mark(PlotMark::Kind kind, double x, double y, std::string_view label, const MarkOptions& options);
  void take_input(bool hovered, bool active, bool focused);
  bool handle(PlotMark::Kind kind, const char* id, double& x, double& y, const DragOptions& options);

  PlotView& view_;
  PlotOptions options_;
  Box outer_;
  bool ended_ = false, hovered_ = false;
  int legend_entries_ = 0;
  std::size_t colours_used_ = 0;
};

}  // namespace widgets
