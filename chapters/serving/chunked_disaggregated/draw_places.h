#pragma once
#include <array>
#include <cstddef>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "widgets/base/parts.h"

/// Where the worlds, their GPUs and their prompts stand in the picture.
namespace chapters::serving::chunked_disaggregated {

/// Where things stand, in screen pixels.
struct Places {
  widgets::Rect area, time;                   ///< `time`: from the first lane's left end to the last one's right
  std::array<widgets::Rect, worlds> world{};  ///< without the heading
  float heading = 0, ruler = 0, bill = 0;
  float x(float share) const { return time.min.x + share * time.width(); }
  float landing(const Picture& p) const { return x(static_cast<float>(-p.from_s / (p.until_s - p.from_s))); }
};

/// A band with its lane above its users' rows; either may be missing.
struct BandPlace {
  widgets::Rect lane, rows;
};

/// All bands of a world from its top down.
struct BandPlaces {
  std::array<BandPlace, 10> band{};
  std::size_t count = 0;
};

Places places_of(widgets::Rect area);
BandPlaces place_bands(const Scene& scene, widgets::Rect world);
/// Are the edges of chunks apart enough to be told from each other?
bool seen_edges(const Places& at, const PromptBar& bar);

/// What a hand does: the prompt's end, a chunk's edge, a row to the other pool; and what a mark says under the pointer.
void take_hands(Inputs& in, const Places& at, const Picture& picture, View& view);

}  // namespace chapters::serving::chunked_disaggregated
