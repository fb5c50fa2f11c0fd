#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

/// A piece of the road, in metres along it. Stretches are sorted by `from_m` and do not overlap.
struct RoadStretch {
  double from_m = 0, length_m = 0;
  bool blind = false;       ///< driven without a new output: hatched
  std::string_view info{};  ///< what happened there, for the hover
};

struct RoadOptions {
  double car_length_m = 4.5, car_width_m = 1.8, lane_width_m = 3.5;
  double car_m = std::numeric_limits<double>::quiet_NaN();  ///< the front of the car; NaN: at the start of the interest
  double visible_m = std::numeric_limits<double>::quiet_NaN();  ///< NaN: three times the interest, at least four cars
  std::int64_t interest = -1;  ///< the stretch in the middle; -1: the longest blind one, else the first
  std::string_view blind_label = "blind";
  std::string_view seen_label{};  ///< what the stretch of interest is where it is not blind
  ImVec2 size{0, 0};              ///< pixels; 0: the width left, 150 design pixels high
};

struct RoadPiece {
  std::size_t first = 0, last = 0;  ///< stretches that it stands for: neighbours of less than 2 px are one piece
  Rect rect{};
  bool blind = false;  ///< any of them is
};
struct RoadMark {
  double metres = 0;
  float x = 0;
};
struct RoadLayout {
  Rect lane{};  ///< as wide as the picture; its height is the lane's at the same scale, less where there is no room
  Rect car{};   ///< to scale; empty when it is out of sight
  float px_per_m = 1;  ///< along the road
  double from_m = 0, to_m = 0;
  std::vector<RoadPiece> pieces;
  std::vector<RoadMark> marks;  ///< round distances
  float marks_y = 0;            ///< top of their words, screen y
  std::int64_t interest = -1;
  Rect interest_rect{};
  Line problem;
};
/// The road with the stretch of interest in the middle. Lengths are to scale along the road; the car's width is too
/// while the lane has room.
void layout_road(std::span<const RoadStretch> stretches, const RoadOptions& options, Rect area, Measure measure,
                 RoadLayout& out);

struct RoadView {
  RoadLayout layout;
};
/// How far a car goes without seeing. Returns the stretch under the pointer, -1: none.
std::int64_t draw_road(const char* label, std::span<const RoadStretch> stretches, RoadView& view,
                       const RoadOptions& options = {});

}  // namespace widgets
