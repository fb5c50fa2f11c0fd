#include <algorithm>
#include <cmath>

#include "chapters/driving/gantt/draw_tables.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::driving::gantt {
namespace {

using widgets::Type;

/// The first lane holds the frames; the resources under it are left out where there is no room for them, and its name
/// then says that there is more.
void add_lanes(const Lanes& from, bool resources, View& view) {
  for (std::size_t i = 0; i < (resources ? from.spans.size() : std::min<std::size_t>(1, from.spans.size())); ++i)
    view.lanes.push_back({.label = resources ? std::string_view(from.labels[i]) : std::string_view(from.folded_label),
                          .spans = from.spans[i],
                          .indent = i > 0 ? 1u : 0u});
}

/// As high as there is room for: design pixels of a row, of `rows` in `lanes` lanes that share `room` px.
float row_that_fits(float room, std::size_t lanes, std::size_t rows) {
  const auto& t = widgets::theme();
  const float head = t.px(34), lane_gap = t.px(6);
  return ((room - head - static_cast<float>(lanes) * lane_gap) / std::max(1.0f, static_cast<float>(rows)) - t.px(2)) /
         t.scale;
}

std::size_t rows_of(const Lanes& lanes, bool resources) {
  std::size_t rows = 0;
  for (std::size_t i = 0; i < lanes.spans.size() && (i == 0 || resources); ++i) {
    std::size_t deepest = 0;
    for (const widgets::TimelineSpan& s : lanes.spans[i]) deepest = std::max<std::size_t>(deepest, s.depth);
    rows += deepest + 1;
  }
  return rows;
}

/// Does a task of this lane stand where the line would go through its name?
bool covered(const widgets::TimelineSpans& spans, double at_s) {
  const double at_ns = at_s * 1e9;
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (const widgets::TimelineSpan s = spans[i];
        static_cast<double>(s.start_ns) < at_ns - 1 && at_ns + 1 < static_cast<double>(s.start_ns + s.duration_ns))
      return true;
  return false;
}

/// Dashed lines at the frames' deadlines, over the lanes of a timeline that has just been drawn; they pass behind
/// tasks.
void mark_deadlines(const Picture& picture, const View& view) {
  const auto& t = widgets::theme();
  const widgets::Rect lanes = view.timeline.lanes_rect();
  const auto painter = widgets::Painter::window();
  for (const double at_s : picture.deadlines_s) {
    const float x = view.timeline.x_pixel(at_s);
    if (!(x >= lanes.min.x && x <= lanes.max.x + t.px(1))) continue;
    float from = lanes.min.y;
    const auto stretch = [&](float to) {
      if (to > from) painter.dashed_line({x, from}, {x, to}, t.bad, t.px(1.5f), t.px(5));
    };
    for (std::size_t i = 0; i < std::min(view.timeline.drawn_lanes(), view.lanes.size()); ++i) {
      if (view.lanes[i].indent == 0 || !covered(view.lanes[i].spans, at_s))
        continue;  // frames: their spans end where the line is
      const widgets::Rect lane = view.timeline.lane_rect(i);
      stretch(lane.min.y);
      from = lane.max.y;
    }
    stretch(lanes.max.y);
  }
}

/// Does a span that is shown carry the mark?
bool is_drawn(const View& view, widgets::TimelineMark mark) {
  for (const widgets::TimelineLane& lane : view.lanes)
    for (std::size_t i = 0; i < lane.spans.size(); ++i)
      if (widgets::TimelineSpan(lane.spans[i]).mark == mark) return true;
  return false;
}

/// Samples and words in one row, of the marks that are drawn; those without room are left out whole.
void draw_key(const Picture& picture, const View& view, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const float sample = t.px(22), middle = at.y + t.type(Type::small) / 2, half = t.px(5);
  float x = at.x;
  const auto entry = [&](std::string_view words, const auto& paint) {
    const float whole = sample + t.px(6) + widgets::text_size(words, Type::small).x;
    if (x + whole > at.x + width) return;
    paint(x);
    p.text({x + sample + t.px(6), at.y}, words, t.muted, Type::small);
    x += whole + t.px(18);
  };
  entry("due", [&](float from) { p.dashed_line({from, middle}, {from + sample, middle}, t.bad, t.px(1.5f), t.px(5)); });
  entry(picture.changed ? "critical path of the first frame, now" : "critical path of the first frame",
        [&](float from) {
          p.line({from, middle}, {from + sample, middle}, t.text, t.px(3));
        });
  if (is_drawn(view, widgets::TimelineMark::pale))
    entry("not on it", [&](float from) {
      p.rect({from, middle - half}, {from + sample, middle + half}, widgets::with_alpha(t.muted, 0.25f), t.px(2));
    });
  if (is_drawn(view, widgets::TimelineMark::callout))
    entry("slack", [&](float from) {
      p.frame({from, middle - half}, {from + sample, middle + half}, t.muted, 1, t.px(2));
    });
  if (is_drawn(view, widgets::TimelineMark::hatched))
    entry("late", [&](float from) {
      widgets::hatch(p, {{from, middle - half}, {from + sample, middle + half}}, t.muted, t.px(5));
    });
}

/// How long the learner said that a frame takes, as a line through the schedule that is asked for.
void mark_guess(const Picture& picture, const View& view) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "latency_s" || view.timeline.drawn_lanes() < view.lanes.size()) return;
  const auto& t = widgets::theme();
  const widgets::Rect lanes = view.timeline.lanes_rect();
  const float top = view.timeline.lane_rect(view.lanes.size() - picture.now.labels.size()).min.y,
              wanted = view.timeline.x_pixel(guess->value), x = std::clamp(wanted, lanes.min.x, lanes.max.x);
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), x != wanted);
  const float width = widgets::text_size(words.view(), Type::small).x;
  const auto painter = widgets::Painter::window();
  painter.dashed_line({x, top}, {x, lanes.max.y}, t.accent, t.px(2), t.px(5));
  widgets::paint_guess_words(painter,
                             {x + t.px(6) + width > lanes.max.x ? x - t.px(6) - width : x + t.px(6),
                              lanes.max.y - t.type(Type::small) - t.px(4)},
                             words.view());
}

