#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "models/platform/release.h"
#include "widgets/base/parts.h"

/// Where the river of a release runs: hours over GPUs, one band a part on the others, its money under it, and the cut
/// at the GPUs that are set with a card a part above.
namespace chapters::role::platform_map {

/// One release of the sweep: hours of the bands from the bottom up, their sum last, and dollars.
struct RiverRow {
  double gpus = 1, usd = 0;
  std::array<double, models::platform::part_count> hours{};  ///< in the order of river_order
  double all = 0;
};

/// Parts from the bottom of the river up: what does not know of GPUs, then data, then training.
inline constexpr std::array<std::size_t, models::platform::part_count> river_order{6, 5, 4, 3, 2, 0, 1};

/// The places of the drawing, in pixels.
struct River {
  std::array<widgets::Rect, models::platform::part_count> cards{};  ///< in the order of models::platform::Part
  widgets::Rect hours{}, money{}, axis{};                           ///< one under the other, with one x
  double hi_gpus = 2, hi_hours = 1, hi_usd = 1;
  float x(double gpus) const;
  float y(double hours_up) const;  ///< above the river where it is more than it shows
  float y_money(double usd) const;
};

/// `scale` is of design pixels, `line` the height of a line of small type. The money goes first where there is no room.
River layout_river(widgets::Rect area, const std::vector<RiverRow>& rows, double hi_gpus, double hi_hours, float scale,
                   float line);

/// Where `gpus` stands on an axis of factors from 1 to `hi`, and back; a place is a share of the axis.
double place_of_gpus(double gpus, double hi);
double gpus_at_place(double place, double hi);

}  // namespace chapters::role::platform_map
