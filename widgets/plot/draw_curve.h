#pragma once
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "widgets/base/painter.h"
#include "widgets/plot/drawn_line.h"
#include "widgets/plot/plot_labels.h"
#include "widgets/plot/plot_layout.h"

/// The plot on which a person draws the curve they expect, and on which the computed one then draws itself over it.
namespace widgets {

/// What a question gives: a level, or with `at`, a place on the x axis, a point.
struct GivenMark {
  std::string_view label;
  double value = 0;
  double at = std::numeric_limits<double>::quiet_NaN();
};

struct DrawCurveSpec {
  AxisSpec x{}, y{};
  Range x_range{}, y_range{};
  std::span<const double> xs{};  ///< place of each sample on the x axis
  std::span<const GivenMark> given{};
  bool dots = false;          ///< a dot at each sample: whole numbers and options
  float least_gutter_px = 0;  ///< left of the data, for plots that stand under each other
  bool x_axis = true;         ///< false: the plot below draws it
};

/// A few lines of text, cut at spaces.
struct WrappedLines {
  std::array<std::string_view, 8> lines{};
  std::size_t count = 0;
  float width = 0;  ///< The longest one's width in pixels.
};
/// Cuts at spaces so that each line is at most `most_px` wide; what does not fit in eight lines is dropped.
WrappedLines wrap_lines(std::string_view text, float most_px, float (*width_px)(std::string_view));

/// Where a plot to draw on puts its parts. Pure; pixels.
struct DrawCurveLayout {
  PlotFrame frame;
  Box still_to_draw;         ///< the strip at the bottom from the end of the line on; empty when the line is whole
  ImVec2 pen{};              ///< the cursor on the line; where it would begin while nothing is drawn
  Box value_tag, place_tag;  ///< The pen's tags on the y and the x axis; empty while nothing is drawn.
};
void layout_draw_curve(const Box& outer, const DrawCurveSpec& spec, const DrawnLine& line,
                       float (*width_px)(std::string_view), float line_px, DrawCurveLayout& out);
/// The sample whose place is nearest to a screen x, in pixels.
std::size_t sample_at(const PlotFrame& frame, std::span<const double> xs, float x);

/// Where the score card and the explanation stand after the reveal: on no line, the explanation as near to the middle
/// of the gap that it explains as there is room. Empty where there is none.
struct RevealPlaces {
  std::optional<Box> card, explanation, yours, computed;
};
struct RevealSizes {
  ImVec2 card, explanation, yours, computed;
};
RevealPlaces place_reveal(const DrawCurveLayout& layout, const DrawCurveSpec& spec, std::span<const double> drawn,
                          std::span<const double> computed, std::size_t worst, const RevealSizes& sizes,
                          Occupancy& room);

struct RevealText {
  std::string_view score;           ///< "50"
  std::string_view typical, up_to;  ///< the card's two lines
  double share = 0;                 ///< How far the card's bar is filled, 0 to 1.
  std::string_view heading;         ///< "2.6x too high"
  std::string_view explanation;     ///< one or two sentences
  std::size_t worst = 0;
};

/// What a revealed plot keeps from frame to frame, so that places are looked for once.
struct RevealView {
  Occupancy room;
  RevealPlaces places;
  Box area;  ///< that the places are for; empty: none yet
};

/// A hatch at 45 degrees over a box: what is veiled.
void paint_veil(const Painter& painter, const Box& box, float rounding = 0);

/// Grid, ticks but for those that a tag would touch, frame, and the axes' names: y above the frame, x below it.
void paint_curve_frame(const Painter& painter, const PlotFrame& frame, const DrawCurveSpec& spec, const Box& value_tag,
                       const Box& place_tag);
/// Axes, given lines, veil, the line so far, its tags.
void paint_draw_curve(const Painter& painter, const DrawCurveSpec& spec, const DrawCurveLayout& layout,
                      const DrawnLine& line, std::string_view hint);
/// Axes, given lines, both lines with the area between them, card and explanation. `progress` is how much of the
/// computed line is drawn, 0 to 1; texts stand there at 1.
void paint_revealed_curve(const Painter& painter, const DrawCurveSpec& spec, const DrawCurveLayout& layout,
                          std::span<const double> drawn, std::span<const double> computed, const RevealText& text,
                          double progress, RevealView& view);

/// A second plot under a revealed one, on the same axis: what explains it. Lays out both, with one gutter. `spec` is
/// the revealed plot's; `y` and `ys` are of the one below.
void layout_below(const Box& outer, DrawCurveSpec& spec, const AxisSpec& y, std::span<const double> ys,
                  const DrawnLine& line, float share_below, float caption_px, float (*width_px)(std::string_view),
                  float line_px, DrawCurveLayout& above, PlotFrame& below);
/// Its axes and line, and from the computed curve's sample `worst`, where the explanation stands, one line down through
/// both plots to its place on the axis.
void paint_below(const Painter& painter, const DrawCurveSpec& spec, const AxisSpec& y, std::span<const double> ys,
                 std::span<const double> computed, const DrawCurveLayout& above, const PlotFrame& below,
                 std::size_t worst);

/// Width in pixels of a text in the type of the plot's ticks and tags.
float tick_width_px(std::string_view s);

}  // namespace widgets
