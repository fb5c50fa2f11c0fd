#include <array>

#include "chapters/distributed/rare_gradients/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/theme.h"

namespace chapters::distributed::rare_gradients {
namespace {

using widgets::Meaning;

void draw_steps(const Outputs& out, View& view, ImVec2 size) {
  if (out.runners.size() != rare_method_count) {
    ImGui::Dummy(size);
    return;
  }
  std::array<std::array<widgets::BarSegment, 3>, rare_method_count> segments;
  std::array<widgets::StackedBar, rare_method_count> bars;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const RunnerRow& row = out.runners[i];
    segments[i][0] = {.label = "computing",
                      .value = row.step_compute_s,
                      .tint = Meaning::forward,
                      .info = "forward and backward of one worker, on average"};
    segments[i][1] = {.label = "messages and outer steps",
                      .value = row.step_code_s,
                      .tint = widgets::Tint::series(4),
                      .info = "bytes in memory / bandwidth x slowdown, over all steps"};
    segments[i][2] = {.label = "waiting for links and others",
                      .value = row.step_wait_s,
                      .tint = Meaning::communication,
                      .info = "time of 96 steps, less the other two, over all steps"};
    bars[i] = {.label = row.method, .segments = segments[i]};
  }
  widgets::draw_stacked_bars("steps", bars, view.steps,
                             {.unit = "s", .axis_label = "one step, on average", .size = size, .bar_px = 16});
}

void draw_runners(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 10> columns{
      {{.key = "place", .title = "place"},
       {.key = "method", .title = "method"},
       {.key = "time_s", .title = "to the goal"},
       {.key = "bytes", .title = "sent until then"},
       {.key = "steps", .title = "steps", .whole = true},
       {.key = "loss", .title = "loss at the end", .priority = 1},
       {.key = "sync_bytes", .title = "a sync sends", .priority = 2},
       {.key = "sync_s", .title = "on the links", .priority = 3},
       {.key = "code_s", .title = "made and read", .priority = 4},
       {.key = "step_wait_s", .title = "a step waits", .priority = 5}}};
  view.runners.draw("runners", out.runners, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "race",
      {.title = "The race, over bytes and over time", .least = {520, 380}, .answers = true, .marks = "loss, lanes"},
      [&](ImVec2 size) {
        draw_over_doors(
            picture.doors, size, view.requests, [&](ImVec2 room) { draw_race(in, out, picture, view, room); }, 470);
      });
  stage.panel("steps", {.title = "Where a step goes", .least = {420, 240}},
              [&](ImVec2 size) { draw_steps(out, view, size); });
  stage.panel("runners", {.title = "The nine in figures", .least = {480, 160}, .ideal = {0, 240}, .scrolls = true},
              [&](ImVec2 size) { draw_runners(out, view, size); });
  published_panel(stage, "Published messages", picture.published);
}

}  // namespace chapters::distributed::rare_gradients
