#pragma once
#include <cmath>
#include <span>
#include <string_view>

#include "widgets/base/painter.h"
#include "widgets/plot/plot.h"

/// The steps of Plot::end, in their order. Internal to the plot.
namespace widgets {

struct PlotEnd {
  PlotView& view;
  const PlotOptions& options;
  Box outer;
  bool hovered;
  PlotScratch& scratch() const { return view.scratch; }
  const PlotFrame& frame() const { return view.scratch.frame; }
};

void finish_plot(const PlotEnd& plot);

std::string_view text_of(const PlotScratch& s, PlotText t);
/// 0: x, 1: y, 2: y2 (empty when the series has none).
std::span<const double> values_of(const PlotScratch& s, const PlotSeries& series, int which);
/// Half of a bar's width in pixels, and where bars start when they have no base.
float bar_half_px(const PlotScratch& s, const PlotSeries& series, const PlotFrame& frame);

/// Sets the view's ranges from data, marks and fixed limits unless the user has zoomed.
void follow_data(const PlotEnd& plot);
/// Moves marks that are on their way to a new place.
void ease_marks(const PlotEnd& plot);
/// Leaves what the plot shows where another scenario's picture is gathered.
void leave_reference(const PlotEnd& plot);
/// A number made of a series' kind and label.
std::uint64_t name_of(const PlotScratch& s, const PlotSeries& series);
/// Fills scratch.caches[i].points for every visible series.
void reduce_series(const PlotEnd& plot);
void paint_axes(const PlotEnd& plot, const Painter& painter);
/// The area between two edges, cut to the view; one of the kinds of series.
void paint_band(const PlotEnd& plot, const Painter& painter, const PlotSeries& series,
                const std::vector<PlotPoint>& points);
void paint_series(const PlotEnd& plot, const Painter& painter);
void paint_marks(const PlotEnd& plot, const Painter& painter);
/// Points and grips that are moved: whole where they stand on the frame's edge.
void paint_handles(const PlotEnd& plot, const Painter& painter);
/// Where a dot stands: its place, or the edge that it lies beyond while the view follows the data.
struct DotPlace {
  ImVec2 at{};
  ImVec2 beyond{};  ///< direction of the true place, a unit vector along the axes; zero: it stands where it belongs
};
/// False when the dot is not drawn at all (not a number, or outside of what the user zoomed to).
bool dot_place(const PlotEnd& plot, const PlotPoint& point, DotPlace& out);
/// Value tags on the axes, over the ticks that they displace; outside of the clipped area.
void paint_tags(const PlotEnd& plot, const Painter& painter);
/// The width left of the data that tags on the y axis need; 0 when there are none.
float tag_gutter(const PlotEnd& plot);
/// Drops the ticks that a tag would touch.
void displace_ticks(const PlotEnd& plot);
/// Dimension lines and callouts, with what labels must not cross already in scratch.room.
void paint_annotations(const PlotEnd& plot, const Painter& painter);
/// Lights what shows the figure that the pointer rests on beside the picture.
void paint_lit(const PlotEnd& plot, const Painter& painter);
/// The width that names at the ends of lines need; 0 when there are none.
float end_label_room(const PlotEnd& plot);
/// Everything that carries a name, once all lines and dots are down.
void paint_labels(const PlotEnd& plot, const Painter& painter);
/// Lays out the legend in rows from `top`; paints it and offers its entries when `painter` is given. Returns its
/// height.
float legend(const PlotEnd& plot, float top, const Painter* painter);
void paint_hover(const PlotEnd& plot, const Painter& painter);
void paint_marker(const Painter& painter, ImVec2 at, Marker marker, float radius, ImU32 colour);
void record_tables(const PlotEnd& plot, Record& record);

/// Calls emit(std::span<const ImVec2>) for each unbroken visible piece of a series' line, cut to a little more than the
/// area.
template <class Emit>
void for_pieces(std::span<const PlotPoint> points, const PlotFrame& frame, bool steps, std::vector<ImVec2>& piece,
                Emit emit) {
  const Box box{{frame.area.min.x - 4, frame.area.min.y - 4}, {frame.area.max.x + 4, frame.area.max.y + 4}};
  const auto flush = [&] {
    if (piece.size() >= 2) emit(std::span<const ImVec2>(piece));
    piece.clear();
  };
  const auto segment = [&](double ax, double ay, double bx, double by) {
    double cx = ax, cy = ay, dx = bx, dy = by;
    if (!clip_segment(cx, cy, dx, dy, box)) return flush();
    if (cx != ax || cy != ay) flush();
    if (piece.empty()) piece.push_back({static_cast<float>(cx), static_cast<float>(cy)});
    const ImVec2 next{static_cast<float>(dx), static_cast<float>(dy)};
    if (std::abs(next.x - piece.back().x) + std::abs(next.y - piece.back().y) > 0.01f)
      piece.push_back(next);  // no direction, no joint
    if (dx != bx || dy != by) flush();
  };
  piece.clear();
  double px = 0, py = 0;
  bool open = false;
  for (const PlotPoint& p : points) {
    const double x = frame.x.pixel(p.x), y = frame.y.pixel(p.y);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      flush();
      open = false;
      continue;
    }
    if (open && steps) {
      segment(px, py, x, py);
      segment(x, py, x, y);
    } else if (open) {
      segment(px, py, x, y);
    }
    px = x;
    py = y;
    open = true;
  }
  flush();
}

}  // namespace widgets
