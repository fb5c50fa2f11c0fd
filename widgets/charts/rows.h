#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "widgets/base/parts.h"
#include "widgets/plot/axis.h"

/// What charts of one row a category share: rows that fold when there is no room, and the axis under them.
namespace widgets {

/// Rows of one height under each other. Where not all have room, the last place says how many are left out.
struct RowStack {
  float top = 0, slot = 0;  ///< pixels
  std::size_t shown = 0, left_out = 0;
  float row_top(std::size_t i) const { return top + slot * static_cast<float>(i); }
  float middle(std::size_t i) const { return row_top(i) + slot / 2; }
  float bottom() const { return row_top(shown); }
  /// The row under a screen y; -1: none.
  std::int64_t row_at(float y) const;
};
/// `row_px` is the height that a row takes when there is room, `least_px` that under which rows are left out.
RowStack stack_rows(std::size_t rows, float top, float bottom, float row_px, float least_px);
/// The canvas of a chart of rows of `row_px` design pixels with an axis below: of `size` px, or as high as the rows
/// need where `size.y` is 0, and at least `least_y` design pixels high. Its item is the one made last.
Rect rows_canvas(const char* label, ImVec2 size, std::size_t rows, float row_px, float least_y);
/// Writes "and 12 more" in the place behind the last row; nothing when none is left out.
void paint_left_out(const Painter& painter, const RowStack& stack, float left, float right, float bottom);

/// Pixels for labels at the left: of the widest, at most `share` of the width.
float label_gutter(float widest_px, float width_px, float share = 0.35f);
/// Lines of text under a plot that have room when it keeps at least `least_px`: 2 are tick labels and the title, 1 tick
/// labels alone, 0 neither.
int row_axis_lines(float height_px, float least_px, bool titled);
/// The height of these lines, in pixels.
float row_axis_height(int lines);
/// Grid, and under `plot` as many lines as `row_axis_lines` found; labels that would leave `area` at its sides are left
/// out.
void paint_row_axis(const Painter& painter, const AxisSpec& spec, Range range, const AxisMap& map, Rect plot, Rect area,
                    int lines);
/// Text at the right end of a row or nothing: numbers are shown whole or not at all. Returns whether it was drawn.
bool paint_whole(const Painter& painter, ImVec2 at, std::string_view s, float room, ImU32 ink, Type type = Type::small,
                 Align align = Align::left, Font font = Font::sans);
/// One sentence in the middle of an empty chart.
void paint_nothing(const Painter& painter, Rect area, std::string_view sentence);
/// "+3 ms", "-2 ms", "0 ms".
Line signed_text(double value, std::string_view unit);

}  // namespace widgets
