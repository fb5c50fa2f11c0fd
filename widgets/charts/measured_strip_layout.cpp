#include <algorithm>
#include <cmath>

#include "widgets/charts/measured_strip.h"

namespace widgets {

MeasuredStripLayout layout_measured_strip(std::span<const MeasuredMark> marks, ImVec2 size, float widest_label,
                                          float widest_figure, float line, float scale) {
  MeasuredStripLayout l;
  const float gap = 12 * scale;
  l.row_height = line + 7 * scale;
  l.top = 2 * line;  // the axis' name and its ticks
  l.label_width = std::min(widest_label, size.x * 0.5f);
  l.left = l.label_width + gap;
  l.figure_left = std::max(l.left, size.x - widest_figure);
  l.right = std::max(l.left + 1, l.figure_left - gap);
  const float room = std::max(0.0f, size.y - l.top);
  l.rows = std::min(marks.size(), static_cast<std::size_t>(room / l.row_height));
  if (l.rows < marks.size() && l.rows > 0) {
    l.more = true;
    --l.rows;
  }
  for (std::size_t i = 0; i < l.rows; ++i)
    if (std::isfinite(marks[i].ratio)) l.most = std::max(l.most, marks[i].ratio);
  l.most = std::ceil(l.most * 4 + 0.2) / 4;  // a quarter's end, beyond the last mark
  return l;
}

}  // namespace widgets
