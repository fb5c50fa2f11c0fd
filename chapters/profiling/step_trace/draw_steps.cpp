#include <algorithm>
#include <array>

#include "chapters/profiling/step_trace/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"

namespace chapters::profiling::step_trace {
namespace {

using widgets::Type;

constexpr widgets::Tint memory_tint = widgets::Tint::series(4);

std::string_view step_tint(const void*, widgets::Tint tint) {
  if (tint == widgets::Tint::series(0)) return "copy";
  if (tint == widgets::Tint::series(5)) return ".item() and log";
  if (tint == memory_tint) return "memory in use";
  if (tint == widgets::Tint()) return "launching";
  if (tint == widgets::Tint(widgets::Meaning::launch_bound)) return "waiting for launches";
  if (tint == widgets::Tint(widgets::Meaning::communication)) return "all-reduce";
  return {};
}

bool has_room(const Lane& lane, int spare) { return lane.spare <= spare; }

std::size_t rows_of(const Lane& lane) {
  std::size_t deepest = 0;
  for (const widgets::TimelineSpan& span : lane.spans) deepest = std::max<std::size_t>(deepest, span.depth);
  return lane.spans.empty() ? 2 : deepest + 1;
}

void add_step_lanes(const std::vector<Lane>& from, int spare, View& view) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Lane& lane = from[i];
    if (!has_room(lane, spare)) continue;
    widgets::TimelineLane drawn{
        .label = lane.label, .sublabel = lane.sublabel, .spans = lane.spans, .indent = i > 0 ? 1u : 0u};
    if (!lane.memory.empty()) drawn.counters = view.counters;
    view.lanes.push_back(drawn);
  }
}

/// What stands under the lanes: the marks that no legend has.
constexpr std::string_view mark_words =
    "hatched: the GPU waits; outlined: the main thread waits; grey: it launches kernels";

/// Design pixels of the timeline's parts: a lane is never lower than its label.
constexpr float min_row = 12, max_row = 40, lane_gap = 6, least_lane = 18, ruler = 32, words_px = 18, legend_px = 58;

float lanes_height(const std::vector<Lane>& lanes, int spare, float row) {
  float height = 0;
  for (const Lane& lane : lanes)
    if (has_room(lane, spare)) height += std::max(least_lane, static_cast<float>(rows_of(lane)) * (row + 2)) + lane_gap;
  return height;
}

float rows_height(const Picture& picture, int spare, float row) {
  return ruler + words_px + lanes_height(picture.before, spare, row) + lanes_height(picture.after, spare, row);
}

}  // namespace

float steps_least_height(const Picture& picture) { return rows_height(picture, 2, min_row); }

void draw_steps(const Picture& picture, View& view, ImVec2 size) {
  if (picture.after.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const float height = size.y / t.scale;
  const bool legend = size.x >= t.px(640) && height >= rows_height(picture, 4, 18) + legend_px;
  const float room = height - (legend ? legend_px : 0);
  int spare = 4;
  while (spare > 0 && rows_height(picture, spare, min_row) > room) --spare;
  float row = min_row;
  while (row < max_row && rows_height(picture, spare, row + 1) <= room) ++row;
  view.lanes.clear();
  view.counters.clear();
  for (const Lane& lane : picture.after)
    if (!lane.memory.empty())
      view.counters.push_back(
          {.label = "in use", .unit = "B", .points = lane.memory, .tint = memory_tint, .area = true});
  add_step_lanes(picture.before, spare, view);
  add_step_lanes(picture.after, spare, view);
  const bool veiled = widgets::veiled();
  const widgets::GivenMarks given;  // which lanes there are; under a veil nothing stands on them
  if (veiled)
    for (widgets::TimelineLane& lane : view.lanes) {
      lane.spans = {};
      lane.counters = {};
    }
  const widgets::SpanNames names = widgets::span_names(picture.names, view.lanes, view.timeline, t.px(10));
  widgets::TimelineData data;
  data.lanes = view.lanes;
  widgets::say_names(names, data);
  data.tint_name = step_tint;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  widgets::draw_timeline("steps", data, view.timeline,
                         {.width = size.x,
                          .height = size.y - t.px(words_px),
                          .row_px = row,
                          .counter_px = 2 * row,
                          .label_px = 92,
                          .cursor = !veiled,
                          .ruler = !veiled,
                          .legend = legend && !veiled});
  if (veiled) {
    const widgets::Painter p = widgets::Painter::window();
    for (std::size_t i = 0; i < view.timeline.drawn_lanes(); ++i) {
      const widgets::Rect track = view.timeline.lane_rect(i);
      p.rect(track.min, track.max, t.card, t.px(2));
    }
    return;
  }
  widgets::drew("before and after");
  widgets::fit_text(widgets::Painter::window(), {at.x, at.y + size.y - t.type(Type::small) - t.px(2)},
                    picture.uneven_words.empty() ? mark_words : std::string_view(picture.uneven_words), size.x, t.muted,
                    Type::small);
}

}  // namespace chapters::profiling::step_trace
