#include <array>
#include <cmath>

#include "chapters/fleet/sharing/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

namespace chapters::fleet::sharing {
namespace {

using widgets::Plot;

constexpr std::array<DescribedColumn, 6> size_columns{{
    {.key = "size"},
    {.key = "jobs_share", .priority = 2, .digits = 2},
    {.key = "time_share", .priority = 2, .digits = 2},
    {.key = "mean_wait_s", .digits = 2},
    {.key = "waited", .priority = 1, .digits = 2},
    {.key = "jobs", .priority = 3},
}};
constexpr std::array<DescribedColumn, 8> rule_columns{{
    {.key = "rule"},
    {.key = "used", .digits = 3},
    {.key = "mean_wait_s", .digits = 2},
    {.key = "paused_s", .priority = 2, .digits = 2},
    {.key = "small_wait_s", .priority = 2, .digits = 2},
    {.key = "large_wait_s", .priority = 1, .digits = 2},
    {.key = "stranded", .priority = 3, .digits = 2},
    {.key = "held_back", .priority = 3, .digits = 2},
}};

void draw_waits(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("waits", view.waits,
            {.x = {.lo = 15, .hi = 105, .label = "load", .unit = "%"},
             .y = {.kind = widgets::AxisKind::log10,
                   .lo = 1,
                   .hi = picture.wait_hi_s,
                   .label = "mean wait",
                   .unit = "s",
                   .zero_word = "none"},
             .size = size,
             .ghost = false});
  plot.curves(picture.waits);
  double load = in.load, wait = picture.wait_s;
  if (plot.drag_point("drag the load", load, wait, {.label = picture.wait_label, .lo = 20, .hi = 100}))
    in.load = std::round(load);
}

void draw_uses(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("uses", view.uses,
            {.x = {.lo = 15, .hi = 105, .label = "load", .unit = "%"},
             .y = {.lo = 0, .hi = 105, .label = "used", .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.uses);
  double load = in.load, used = out.used;
  if (plot.drag_point("drag the load in use", load, used, {.label = picture.use_label, .lo = 20, .hi = 100}))
    in.load = std::round(load);
}

/// By the number of jobs on the GPU; the handle changes it.
void draw_crowd(const char* id, std::string_view label, std::string_view unit, double value, double hi,
                const std::vector<widgets::Curve>& curves, widgets::PlotView& view, Inputs& in, ImVec2 size) {
  Plot plot(id, view,
            {.x = {.lo = 0.5, .hi = max_jobs + 0.5, .label = "jobs on the GPU"},
             .y = {.lo = 0, .hi = hi, .label = label, .unit = unit},
             .size = size,
             .ghost = false});
  plot.curves(curves);
  double jobs = static_cast<double>(in.tenants);
  if (plot.drag_point("drag the jobs", jobs, value, {.lo = 1, .hi = max_jobs}))
    in.tenants = static_cast<std::int64_t>(std::lround(jobs));
}

/// Two pictures in one panel: next to each other where it is wide, else one above the other.
template <class First, class Second>
void draw_two(ImVec2 size, First first, Second second) {
  const float gap = widgets::theme().px(14);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool wide = size.x > 1.5f * size.y;
  const ImVec2 half{wide ? (size.x - gap) / 2 : size.x, wide ? size.y : (size.y - gap) / 2};
  first(half);
  ImGui::SetCursorScreenPos(wide ? ImVec2{corner.x + half.x + gap, corner.y}
                                 : ImVec2{corner.x, corner.y + half.y + gap});
  second(half);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (in.focus == Focus::gpu) {
    stage.panel("gpu",
                {.title = "One GPU, many jobs", .least = {440, 320}, .answers = true, .marks = "jobs on the GPU"},
                [&](ImVec2 size) {
                  draw_gpu(in, picture, size);
                  widgets::drew("jobs on the GPU");
                });
    stage.panel("crowd", {.title = "By the number of jobs", .least = {420, 320}}, [&](ImVec2 size) {
      draw_two(
          size,
          [&](ImVec2 room) {
            draw_crowd("slowdowns", "your step, in steps alone", "×", picture.slowdown, picture.slowdown_hi,
                       picture.slowdowns, view.slowdowns, in, room);
          },
          [&](ImVec2 room) {
            draw_crowd("done", "done together, in GPUs with one job", "", picture.done_now, picture.done_hi,
                       picture.done, view.done, in, room);
          });
    });
    published_panel(stage, "Published instances", picture.published);
    return;
  }
  stage.panel("shelves", {.title = "The shelves", .least = {440, 320}, .answers = true, .marks = "the shelves"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 room) { draw_shelves(in, picture, room); }, 420);
                widgets::drew("the shelves");
              });
  stage.panel("loads", {.title = "Waiting and use by load", .least = {420, 320}}, [&](ImVec2 size) {
    draw_two(
        size, [&](ImVec2 room) { draw_waits(in, picture, view, room); },
        [&](ImVec2 room) { draw_uses(in, out, picture, view, room); });
  });
  stage.panel("rules", {.title = "Who waits under which rule", .least = {420, 320}, .scrolls = true}, [&](ImVec2 size) {
    draw_two(
        size, [&](ImVec2 room) { view.rules.draw("rules", out.rules, rule_columns, room); },
        [&](ImVec2 room) { view.sizes.draw("sizes", out.sizes, size_columns, room); });
  });
}

}  // namespace chapters::fleet::sharing
