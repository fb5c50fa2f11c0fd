#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/train_time/lab.h"
#include "widgets/base/heading.h"
#include "widgets/base/marks.h"
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

namespace chapters::fleet::train_time {
namespace {

using widgets::AxisKind, widgets::Plot;

constexpr std::array cause_columns{
    DescribedColumn{.key = "cause"}, DescribedColumn{.key = "share", .bar = true, .full = 100, .digits = 3},
    DescribedColumn{.key = "gap_s", .digits = 3}, DescribedColumn{.key = "in_run", .priority = 1, .digits = 3},
    DescribedColumn{.key = "counted", .priority = 2}};

/// Two digits, as an interval is spoken of.
double round_interval(double seconds) {
  if (!(seconds > 0)) return 1;
  const double unit = std::pow(10.0, std::floor(std::log10(seconds)) - 1);
  return std::clamp(std::round(seconds / unit) * unit, 1.0, 604'800.0);
}

void draw_climb(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  Plot plot("climb", view.climb,
            {.x = {.lo = 0, .hi = picture.window, .label = picture.clock_label},
             // Room under 0 for the marks of the failures.
             .y = {.lo = -0.035 * picture.window, .hi = 1.02 * picture.window, .label = picture.work_label},
             .size = size,
             .ghost = false});
  plot.curves(picture.climb);
  // Two tags need room for two; yours goes first.
  if ((picture.best_end - picture.yours_end) / picture.window * static_cast<double>(size.y) >
      static_cast<double>(t.px(60)))
    plot.tag_y(picture.best_end, picture.best_words, {.colour = t.text, .output = "shown_best_kept"});
  plot.tag_y(picture.yours_end, picture.yours_words, {.colour = t.accent, .output = "shown_kept"});
  if (!picture.lost_words.empty()) plot.callout(picture.worst_at, picture.worst_work, picture.lost_words, "");
  if (!(picture.handle_at > 0)) return;
  double at = picture.handle_at, work = picture.handle_work;
  if (plot.drag_point("drag a checkpoint", at, work, {.label = "drag a checkpoint", .lo = 1e-6, .hi = picture.window}))
    in.interval_s = round_interval(out.interval_used_s + (at - picture.handle_at) * picture.unit_s);
}

void draw_losses(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  Plot plot("losses", view.losses,
            {.x = {.kind = AxisKind::log10,
                   .lo = picture.least_interval,
                   .hi = picture.most_interval,
                   .label = "work between two saves",
                   .unit = "s"},
             .y = {.lo = 0, .hi = picture.most_lost, .label = "lost share of the clock", .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.losses);
  const std::array<double, 1> best_x{out.exact_s}, best_y{100 - out.best_efficiency};
  const std::array<std::string_view, 1> best_words{picture.best_lost};
  plot.scatter("the best", best_x, best_y,
               {.colour = t.text, .labels = best_words, .legend = false, .output = "exact_s"});
  double interval = out.interval_used_s, lost = 100 - out.efficiency;
  if (plot.drag_point("drag the interval", interval, lost,
                      {.label = picture.yours_lost, .lo = picture.least_interval, .hi = picture.most_interval}))
    in.interval_s = round_interval(interval);
}

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.version == 0) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool apart = size.x > t.px(760);
  // One above the other needs height for two pairs of axes; without it the run on the clock is what answers.
  const bool alone = !apart && size.y < t.px(520);
  const float gap = t.px(20);
  const ImVec2 first = alone   ? size
                       : apart ? ImVec2{std::floor(0.62f * (size.x - gap)), size.y}
                               : ImVec2{size.x, std::floor(0.58f * (size.y - gap))};
  widgets::heading("The same failures, with your checkpoints and with the best", picture.draw_words, first.x,
                   widgets::HeadingMore::beside);
  const float first_head = ImGui::GetCursorScreenPos().y - corner.y;
  draw_climb(in, out, picture, view, {first.x, first.y - first_head});
  widgets::drew("climb");
  if (alone) return;
  const ImVec2 at = apart ? ImVec2{corner.x + first.x + gap, corner.y} : ImVec2{corner.x, corner.y + first.y + gap};
  const ImVec2 second = apart ? ImVec2{size.x - first.x - gap, size.y} : ImVec2{size.x, size.y - first.y - gap};
  ImGui::SetCursorScreenPos(at);
  widgets::heading("What is lost, by interval", "", second.x);
  // Side by side both plots begin at one height.
  const float second_head = apart ? first_head : ImGui::GetCursorScreenPos().y - at.y;
  ImGui::SetCursorScreenPos({at.x, at.y + second_head});
  draw_losses(in, out, picture, view, {second.x, second.y - second_head});
}

void draw_days(const Picture& picture, View& view, ImVec2 size) {
  if (picture.days.size() < 8) return;
  using widgets::BarSegment;
  const auto bar = [&](std::size_t from) {
    return std::array{
        BarSegment{.label = "kept", .value = picture.days[from], .tint = widgets::Meaning::forward},
        BarSegment{.label = "saving", .value = picture.days[from + 1], .tint = widgets::Meaning::data_loading},
        BarSegment{
            .label = "done twice", .value = picture.days[from + 2], .tint = widgets::Tint::bad(), .hatched = true},
        BarSegment{.label = "restarting", .value = picture.days[from + 3], .tint = widgets::Meaning::idle}};
  };
  const auto yours = bar(0), best = bar(4);
  const std::array<widgets::StackedBar, 2> bars{
      {{.label = "yours", .segments = yours}, {.label = "best", .segments = best}}};
  widgets::draw_stacked_bars("days", bars, view.days,
                             {.unit = "s", .axis_label = "time on the clock", .size = size, .axis = AxisKind::time});
}

void draw_fleet(const Picture& picture, View& view, ImVec2 size) {
  Plot plot("fleet", view.fleet,
            {.x = {.kind = AxisKind::log10, .lo = 1, .hi = picture.most_gpus, .label = "GPUs"},
             .y = {.lo = 0, .hi = 102, .label = "clock that counts", .unit = "%"},
             .size = size});
  plot.curves(picture.fleet);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("run", {.title = "The run on the clock", .least = {480, 300}, .answers = true, .marks = "climb"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 hero) { draw_hero(in, out, picture, view, hero); },
                    420);
              });
  stage.panel("days", {.title = "Where the clock goes", .least = {380, 150}, .ideal = {0, 190}},
              [&](ImVec2 size) { draw_days(picture, view, size); });
  stage.panel("causes", {.title = "What fails, as published", .least = {380, 150}, .ideal = {0, 260}, .scrolls = true},
              [&](ImVec2 size) { view.causes.draw("causes", out.causes, cause_columns, size); });
  stage.panel("fleet", {.title = "More GPUs fail more often", .least = {380, 220}},
              [&](ImVec2 size) { draw_fleet(picture, view, size); });
}

}  // namespace chapters::fleet::train_time
