#include "chapters/driving/gantt/draw_tables.h"

#include <algorithm>
#include <array>

#include "widgets/number/number.h"

namespace chapters::driving::gantt {
namespace {

void number(widgets::TableCell& cell, double value, std::string_view unit) { widgets::put_number(cell, value, unit); }

}  // namespace

void draw_tasks(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 7> columns{{{.title = "task", .number = false},
                                                                {.title = "on", .number = false},
                                                                {.title = "as found", .value_unit = "s", .priority = 1},
                                                                {.title = "now", .value_unit = "s", .bar = true},
                                                                {.title = "starts", .value_unit = "s", .priority = 2},
                                                                {.title = "ends", .value_unit = "s", .priority = 2},
                                                                {.title = "room", .value_unit = "s"}}};
  widgets::TableSource source{.context = &out, .rows = out.tasks.size(), .version = picture.version};
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
    const TaskRow& r = static_cast<const Outputs*>(context)->tasks[row];
    const auto unit = std::find(models::stack_resource_names.begin(), models::stack_resource_names.end(), r.resource);
    return widgets::RowMark{
        r.critical ? widgets::Marker::square : widgets::Marker::circle,
        widgets::theme().series_at(static_cast<std::size_t>(unit - models::stack_resource_names.begin()))};
  };
  source.hover = [](const void* context, std::size_t row, std::size_t) -> std::string_view {
    return static_cast<const Outputs*>(context)->tasks[row].critical ? "on the critical path of the first frame"
                                                                     : "could end later by its room";
  };
  widgets::draw_table("tasks of the first frame", columns, source, view.tasks, size);
}

void draw_resources(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 5> columns{{{.title = "resource", .number = false},
                                                                {.title = "units"},
                                                                {.title = "work a frame", .value_unit = "s"},
                                                                {.title = "asked for", .unit = "%"},
                                                                {.title = "busy", .unit = "%"}}};
  widgets::TableSource source{.context = &out, .rows = out.resources.size(), .version = picture.version};
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
  widgets::draw_table("resources", columns, source, view.resources, size);
}

void draw_frames(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 5> columns{{{.title = "frame"},
                                                                {.title = "arrives", .value_unit = "s"},
                                                                {.title = "ends", .value_unit = "s"},
                                                                {.title = "latency", .value_unit = "s"},
                                                                {.title = "slack", .value_unit = "s"}}};
  widgets::TableSource source{.context = &out, .rows = out.frames.size(), .version = picture.version};
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
  widgets::draw_table("frames", columns, source, view.frames, size);
}

}  // namespace chapters::driving::gantt