/// What a question gives: the stack as found, where something was changed, and the lanes of the one that is asked for.
void draw_given(const Picture& picture, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  view.lanes.clear();
  add_lanes(picture.before, true, view);
  const std::size_t rows = rows_of(picture.before, true) + picture.now.labels.size();
  for (std::size_t i = 0; i < picture.now.labels.size(); ++i)
    view.lanes.push_back({.label = picture.now.labels[i], .spans = {}, .indent = i > 0 ? 1u : 0u});
  const widgets::SpanNames names = widgets::span_names(picture.names, view.lanes, view.timeline, t.px(6));
  widgets::TimelineData data;
  data.lanes = view.lanes;
  widgets::say_names(names, data);
  // A lane without spans has one row.
  const float row = row_that_fits(size.y, view.lanes.size(), rows);
  widgets::draw_timeline("schedule", data, view.timeline,
                         {.height = size.y, .row_px = std::clamp(row, 12.0f, 24.0f), .label_px = 84});
  mark_deadlines(picture, view);
}

void draw_schedule(const Picture& picture, View& view, ImVec2 size) {
  if (picture.now.spans.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool keyed = size.y >= t.px(210);  // in less room the lanes come first
  const float key = keyed ? t.type(Type::small) + t.px(8) : 0, room = size.y - key;
  // Rows are as high as there is room for; where they would be hard to read, the resources as found go first.
  constexpr float min_row = 16, max_row = 96;
  const auto row_of = [&](bool found) {
    const std::size_t lanes =
        (found ? picture.before.spans.size() : std::min<std::size_t>(1, picture.before.spans.size())) +
        picture.now.spans.size();
    return row_that_fits(room, lanes, rows_of(picture.before, found) + rows_of(picture.now, true));
  };
  const bool found = row_of(true) >= min_row;
  view.lanes.clear();
  add_lanes(picture.before, found, view);
  const std::size_t hidden = picture.before.spans.size() - view.lanes.size();
  add_lanes(picture.now, true, view);
  // The thread names lanes as if all were shown.
  view.thread.clear();
  for (widgets::TimelineStep step : picture.now.thread) {
    step.lane -= static_cast<std::uint32_t>(hidden);
    view.thread.push_back(step);
  }
  const widgets::SpanNames names = widgets::span_names(picture.names, view.lanes, view.timeline, t.px(6));
  widgets::TimelineData data;
  data.lanes = view.lanes;
  data.thread = view.thread;
  widgets::say_names(names, data);
  const widgets::TimelineOptions options{
      .height = room,
      .row_px = std::clamp(row_of(found), 12.0f, max_row),
      .label_px = 84,
  };
  widgets::draw_timeline("schedule", data, view.timeline, options);
  mark_deadlines(picture, view);
  mark_guess(picture, view);
  if (keyed) draw_key(picture, view, {at.x, at.y + size.y - t.type(Type::small) - t.px(2)}, size.x);
  if (view.timeline.drawn_lanes() >= view.lanes.size()) widgets::drew("lanes of the schedule");
}

}  // namespace

void draw(widgets::Stage& stage, Inputs&, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("schedule",
              {.title = "The schedule",
               .least = {560, picture.changed ? 256.0f : 210.0f},
               .answers = true,
               .marks = "lanes of the schedule"},
              [&](ImVec2 size) {
                if (widgets::veiled()) return draw_given(picture, view, size);
                draw_over_doors(picture.doors, size, view.requests,
                                [&](ImVec2 room) { draw_schedule(picture, view, room); });
              });
  stage.panel("changes", {.title = "What each change saves", .least = {400, 160}}, [&](ImVec2 size) {
    widgets::draw_tornado("changes", picture.changes, view.tornado,
                          {
                              .base = out.before_s,
                              .base_label = "as found",
                              .unit = "s",
                              .axis_label = "latency of a frame",
                              .size = size,
                          });
  });
  stage.panel("tasks",
              {.title = "The first frame, task by task: times as typed in", .least = {440, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_tasks(out, view, size); });
  stage.panel("frames", {.title = "Frames and resources", .least = {330, 230}, .scrolls = true},
              [&](ImVec2 size) { draw_frames_and_resources(out, view, size); });
}

}  // namespace chapters::driving::gantt
