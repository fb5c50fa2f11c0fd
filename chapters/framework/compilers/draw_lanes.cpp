#include <algorithm>
#include <string_view>

#include "chapters/framework/compilers/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/theme.h"

namespace chapters::framework::compilers {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::PlotFrame, widgets::Type;

constexpr std::string_view lanes_words =
    "A call falls into a graph whose guards it passes. Blocks: a graph is made. Bars: the share of calls that wait.";

struct LaneScene {
  const PlotFrame& frame;
  float top = 0, lane = 0, gap = 0;
  float x(double call) const { return static_cast<float>(frame.x.pixel(call)); }
  float y(std::size_t i) const { return top + static_cast<float>(i) * (lane + gap); }
};

void paint_lane(const Painter& p, const LaneScene& s, const Lane& lane, std::size_t index, double calls) {
  const auto& t = widgets::theme();
  const ImU32 hue = widgets::colour(lane.tint, t);
  const float y0 = s.y(index), y1 = y0 + s.lane, middle = (y0 + y1) / 2, from = s.x(lane.first_call);
  p.dashed_line({s.x(axis_from), middle}, {from, middle}, t.grid, t.px(1), t.px(3));
  p.rect({from, y0}, {std::max(from + t.px(2), s.x(calls)), y1}, widgets::with_alpha(hue, 0.16f), t.px(3));
  const float half = t.px(0.6f), inset = std::min(t.px(3), s.lane * 0.2f);
  for (const float call : lane.hits) {
    const float x = s.x(static_cast<double>(call));
    p.rect({x - half, y0 + inset}, {x + half, y1 - inset}, widgets::with_alpha(hue, 0.6f));
  }
  for (const Waits& waits : lane.waits) {
    const float x = s.x(static_cast<double>(waits.from)), low = waits.to - waits.from > 1.5f ? s.x(waits.to) : x;
    p.rect({x - t.px(0.75f), y1 - waits.share * s.lane}, {std::max(low, x + t.px(0.75f)), y1}, t.text);
  }
}

/// The block of its seconds where it was made, and at the right what it takes.
void name_lane(const Painter& p, const LaneScene& s, const Lane& lane, std::size_t index) {
  const auto& t = widgets::theme();
  const ImU32 hue = widgets::colour(lane.tint, t);
  const float small = t.type(Type::small), y0 = s.y(index), text_y = y0 + (s.lane - small) / 2 - t.px(1);
  const float from = s.x(lane.first_call), right = s.frame.area.max.x;
  if (s.lane < small) return;
  float block = from;
  if (!lane.seconds.empty()) {
    const float wide = widgets::text_size(lane.seconds, Type::small, Font::bold).x + t.px(10);
    block = from + wide;
    p.rect({from, y0}, {block, y0 + s.lane}, hue, t.px(3));
    p.text({from + t.px(5), text_y}, lane.seconds, widgets::text_on(hue, t), Type::small, Font::bold);
  }
  const float wide = widgets::text_size(lane.words, Type::small).x;
  if (right - t.px(6) - wide < block + t.px(4)) return;
  const ImVec2 at{right - t.px(6) - wide, text_y};
  p.plate(at, lane.words, t.panel, Type::small);
  p.text(at, lane.words, t.text, Type::small);
}

void paint_falls(const Painter& p, const LaneScene& s, const Picture& picture) {
  const auto& t = widgets::theme();
  for (const Fall& fall : picture.falls) {
    if (fall.lane >= picture.lanes.size()) continue;
    const ImU32 hue = widgets::colour(picture.lanes[fall.lane].tint, t);
    const float x = s.x(fall.call), from = static_cast<float>(s.frame.y.pixel(fall.ran)), to = s.y(fall.lane);
    if (from > s.frame.area.max.y) continue;
    p.line({x, std::max(from, s.frame.area.min.y)}, {x, to}, widgets::with_alpha(hue, fall.waited ? 0.9f : 0.45f),
           t.px(fall.waited ? 2.0f : 1.0f));
    p.circle({x, to}, t.px(2.2f), hue);
  }
}

}  // namespace

float lane_words_height() {
  const auto& t = widgets::theme();
  return t.type(Type::small) + t.px(4);
}

void draw_lanes(const Picture& picture, const View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const PlotFrame& frame = view.stream.scratch.frame;
  const float line = lane_words_height();
  if (!widgets::veiled() && !picture.lanes.empty() && !frame.area.empty()) {
    const float n = static_cast<float>(picture.lanes.size());
    const bool captioned = size.y > line + n * line;
    LaneScene s{.frame = frame, .gap = t.px(2)};
    s.top = corner.y + t.px(3);
    s.lane = std::max(t.px(2), (size.y - t.px(6) - (captioned ? line : 0)) / n - s.gap);
    const float low = s.y(picture.lanes.size());
    p.clip({frame.area.min.x, frame.area.min.y}, {frame.area.max.x, corner.y + size.y});
    for (std::size_t i = 0; i < picture.lanes.size(); ++i) paint_lane(p, s, picture.lanes[i], i, picture.calls);
    paint_falls(p, s, picture);
    if (picture.ahead_from > 0) {
      const float x = s.x(picture.ahead_from);
      p.dashed_line({x, corner.y}, {x, captioned ? low : corner.y + size.y}, t.good, t.px(1.5f), t.px(4));
    }
    for (std::size_t i = 0; i < picture.lanes.size(); ++i) name_lane(p, s, picture.lanes[i], i);
    p.unclip();
    if (captioned) p.text_fit({frame.area.min.x, low}, lanes_words, frame.area.width(), t.muted, Type::small);
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::framework::compilers
