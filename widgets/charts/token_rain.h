#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"
#include "widgets/base/tint.h"

/// Grains of several kinds that rain into buckets with a rim; what a full bucket cannot take lies above the rim. The
/// buckets stand in groups, and under each group hangs the time that its buckets cost: everybody waits for the longest.
namespace widgets {

/// What falls: a kind of grain, with its share of all that falls.
struct RainSource {
  std::string_view label, brief;  ///< brief: where the label has no room
  double share = 0;               ///< Its share of all sources, which sum to 1: its width at the top.
  Tint tint{};
};

struct RainGrain {
  std::uint8_t source = 0;
  float at = 0;  ///< when it lands, 0 to 1 of the whole rain
};

struct RainBucket {
  std::string_view label;                          ///< under it
  std::uint32_t group = 0;                         ///< ascending from bucket to bucket
  std::uint32_t first = 0, kept = 0, spilled = 0;  ///< its grains in TokenRain::grains, in order: kept, then spilled
  double rim = 0;                                  ///< grains that it takes; 0: any number
  std::string_view info{};                         ///< for the hover
};

/// A stretch of time of one group, in the order in which phases follow.
struct RainGroup {
  std::string_view label;
  std::uint32_t cluster = 0;  ///< a wider gap parts groups of different clusters
  std::span<const double> phases_s{};
  std::string_view info{};
};
struct RainPhase {
  std::string_view label;
  Tint tint{};
  double wait_s = 0;  ///< paid by all before the next phase, on top of the slowest group's time
};

struct TokenRain {
  std::vector<RainSource> sources;
  std::vector<RainBucket> buckets;
  std::vector<RainGroup> groups;
  std::vector<RainPhase> phases;
  std::vector<double> times_s;  ///< that the groups' phases point into
  std::span<const RainGrain> grains{};
  std::vector<float> flows;   ///< [bucket][source]: its grains of each kind; filled by count_rain_flows
  std::uint32_t largest = 0;  ///< grains of the fullest bucket, spilled ones counted
  double mean = 0;            ///< grains a bucket, as a line through all; 0: none
  double reference_s = 0;     ///< marked on the clock: what it would be; 0: none
  std::string_view reference_label{};
  std::string_view bucket_word, group_word;  ///< "expert", "rank"
};

/// Fills `flows` from buckets and grains.
void count_rain_flows(TokenRain& rain);

struct RainBar {
  Rect at;
  std::uint32_t group = 0, phase = 0;
};
struct TokenRainLayout {
  Rect sources, fall, buckets, clock;  ///< bands from top to bottom
  std::vector<Rect> source;
  std::vector<Rect> bucket;     ///< as high as its rim, or as the band where there is none
  std::vector<Rect> group;      ///< x extent of each, over the whole height
  std::vector<RainBar> bars;    ///< The clock's bars.
  std::vector<float> barriers;  ///< y where each phase ends for all
  float grains_px = 0;          ///< height of one grain spread over a bucket's width
  float pitch = 0;              ///< side of a grain that is drawn by itself; 0: layers are drawn instead
  std::size_t columns = 1;      ///< grains side by side in a bucket
  float reference_y = 0, mean_y = 0;
  std::size_t label_step = 1, group_label_step = 1;
  double total_s = 0;
  Rect grain(std::size_t bucket, std::size_t place) const;  ///< where the place-th of a bucket lies, from the bottom
};

/// Bands and marks in `area`, screen pixels. Buckets have one width and stand in their groups; heights of grains and of
/// seconds are such that the fullest bucket and the whole clock fit.
void layout_token_rain(const TokenRain& rain, Rect area, Measure measure, TokenRainLayout& out);

struct TokenRainView {
  TokenRainLayout layout;
  std::vector<ImVec2> left, right;  ///< The two edges of a ribbon.
  std::vector<float> flow_source;
  std::int64_t hovered = -1;  ///< bucket under the pointer
  float held_px = 0;          ///< height of a grain when the rim was taken; 0: it is not held
};

struct TokenRainOptions {
  ImVec2 size{0, 0};
  double progress = 1;  ///< share of the rain that has landed; 1: all lies still
  double clock = 1;     ///< share of the clock that has passed
};
/// Paints into `size` px from the cursor. A rim can be dragged: returns where it was dragged to in this frame, as
/// grains over those of the bucket's rim; 0: it was not.
double draw_token_rain(const char* label, const TokenRain& rain, TokenRainView& view, const TokenRainOptions& options);

}  // namespace widgets
