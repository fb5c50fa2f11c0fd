#pragma once
#include <imgui.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Measurements beside what a model says, a row each on one axis: the model hollow at 100 %, the measurement filled,
/// and the loss between them drawn.
namespace widgets {

struct MeasuredMark {
  std::string label;   ///< what was measured
  std::string figure;  ///< the share, "76 %"
  std::string value;   ///< both figures with their units, for the hover
  std::string info;    ///< source and conditions, for the hover
  double ratio = 0;    ///< measured over the model; 1 is the model
  bool faint = false;  ///< belongs to something else than what is set
};

/// Where the strip's parts stand, in pixels from its upper left corner.
struct MeasuredStripLayout {
  std::size_t rows = 0;       ///< that have room; the rest is counted under the last one
  bool more = false;          ///< a line under the rows says how many have no room
  float label_width = 0;      ///< The width of the names at the left.
  float left = 0, right = 0;  ///< The ends of the axis.
  float figure_left = 0;      ///< Where the shares at the right begin.
  float top = 0, row_height = 0;
  double most = 1;  ///< the axis runs from 0 to this ratio
  float x(double ratio) const { return left + (right - left) * static_cast<float>(ratio / most); }
};
/// `widest_label`, `widest_figure`: pixels; `line`: height of small type; `scale`: design pixels to pixels.
MeasuredStripLayout layout_measured_strip(std::span<const MeasuredMark> marks, ImVec2 size, float widest_label,
                                          float widest_figure, float line, float scale);

/// Draws at the cursor in a box of `size` and takes its place there; `axis` names the axis and its unit. Hovering a row
/// gives both figures and the source.
void draw_measured_strip(const char* id, std::span<const MeasuredMark> marks, std::string_view axis, ImVec2 size);

/// One measurement in a single line of `width`, for a panel that has no room for the strip: words and what was
/// measured, the track from nothing to the model, the share with `of` behind it. Takes its place at the cursor; returns
/// its height in pixels, 0 where the track has no room.
float draw_measured_line(const char* id, const MeasuredMark& mark, std::string_view words, std::string_view of,
                         float width);
float measured_line_height();

}  // namespace widgets
