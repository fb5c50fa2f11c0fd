#include <algorithm>
#include <cmath>

#include "chapters/driving/gantt/draw_tables.h"
#include "widgets/base/heading.h"
#include "widgets/base/parts.h"

namespace chapters::driving::gantt {
namespace {

using widgets::Type;

void add_lanes(const Lanes& from, View& view) {
  for (std::size_t i = 0; i < from.spans.size(); ++i)
    view.lanes.push_back({
        .label = from.labels[i],
        .sublabel = from.sublabels[i],
        .spans = from.spans[i],
        .indent = i > 0 ? 1u : 0u,
    });
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

void draw_schedule(const Picture& picture, View& view) {
  view.lanes.clear();
  add_lanes(picture.before, view);
  add_lanes(picture.now, view);
  widgets::TimelineData data;
  data.lanes = view.lanes;
  data.thread = picture.now.thread;
  data.context = &picture;
  data.name = [](const void* context, std::uint32_t id) -> std::string_view {
    const auto& names = static_cast<const Picture*>(context)->names;
    return id < names.size() ? std::string_view(names[id]) : std::string_view{};
  };
  data.info = [](const void* context, std::uint32_t lane, std::uint32_t span) -> std::string_view {
    const auto& p = *static_cast<const Picture*>(context);
    const bool first = lane < p.before.spans.size();
    const auto& spans = (first ? p.before : p.now).spans[first ? lane : lane - p.before.spans.size()];
    return span < spans.size() ? std::string_view(p.infos[spans[span].name]) : std::string_view{};
  };
  widgets::TimelineOptions options{.row_px = 20, .label_px = 84, .initials = true};
  // As tall as all lanes: what is left of the canvas scrolls.
  const bool known = view.timeline.drawn_lanes() == view.lanes.size() && !view.lanes.empty();
  options.height =
      (known ? view.timeline.whole_height() : widgets::timeline_height(data, widgets::index_timeline(data), options)) +
      widgets::theme().px(2);
  widgets::draw_timeline("schedule", data, view.timeline, options);
  mark_deadlines(picture, view);
}

}  // namespace

void draw(Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, gap = t.px(24);
  widgets::heading(picture.verdict, picture.story, width);
  draw_schedule(picture, view);
  ImGui::Dummy({width, t.px(2)});
  const auto painter = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  painter.dashed_line({at.x, at.y + t.px(8)}, {at.x + t.px(24), at.y + t.px(8)}, t.bad, t.px(1.5f), t.px(5));
  widgets::fit_text(
      painter, {at.x + t.px(32), at.y},
      "a frame is due; outlined: slack; hatched: late; thread: the first frame's critical path; pale: has room",
      width - t.px(32), t.muted, Type::small);
  ImGui::Dummy({width, t.px(26)});
  const bool beside = width >= t.px(760);
  const float left = beside ? std::floor((width - gap) * 0.58f) : width, right = beside ? width - gap - left : width;
  ImGui::BeginGroup();
  widgets::heading("The first frame, task by task", "square: on the critical path; circle: has room", left);
  draw_tasks(out, picture, view, left);
  ImGui::EndGroup();
  if (beside)
    ImGui::SameLine(0, gap);
  else
    ImGui::Dummy({width, t.px(8)});
  ImGui::BeginGroup();
  widgets::heading("Resources at the camera's rate", "above 100 % asked for, frames pile up", right);
  draw_resources(out, picture, view, right);
  ImGui::Dummy({right, t.px(10)});
  widgets::heading("Frames", {}, right);
  draw_frames(out, picture, view, right);
  ImGui::EndGroup();
}

}  // namespace chapters::driving::gantt
