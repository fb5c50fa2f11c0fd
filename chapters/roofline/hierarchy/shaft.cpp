#include "chapters/roofline/hierarchy/shaft.h"

#include <algorithm>
#include <cmath>

namespace chapters::roofline::hierarchy {

float Depth::y(double seconds) const {
  const double at = std::log(std::max(seconds, lo_s) / lo_s) / std::log(hi_s / lo_s);
  return top + (bottom - top) * static_cast<float>(std::clamp(at, 0.0, 1.0));
}

void spread_labels(std::span<float> wanted, float step, float top, float bottom) {
  float least = top;
  for (float& y : wanted) {
    y = std::max(y, least);
    least = y + step;
  }
  float most = bottom - step;
  for (std::size_t i = wanted.size(); i-- > 0;) {
    wanted[i] = std::min(wanted[i], most);
    most = wanted[i] - step;
  }
}

}  // namespace chapters::roofline::hierarchy
