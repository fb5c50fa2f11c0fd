#pragma once
#include "chapters/serving/batching/lab.h"
#include "widgets/base/tint.h"

namespace chapters::serving::batching {

/// A policy's mark, beside its name and in the curves.
inline constexpr std::array<widgets::Marker, 4> policy_markers{widgets::Marker::circle, widgets::Marker::square,
                                                               widgets::Marker::triangle, widgets::Marker::diamond};
/// A policy's hue; prefill and decode have others.
inline widgets::Tint policy_tint(std::size_t place) {
  static constexpr std::array<std::uint64_t, 4> hues{3, 4, 5, 1};
  return widgets::Tint::series(hues[place % hues.size()]);
}
/// The colour of what a slot does, and of decoding for a request that missed a limit.
ImU32 use_colour(models::SlotUse use, bool missed);

/// More slots than these are drawn as one area.
inline constexpr std::int32_t max_lanes = 32;

/// Heights in pixels of the race: arrivals once, then each policy's lanes, queue and cache. 0: there is none.
struct RaceRows {
  float heading = 0, lane = 0, occupied = 0, queue = 0, blocks = 0, gap = 0;
  float lanes_of(const PolicyPicture& r) const { return occupied > 0 ? occupied : lane * static_cast<float>(r.lanes); }
  float total(const PolicyPicture& r) const { return heading + lanes_of(r) + queue + blocks + gap; }
};
/// Rows that fill `room` pixels as far as they stay readable.
RaceRows fit_race(const Picture& picture, float room);
/// Pixels under which the rows would run into each other.
float least_race_height(const Picture& picture);
float race_height(const Picture& picture, const RaceRows& rows);

/// The race with its cursor; drags scrub, a click on a request follows it. Returns the request to speak of: under the
/// pointer, else followed; -1 none.
std::int64_t draw_race(const Picture& picture, View& view, float width, const RaceRows& rows);

}  // namespace chapters::serving::batching
