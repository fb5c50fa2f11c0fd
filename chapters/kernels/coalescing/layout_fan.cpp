#include <algorithm>

#include "chapters/kernels/coalescing/lab.h"

namespace chapters::kernels::coalescing {
namespace {

using widgets::Rect;

/// Boxes from left to right, all of one width; a gap stands for the sectors that are left out.
void place_boxes(const Picture& picture, float scale, FanLayout& out) {
  const auto count = static_cast<float>(std::max<std::size_t>(1, picture.boxes.size()));
  const auto gaps = static_cast<float>(
      std::count_if(picture.boxes.begin(), picture.boxes.end(), [](const BoxMark& b) { return b.gap_before; }));
  const float room = out.memory.width();
  const float gap = gaps > 0 ? std::min(10 * scale, 0.3f * room / gaps) : 0;
  // A single sector that is folded out of a wide span would be as wide as the picture.
  const float wide = std::min((room - gap * gaps) / count, room / 6);
  float x = out.memory.min.x + std::max(0.0f, (room - wide * count - gap * gaps) / 2);
  out.boxes.clear();
  for (const BoxMark& b : picture.boxes) {
    if (b.gap_before) x += gap;
    out.boxes.push_back({{x, out.memory.min.y}, {x + wide, out.memory.max.y}});
    x += wide;
  }
  out.px_per_byte = picture.folded ? 0 : wide / static_cast<float>(models::gpu::sector_bytes);
}

void place_lanes(const Picture& picture, float scale, FanLayout& out) {
  const float pitch = out.lanes.width() / static_cast<float>(picture.lanes.size());
  const float middle = (out.lanes.min.y + out.lanes.max.y) / 2;
  out.dot = std::min({0.46f * pitch, 0.48f * out.lanes.height(), 11 * scale});
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    out.dots[i] = {out.lanes.min.x + (static_cast<float>(i) + 0.5f) * pitch, middle};
    out.landings[i] = out.dots[i];
    const LaneMark& lane = picture.lanes[i];
    if (lane.off || lane.box < 0 || static_cast<std::size_t>(lane.box) >= out.boxes.size()) continue;
    const Rect& box = out.boxes[static_cast<std::size_t>(lane.box)];
    const auto byte =
        static_cast<float>(lane.address % models::gpu::sector_bytes) + static_cast<float>(picture.width_bytes) / 2;
    out.landings[i] = {box.min.x + box.width() * byte / static_cast<float>(models::gpu::sector_bytes), box.min.y};
  }
}

}  // namespace

void layout_fan(const Picture& picture, widgets::Rect area, float scale, FanLayout& out) {
  const float line = 18 * scale, height = area.height();
  const float head = std::min(30 * scale, 0.12f * height), memory = std::clamp(0.15f * height, 20 * scale, 48 * scale);
  const bool named = height > 190 * scale;
  const float under = named ? 2 * line + 6 * scale : 4 * scale;
  const auto across = [&](float top, float bottom) { return Rect{{area.min.x, top}, {area.max.x, bottom}}; };
  out.head = across(area.min.y, area.min.y + head);
  const float lanes_end = out.head.max.y + std::clamp(0.1f * height, 14 * scale, 26 * scale);
  out.lanes = across(out.head.max.y, lanes_end);
  const float memory_top = std::max(lanes_end + 10 * scale, area.max.y - under - memory);
  out.fan = across(lanes_end, memory_top);
  out.memory = {{area.min.x + 8 * scale, memory_top}, {area.max.x - 8 * scale, memory_top + memory}};
  out.names = across(out.memory.max.y + 3 * scale, out.memory.max.y + 3 * scale + (named ? line : 0));
  out.lines = across(out.names.max.y, out.names.max.y + (named ? line : 0));
  place_boxes(picture, scale, out);
  place_lanes(picture, scale, out);
}

}  // namespace chapters::kernels::coalescing
