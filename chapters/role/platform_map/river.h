#pragma once
#include <array>
#include <vector>

#include "models/platform/release.h"
#include "widgets/base/parts.h"

/// Where the river of a release runs: money from above and hours from below, into the boxes between them.
namespace chapters::role::platform_map {

/// A lane that runs right and then turns into its box; its width is its share of the band.
struct Lane {
  float width = 0;
  std::vector<ImVec2> outline;  ///< closed; empty where it is narrower than a hair
};

struct River {
  std::array<widgets::Rect, models::platform::part_count> boxes{};
  std::array<Lane, models::platform::part_count> money, hours;
  widgets::Rect money_head{}, hours_head{};  ///< where the totals stand, left of the bands
  widgets::Rect axis{};                      ///< the axis of GPUs, at the foot
  float band = 0;                            ///< width of a whole river
};

/// Shares are of 1. `scale` is of design pixels. Every lane has share x band as its width, and lanes do not cross.
void layout_river(widgets::Rect area, const std::array<double, models::platform::part_count>& money,
                  const std::array<double, models::platform::part_count>& hours, float scale, River& out);

/// Where `gpus` stands on an axis of factors from 1 to `hi`, and back; a place is a share of the axis.
double place_of_gpus(double gpus, double hi);
double gpus_at_place(double place, double hi);

}  // namespace chapters::role::platform_map
