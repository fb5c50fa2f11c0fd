#pragma once
#include <cstddef>
#include <span>

/// Where things lie on the shaft.
namespace chapters::roofline::hierarchy {

/// A log axis of seconds that goes down.
struct Depth {
  double lo_s = 1e-10, hi_s = 1;
  float top = 0, bottom = 1;
  float y(double seconds) const;
};

/// Moves the tops of labels that want to stand at `wanted` (in rising order), each at least `step` px under the one
/// before and all between `top` and `bottom`, as far as they have room.
void spread_labels(std::span<float> wanted, float step, float top, float bottom);

}  // namespace chapters::roofline::hierarchy
