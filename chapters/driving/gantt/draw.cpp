#include <algorithm>
#include <array>

#include "chapters/driving/gantt/lab.h"
#include "chapters/driving/shared/tasks.h"

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
void mark_deadlines(const Outputs& out, const View& view) {
  const auto& t = widgets::theme();
  const widgets::Rect lanes = view.timeline.lanes_rect();
  const auto painter = widgets::Painter::window();
  for (const double at_s : out.deadlines_s) {
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

void draw_schedule(const Outputs& out, View& view) {
  view.lanes.clear();
  add_lanes(out.before, view);
  add_lanes(out.now, view);
  widgets::TimelineData data;
  data.lanes = view.lanes;
  data.context = &out;
  data.name = [](const void* context, std::uint32_t id) -> std::string_view {
    const auto& names = static_cast<const Outputs*>(context)->names;
    return id < names.size() ? std::string_view(names[id]) : std::string_view{};
  };
  data.info = [](const void* context, std::uint32_t lane, std::uint32_t span) -> std::string_view {
    const auto& o = *static_cast<const Outputs*>(context);
    const bool first = lane < o.before.spans.size();
    const auto& spans = (first ? o.before : o.now).spans[first ? lane : lane - o.before.spans.size()];
    return span < spans.size() ? std::string_view(o.infos[spans[span].name]) : std::string_view{};
  };
  widgets::TimelineOptions options{.row_px = 20, .label_px = 84, .initials = true};
  // As tall as all lanes: what is left of the canvas scrolls.
  const bool known = view.timeline.drawn_lanes() == view.lanes.size() && !view.lanes.empty();
  options.height =
      (known ? view.timeline.whole_height() : widgets::timeline_height(data, widgets::index_timeline(data), options)) +
      widgets::theme().px(2);
  widgets::draw_timeline("schedule", data, view.timeline, options);
  mark_deadlines(out, view);
}

void number(widgets::TableCell& cell, double value, std::string_view unit) {
  cell.value = value;
  cell.number = widgets::format(value, unit);
}

void draw_tasks(const Outputs& out, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 7> columns{{{.title = "task", .number = false},
                                                                {.title = "on", .number = false},
                                                                {.title = "as found", .value_unit = "s"},
                                                                {.title = "now", .value_unit = "s"},
                                                                {.title = "starts", .value_unit = "s"},
                                                                {.title = "ends", .value_unit = "s"},
                                                                {.title = "room", .value_unit = "s"}}};
  widgets::TableSource source{.context = &out, .rows = out.tasks.size(), .version = out.revision};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const TaskRow& r = static_cast<const Outputs*>(context)->tasks[row];
    switch (column) {
      case 0:
        cell.text = r.name;
        break;
      case 1:
        cell.text = r.resource;
        break;
      case 2:
        number(cell, r.before_s, "s");
        break;
      case 3:
        number(cell, r.now_s, "s");
        break;
      case 4:
        number(cell, r.start_s, "s");
        break;
      case 5:
        number(cell, r.finish_s, "s");
        break;
      default:
        number(cell, r.float_s, "s");
    }
  };
  source.mark = [](const void* context, std::size_t row) {
    const bool critical = static_cast<const Outputs*>(context)->tasks[row].critical;
    return widgets::RowMark{critical ? widgets::Marker::square : widgets::Marker::circle,
                            widgets::theme().series_at(row)};
  };
  source.hover = [](const void* context, std::size_t row, std::size_t) -> std::string_view {
    return static_cast<const Outputs*>(context)->tasks[row].critical ? "on the critical path of the first frame"
                                                                     : "could end later by its room";
  };
  widgets::draw_table("tasks of the first frame", columns, source, view.tasks, {width, 0});
}

void draw_resources(const Outputs& out, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 5> columns{{{.title = "resource", .number = false},
                                                                {.title = "units"},
                                                                {.title = "work a frame", .value_unit = "s"},
                                                                {.title = "asked for", .unit = "%"},
                                                                {.title = "busy", .unit = "%"}}};
  widgets::TableSource source{.context = &out, .rows = out.resources.size(), .version = out.revision};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const ResourceRow& r = static_cast<const Outputs*>(context)->resources[row];
    switch (column) {
      case 0:
        cell.text = r.name;
        break;
      case 1:
        number(cell, static_cast<double>(r.units), "");
        break;
      case 2:
        number(cell, r.work_s, "s");
        break;
      case 3:
        number(cell, r.demand, "");
        break;
      default:
        number(cell, r.busy, "");
    }
  };
  widgets::draw_table("resources", columns, source, view.resources, {width, 0});
}

void draw_frames(const Outputs& out, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 5> columns{{{.title = "frame"},
                                                                {.title = "arrives", .value_unit = "s"},
                                                                {.title = "ends", .value_unit = "s"},
                                                                {.title = "latency", .value_unit = "s"},
                                                                {.title = "slack", .value_unit = "s"}}};
  widgets::TableSource source{.context = &out, .rows = out.frames.size(), .version = out.revision};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const FrameRow& r = static_cast<const Outputs*>(context)->frames[row];
    switch (column) {
      case 0:
        number(cell, static_cast<double>(r.frame), "");
        break;
      case 1:
        number(cell, r.release_s, "s");
        break;
      case 2:
        number(cell, r.finish_s, "s");
        break;
      case 3:
        number(cell, r.latency_s, "s");
        break;
      default:
        number(cell, r.slack_s, "s");
    }
  };
  source.mark = [](const void* context, std::size_t row) {
    const auto& t = widgets::theme();
    const bool met = static_cast<const Outputs*>(context)->frames[row].met;
    return widgets::RowMark{met ? widgets::Marker::circle : widgets::Marker::triangle, met ? t.good : t.bad};
  };
  widgets::draw_table("frames", columns, source, view.frames, {width, 0});
}

}  // namespace

void draw(Inputs&, const Outputs& out, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, gap = t.px(24);
  heading(out.verdict, out.story, width);
  draw_schedule(out, view);
  ImGui::Dummy({width, t.px(2)});
  const auto painter = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  painter.dashed_line({at.x, at.y + t.px(8)}, {at.x + t.px(24), at.y + t.px(8)}, t.bad, t.px(1.5f), t.px(5));
  widgets::fit_text(
      painter, {at.x + t.px(32), at.y},
      "a frame is due; outlined: slack; hatched: late; solid: on its frame's critical path; pale: has room",
      width - t.px(32), t.muted, Type::small);
  ImGui::Dummy({width, t.px(26)});
  const bool beside = width >= t.px(760);
  const float left = beside ? std::floor((width - gap) * 0.58f) : width, right = beside ? width - gap - left : width;
  ImGui::BeginGroup();
  heading("The first frame, task by task", "square: on the critical path; circle: has room", left);
  draw_tasks(out, view, left);
  ImGui::EndGroup();
  if (beside)
    ImGui::SameLine(0, gap);
  else
    ImGui::Dummy({width, t.px(8)});
  ImGui::BeginGroup();
  heading("Resources at the camera's rate", "above 100 % asked for, frames pile up", right);
  draw_resources(out, view, right);
  ImGui::Dummy({right, t.px(10)});
  heading("Frames", {}, right);
  draw_frames(out, view, right);
  ImGui::EndGroup();
}

}  // namespace chapters::driving::gantt
