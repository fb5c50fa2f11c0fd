#include <algorithm>

#include "widgets/plot/plot_view.h"

namespace widgets {

void PlotLink::begin(int frame) {
  if (frame == frame_) return;
  frame_ = frame;
  gutter_px = next_gutter_;
  if (next_x_.any() && !zoomed) x = {next_x_.lo, next_x_.hi};
  cursor_x = next_cursor_;
  next_gutter_ = 0;
  next_x_ = {};
  next_cursor_ = std::numeric_limits<double>::quiet_NaN();
}

void PlotLink::need_gutter(float px) { next_gutter_ = std::max(next_gutter_, px); }

void PlotLink::need_x(Range needed) {
  next_x_.add(needed.lo);
  next_x_.add(needed.hi);
}

}  // namespace widgets
