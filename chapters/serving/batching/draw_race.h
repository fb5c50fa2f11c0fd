#pragma once
#include "chapters/serving/batching/lab.h"
#include "widgets/plot/plot_view.h"

namespace chapters::serving::batching {

/// A policy's mark, beside its name and in the plot of latencies.
inline constexpr std::array<widgets::Marker, 4> policy_markers{widgets::Marker::circle, widgets::Marker::square,
                                                               widgets::Marker::triangle, widgets::Marker::diamond};

/// Heights in pixels of the race: arrivals once, then each policy's lanes, queue and cache.
struct RaceRows {
  float heading = 0, lane = 0, strip = 0, gap = 0;
  bool blocks = false;
  float lanes_of(const PolicyPicture& r) const { return lane * static_cast<float>(r.lanes); }
  float total(const PolicyPicture& r) const { return heading + lanes_of(r) + (blocks ? 2 : 1) * strip + gap; }
};
/// Rows that fill `room` pixels as far as they stay readable.
RaceRows fit_race(const Picture& picture, float room);
float race_height(const Picture& picture, const RaceRows& rows);

/// The race with its cursor; drags scrub, a click on a request follows it. Returns the request to speak of: under the
/// pointer, else followed; -1 none.
std::int64_t draw_race(const Picture& picture, View& view, float width, const RaceRows& rows);

}  // namespace chapters::serving::batching
