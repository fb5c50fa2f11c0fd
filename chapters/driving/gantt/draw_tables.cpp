#include "chapters/driving/gantt/draw_tables.h"

#include <cmath>

#include "widgets/base/parts.h"

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
  const auto mark = [](const TaskRow& r) {
    return widgets::RowMark{r.critical ? widgets::Marker::square : widgets::Marker::circle,
                            widgets::theme().series_at(static_cast<std::size_t>(r.resource))};
  };
  const auto hover = [](const TaskRow& r, std::string_view) -> std::string_view {
    return r.critical ? "on the critical path of the first frame" : "could end later by its room";
  };
  view.tasks.draw("tasks of the first frame", out.tasks, columns, size, {.mark = mark, .hover = hover});
}

namespace {

void draw_resources(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {{"name", "resource"},
                                                {"units", "units"},
                                                {"work_s", "work per frame"},
                                                {"demand", "asked for"},
                                                {"busy", "busy"}};
  view.resources.draw("resources", out.resources, columns, size);
}

void draw_frames(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {{"frame", "frame"},
                                                {"release_s", "arrives"},
                                                {"finish_s", "ends"},
                                                {"latency_s", "latency"},
                                                {"slack_s", "slack"}};
  const auto mark = [](const FrameRow& r) {
    const auto& t = widgets::theme();
    return widgets::RowMark{r.met ? widgets::Marker::circle : widgets::Marker::triangle, r.met ? t.good : t.bad};
  };
  view.frames.draw("frames", out.frames, columns, size, {.mark = mark});
}

}  // namespace

void draw_frames_and_resources(const Outputs& out, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (size.x >= t.px(700)) {
    const float gap = t.px(28), each = std::floor((size.x - gap) / 2);
    draw_frames(out, view, {each, size.y});
    ImGui::SetCursorScreenPos({corner.x + each + gap, corner.y});
    return draw_resources(out, view, {size.x - gap - each, size.y});
  }
  const float gap = t.px(10), first = std::floor((size.y - gap) / 2);
  draw_frames(out, view, {size.x, first});
  ImGui::SetCursorScreenPos({corner.x, corner.y + first + gap});
  draw_resources(out, view, {size.x, size.y - gap - first});
}

}  // namespace chapters::driving::gantt
