#include "widgets/stage/stage_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace widgets {
namespace {

constexpr std::size_t max_panels = 16;

/// What one arrangement works with, in screen pixels.
struct StageRoom {
  std::span<const PanelSpec> panels;
  std::array<std::size_t, max_panels> order{};  ///< the main panel, then the others
  std::size_t count = 0;                        ///< How many of `order` are to be placed.
  Rect body{};
  float scale = 1, gap = 0, heading = 0;

  const PanelSpec& at(std::size_t i) const { return panels[order[i]]; }
  float least_x(std::size_t i) const { return at(i).least.x * scale; }
  float least_y(std::size_t i) const { return at(i).least.y * scale + heading; }
  /// How much more than its least height the panel can use; all there is where it names no ideal.
  float more_y(std::size_t i) const {
    return at(i).ideal.y > 0 ? std::max(0.0f, (at(i).ideal.y - at(i).least.y) * scale) : 1e6f;
  }
};

struct Strip {
  std::size_t first = 0, count = 0;  ///< in `order`
  float height = 0, more = 0;        ///< least height, and what it could use beyond
};

void put(const StageRoom& room, std::size_t i, float x, float y, float width, float height,
         std::vector<PlacedPanel>& out) {
  const float x0 = std::floor(x), y0 = std::floor(y + room.heading);
  out.push_back(
      {.panel = room.order[i], .at = {{x0, y0}, {std::floor(x + width), std::floor(y + height)}}, .headed = true});
}

/// Gives what is left of a height to strips, three shares to the first and one to each other, none more than it can
/// use.
template <std::size_t N>
void share_height(std::array<Strip, N>& strips, std::size_t count, float left) {
  for (int round = 0; round < 4 && left > 0.5f; ++round) {
    float shares = 0;
    for (std::size_t s = 0; s < count; ++s)
      if (strips[s].more > 0) shares += s == 0 ? 3.0f : 1.0f;
    if (!(shares > 0)) break;
    const float unit = left / shares;
    for (std::size_t s = 0; s < count; ++s) {
      const float taken = std::min(strips[s].more, unit * (s == 0 ? 3.0f : 1.0f));
      if (!(taken > 0)) continue;
      strips[s].height += taken;
      strips[s].more -= taken;
      left -= taken;
    }
  }
}

/// The main panel over the full width, the others in rows below it. False where they have no room.
bool place_below(const StageRoom& room, std::vector<PlacedPanel>& out) {
  const float width = room.body.width();
  std::array<Strip, max_panels> strips{};
  std::size_t count = 0;
  float total = 0;
  for (std::size_t i = 0; i < room.count; ++count) {
    Strip& s = strips[count];
    s = {.first = i, .count = 0, .height = 0, .more = 0};
    float used = 0;
    while (i < room.count && (s.count == 0 || (count > 0 && used + room.gap + room.least_x(i) <= width))) {
      used += (s.count > 0 ? room.gap : 0) + room.least_x(i);
      s.height = std::max(s.height, room.least_y(i));
      s.more = std::max(s.more, room.more_y(i));
      ++s.count;
      ++i;
    }
    if (used > width && room.count > 1) return false;
    total += s.height + (count > 0 ? room.gap : 0);
  }
  if (total > room.body.height()) return false;
  share_height(strips, count, room.body.height() - total);
  float y = room.body.min.y;
  for (std::size_t k = 0; k < count; ++k) {
    const Strip& s = strips[k];
    float least = 0;
    for (std::size_t i = s.first; i < s.first + s.count; ++i) least += room.least_x(i);
    const float spare = width - least - room.gap * static_cast<float>(s.count - 1);
    float x = room.body.min.x;
    for (std::size_t i = s.first; i < s.first + s.count; ++i) {
      const float w = room.least_x(i) + spare * room.least_x(i) / least;
      put(room, i, x, y, w, s.height, out);
      x += w + room.gap;
    }
    y += s.height + room.gap;
  }
  return true;
}

/// The main panel at the left with at least three fifths of the width, the others in a column at its right.
bool place_beside(const StageRoom& room, std::vector<PlacedPanel>& out) {
  if (room.count < 2 || room.least_y(0) > room.body.height()) return false;
  float column = 0, total = 0;
  std::array<Strip, max_panels> strips{};
  for (std::size_t i = 1; i < room.count; ++i) {
    column = std::max(column, room.least_x(i));
    strips[i - 1] = {.first = i, .count = 1, .height = room.least_y(i), .more = room.more_y(i)};
    total += room.least_y(i) + (i > 1 ? room.gap : 0);
  }
  const float width = room.body.width(), left = std::max(room.least_x(0), std::floor((width - room.gap) * 0.6f));
  if (left + room.gap + column > width || total > room.body.height()) return false;
  share_height(strips, room.count - 1, room.body.height() - total);
  put(room, 0, room.body.min.x, room.body.min.y, left, room.body.height(), out);
  float y = room.body.min.y;
  for (std::size_t k = 0; k + 1 < room.count; ++k) {
    put(room, k + 1, room.body.min.x + left + room.gap, y, width - left - room.gap, strips[k].height, out);
    y += strips[k].height + room.gap;
  }
  return true;
}

float area_of_main(const std::vector<PlacedPanel>& placed) {
  return placed.empty() ? 0 : placed.front().at.width() * placed.front().at.height();
}

}  // namespace

std::size_t answering_panel(std::span<const PanelSpec> panels) {
  for (std::size_t i = 0; i < panels.size(); ++i)
    if (panels[i].answers) return i;
  return 0;
}

StagePlan layout_stage(std::span<const PanelSpec> panels, std::size_t main, Rect area, const StageOptions& options,
                       std::vector<PlacedPanel>& out) {
  out.clear();
  StagePlan plan{.tabs = false, .body = area};
  panels = panels.first(std::min(panels.size(), max_panels));
  if (panels.empty()) return plan;
  StageRoom room{.panels = panels,
                 .scale = options.scale,
                 .gap = std::floor(options.gap * options.scale),
                 .heading = std::floor(options.heading * options.scale)};
  room.order[0] = std::min(main, panels.size() - 1);
  for (std::size_t i = 0, n = 1; i < panels.size(); ++i)
    if (i != room.order[0]) room.order[n++] = i;
  for (std::size_t count = options.one_panel ? 1 : panels.size(); count > 1; --count) {
    plan.tabs = count < panels.size();
    plan.body = area;
    if (plan.tabs) plan.body.min.y += std::floor(options.tabs * options.scale);
    room.count = count;
    room.body = plan.body;
    // Of the two arrangements the one that gives the main panel more room.
    const bool stacked = place_below(room, out);
    const float below = stacked ? area_of_main(out) : 0;
    out.clear();
    if (place_beside(room, out) && area_of_main(out) > below) return plan;
    out.clear();
    if (stacked) {
      place_below(room, out);
      return plan;
    }
  }
  plan.tabs = panels.size() > 1;
  plan.body = area;
  if (plan.tabs) plan.body.min.y += std::floor(options.tabs * options.scale);
  out.push_back({.panel = room.order[0],
                 .at = {{std::floor(plan.body.min.x), std::floor(plan.body.min.y)},
                        {std::floor(plan.body.max.x), std::floor(plan.body.max.y)}},
                 .headed = false});
  return plan;
}

}  // namespace widgets
