#pragma once
#include <imgui.h>

#include <algorithm>

#include "chapters/serving/batching/draw_race.h"
#include "widgets/base/painter.h"

/// What the rows of the race are filled with. Positions and heights are in pixels.
namespace chapters::serving::batching {

/// `later`: of requests before and after those pictured, which are grey.
inline constexpr float future_alpha = 0.2f, aside_alpha = 0.22f, later_alpha = 0.45f;
inline constexpr float max_queue_row_px = 44;  ///< height of the row of one who waits; design pixels
inline constexpr std::size_t later_place = 4;  ///< in Occupation::slots

/// Where time lies, and who is looked at; shared by all rows of the race.
struct RaceScale {
  float left = 0, width = 0;
  double end_s = 1, now_s = 0;
  std::int64_t followed = -1;  ///< the others stand aside
  std::int64_t first = 0;      ///< number of the first request pictured
  ImVec2 mouse{-1, -1};        ///< off the canvas when not hovered
  float x(double time_s) const { return left + width * static_cast<float>(std::clamp(time_s / end_s, 0.0, 1.0)); }
  float right() const { return left + width; }
  float alpha_of(std::int64_t request) const { return followed < 0 || followed == request ? 1 : aside_alpha; }
};

/// A quantity that holds its value until the next point, filled from below. What came and went within a pixel is one
/// pixel wide.
void paint_steps(const widgets::Painter& p, std::span<const models::ServingPoint> points, double highest_of_all,
                 const RaceScale& scale, float top, float height, ImU32 colour);
/// Slots by what they do, stacked: where there are too many for a lane each.
void paint_occupation(const widgets::Painter& p, const PolicyPicture& r, const RaceScale& scale, float top,
                      float height);
/// What the top of a policy's queue stands for. One scale for all strips, but for a queue that would be a line on it:
/// what grows must be seen to grow.
double queue_top(const Picture& picture, const PolicyPicture& r);
/// Has a strip of `height` px room for a bar for each of `peak` requests in the queue? Otherwise it shows how many
/// wait.
bool queue_has_bars(double peak, float height);
/// Everybody who waits as a hollow bar, from arrival until taken from the queue.
void paint_queue(const widgets::Painter& p, const PolicyPicture& r, double peak, const RaceScale& scale, float top,
                 float height, std::int64_t& hot);

}  // namespace chapters::serving::batching
