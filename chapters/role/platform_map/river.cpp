#include "chapters/role/platform_map/river.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace chapters::role::platform_map {
namespace {

constexpr std::size_t boxes_count = models::platform::part_count;
constexpr int turn_points = 8;

/// From the left end at `from`, centred on `middle`, round a quarter turn of inner radius `inner`, to `end` at `x`.
/// `way` is 1 where the lane turns down, -1 where it turns up.
void trace_lane(ImVec2 from, float x, float end, float width, float inner, float way, std::vector<ImVec2>& out) {
  out.clear();
  const float half = width / 2, centre_x = x - half - inner, centre_y = from.y + way * (half + inner);
  const auto turn = [&](float radius, int i) {
    const float angle = static_cast<float>(std::numbers::pi) / 2 * static_cast<float>(i) / turn_points;
    return ImVec2{centre_x + radius * std::sin(angle), centre_y - way * radius * std::cos(angle)};
  };
  out.push_back({from.x, from.y - way * half});
  for (int i = 0; i <= turn_points; ++i) out.push_back(turn(inner + width, i));
  out.push_back({x + half, end});
  out.push_back({x - half, end});
  for (int i = turn_points; i >= 0; --i) out.push_back(turn(inner, i));
  out.push_back({from.x, from.y + way * half});
  // Concave outlines are filled clockwise on the screen.
  if (way < 0) std::reverse(out.begin(), out.end());
}

/// The lane of the first box lies nearest to the boxes, so that a lane that turns has no other in its way.
void lay_lanes(const std::array<double, boxes_count>& shares, const std::array<widgets::Rect, boxes_count>& boxes,
               float from_x, float near_y, float band, float inner, float way, std::array<Lane, boxes_count>& out) {
  float y = near_y;
  for (std::size_t i = 0; i < boxes_count; ++i) {
    Lane& lane = out[i];
    lane.width = band * static_cast<float>(shares[i]);
    const float middle = y - way * lane.width / 2;
    y -= way * lane.width;
    if (!(lane.width >= 0.05f)) {
      lane.outline.clear();
      continue;
    }
    const float x = (boxes[i].min.x + boxes[i].max.x) / 2;
    trace_lane({from_x, middle}, x, way > 0 ? boxes[i].min.y : boxes[i].max.y, lane.width, inner, way, lane.outline);
  }
}

}  // namespace

void layout_river(widgets::Rect area, const std::array<double, boxes_count>& money,
                  const std::array<double, boxes_count>& hours, float scale, River& out) {
  const float head = std::clamp(area.width() * 0.085f, 58 * scale, 110 * scale),
              gap = std::clamp(area.width() * 0.008f, 3 * scale, 7 * scale), axis = 60 * scale, inner = 7 * scale;
  const float boxes_x = area.min.x + head, boxes_w = area.max.x - boxes_x - 9 * scale;
  const float box_w = (boxes_w - gap * static_cast<float>(boxes_count - 1)) / static_cast<float>(boxes_count);
  const float room = area.height() - axis - 4 * inner - 8 * scale;
  out.band = std::clamp(0.24f * room, 14 * scale, 0.86f * box_w);
  const float box_h = std::max(20 * scale, room - 2 * out.band), top = area.min.y + out.band + 2 * inner;
  for (std::size_t i = 0; i < boxes_count; ++i) {
    const float x = boxes_x + static_cast<float>(i) * (box_w + gap);
    out.boxes[i] = {{x, top}, {x + box_w, top + box_h}};
  }
  const float money_near = area.min.y + out.band, hours_near = top + box_h + 2 * inner;
  lay_lanes(money, out.boxes, boxes_x - 6 * scale, money_near, out.band, inner, 1, out.money);
  lay_lanes(hours, out.boxes, boxes_x - 6 * scale, hours_near, out.band, inner, -1, out.hours);
  out.money_head = {{area.min.x, area.min.y}, {boxes_x - 10 * scale, money_near}};
  out.hours_head = {{area.min.x, hours_near}, {boxes_x - 10 * scale, hours_near + out.band}};
  out.axis = {{boxes_x, area.max.y - axis}, {area.max.x - 9 * scale, area.max.y}};
}

double place_of_gpus(double gpus, double hi) {
  return std::clamp(std::log(std::max(1.0, gpus)) / std::log(std::max(2.0, hi)), 0.0, 1.0);
}
double gpus_at_place(double place, double hi) {
  return std::clamp(std::round(std::pow(std::max(2.0, hi), std::clamp(place, 0.0, 1.0))), 1.0, std::max(2.0, hi));
}

}  // namespace chapters::role::platform_map
