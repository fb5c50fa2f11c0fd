#pragma once
#include <cstddef>
#include <vector>

/// Where things lie on the shaft.
namespace chapters::roofline::hierarchy {

/// A log axis of seconds that goes down.
struct Depth {
  double lo_s = 1e-10, hi_s = 1;
  float top = 0, bottom = 1;
  float y(double seconds) const;
};

/// Tops of labels that want to stand at `wanted` (in rising order), each at least `step` px under the one before and
/// all between `top` and `bottom`, as far as they have room.
std::vector<float> spread_labels(std::vector<float> wanted, float step, float top, float bottom);

}  // namespace chapters::roofline::hierarchy
