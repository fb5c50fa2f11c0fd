#include "chapters/driving/gantt/draw_tables.h"

#include <algorithm>

namespace chapters::driving::gantt {

void draw_tasks(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {
      {"name", "task"},
      {"resource", "on"},
      {.key = "before_s", .title = "as found", .priority = 1},
      {.key = "now_s", .title = "now", .bar = true},
      {.key = "start_s", .title = "starts", .priority = 2},
      {.key = "finish_s", .title = "ends", .priority = 2},
      {"float_s", "room"},
  };
  DescribedTable<TaskRow>::Options options{.context = &out};
  options.mark = [](const void* context, std::size_t row) {
    const TaskRow& r = static_cast<const Outputs*>(context)->tasks[row];
    const auto unit = std::find(models::stack_resource_names.begin(), models::stack_resource_names.end(), r.resource);
    return widgets::RowMark{
        r.critical ? widgets::Marker::square : widgets::Marker::circle,
        widgets::theme().series_at(static_cast<std::size_t>(unit - models::stack_resource_names.begin()))};
  };
  options.hover = [](const void* context, std::size_t row, std::size_t) -> std::string_view {
    return static_cast<const Outputs*>(context)->tasks[row].critical ? "on the critical path of the first frame"
                                                                     : "could end later by its room";
  };
  view.tasks.draw("tasks of the first frame", out.tasks, columns, size, options);
}

void draw_resources(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {
      {"name", "resource"}, {"units", "units"}, {"work_s", "work a frame"}, {"demand", "asked for"}, {"busy", "busy"}};
  view.resources.draw("resources", out.resources, columns, size);
}

void draw_frames(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {{"frame", "frame"},
                                                {"release_s", "arrives"},
                                                {"finish_s", "ends"},
                                                {"latency_s", "latency"},
                                                {"slack_s", "slack"}};
  DescribedTable<FrameRow>::Options options{.context = &out};
  options.mark = [](const void* context, std::size_t row) {
    const auto& t = widgets::theme();
    const bool met = static_cast<const Outputs*>(context)->frames[row].met;
    return widgets::RowMark{met ? widgets::Marker::circle : widgets::Marker::triangle, met ? t.good : t.bad};
  };
  view.frames.draw("frames", out.frames, columns, size, options);
}

}  // namespace chapters::driving::gantt
