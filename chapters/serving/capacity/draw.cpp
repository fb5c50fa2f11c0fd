#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/serving/capacity/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::serving::capacity {
namespace {

using widgets::AxisKind, widgets::Plot;

/// What the learner said of the fleet, where that was asked.
void paint_fleet_guess(Plot& plot) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || !guess->output.starts_with("chips")) return;
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, "").view(), false);
  plot.horizontal_mark(guess->value, words.view());
}

void draw_loads(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot(
      "fleet by load", view.fleet,
      {.x = {.kind = AxisKind::log10, .lo = picture.fleet_lo, .hi = picture.fleet_hi, .label = "requests a second"},
       .y = {.kind = AxisKind::log10, .label = "chips, in replicas as yours"},
       .size = size});
  if (picture.fleet.empty()) return;
  plot.curves(picture.fleet);
  paint_fleet_guess(plot);
  double rate = out.planned_rate_per_s;
  plot.tag_x(rate, {});
  if (plot.drag_x("drag the load", rate, {.label = "", .lo = picture.fleet_lo, .hi = picture.fleet_hi})) {
    if (picture.lengths)
      in.arrival_rate = std::clamp(rate, 0.001, 1e5);
    else
      in.speed = std::clamp(in.speed * rate / out.planned_rate_per_s, 1e-3, 1e4);
  }
}

void draw_arrivals(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("arrivals", view.skyline,
            {.x = {.lo = 0, .hi = picture.skyline_s, .label = "time", .unit = "s"},
             .y = {.lo = 0, .hi = 1.15 * picture.skyline_most, .label = "requests a second"},
             .size = size,
             .ghost = false});
  if (picture.skyline.empty()) return;
  const widgets::GivenMarks given;
  plot.curves(picture.skyline);
  plot.horizontal_mark(out.arrivals.rate_per_s, "mean", {.output = "rate_per_s"});
}

/// Load above, arrivals under it where there is room.
void draw_load_panel(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool both = size.y > t.px(380) || size.x > t.px(760);
  const bool beside = both && size.x > t.px(760);
  const float gap = t.px(14);
  const ImVec2 first = !both    ? size
                       : beside ? ImVec2{std::floor(0.55f * (size.x - gap)), size.y}
                                : ImVec2{size.x, std::floor(0.6f * (size.y - gap))};
  draw_loads(in, out, picture, view, first);
  if (!both) return;
  ImGui::SetCursorScreenPos(beside ? ImVec2{at.x + first.x + gap, at.y} : ImVec2{at.x, at.y + first.y + gap});
  draw_arrivals(out, picture, view,
                beside ? ImVec2{size.x - first.x - gap, size.y} : ImVec2{size.x, size.y - first.y - gap});
}

void draw_cliff(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("cliff", view.cliff,
            {.x = {.kind = AxisKind::log2, .lo = 0.85, .hi = 9.4, .label = "chips in a replica"},
             .y = {.lo = 0, .label = "output tokens a second and chip, full"},
             .size = size});
  if (picture.cliff.empty()) return;
  plot.curves(picture.cliff);
  double chips = static_cast<double>(in.tensor_parallel);
  if (in.replica_size == ReplicaSize::own && plot.drag_x("drag the size", chips, {.lo = 1, .hi = 8}))
    in.tensor_parallel = std::max<std::int64_t>(1, std::llround(std::exp2(std::round(std::log2(chips)))));
}

/// Sizes of replica beside published runs.
void draw_sizes(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool two = size.x > t.px(700) && picture.published.any;
  const float gap = t.px(18), left = two ? std::floor(0.46f * (size.x - gap)) : size.x;
  draw_cliff(in, picture, view, {left, size.y});
  if (!two) return;
  ImGui::SetCursorScreenPos({at.x + left + gap, at.y});
  published_strip(picture.published, {size.x - left - gap, size.y});
}

void draw_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 11> columns{{{.key = "name"},
                                                            {.key = "chips"},
                                                            {.key = "replica_chips", .priority = 3},
                                                            {.key = "memory_wall", .priority = 2, .digits = 3},
                                                            {.key = "rate_wall", .priority = 2, .digits = 3},
                                                            {.key = "latency_wall", .priority = 2, .digits = 3},
                                                            {.key = "price_per_hour", .priority = 1},
                                                            {.key = "price_date", .priority = 3},
                                                            {.key = "price_low", .priority = 4},
                                                            {.key = "price_high", .priority = 4},
                                                            {.key = "dollars_per_million_tokens", .bar = true}}};
  view.plans.draw("plans", out.plans, columns, size,
                  {.hover = [](const PlanRow& row, std::string_view) { return std::string_view(row.why); }});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("walls",
              {.title = "Walls and price", .least = {560, 300}, .ideal = {0, 520}, .answers = true, .marks = "walls"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 rest) { draw_hero(in, picture, view, rest); }, 360);
              });
  stage.panel("loads", {.title = "By load", .least = {420, 260}},
              [&](ImVec2 size) { draw_load_panel(in, out, picture, view, size); });
  stage.panel("sizes", {.title = "Size of a replica, measured", .least = {420, 260}},
              [&](ImVec2 size) { draw_sizes(in, picture, view, size); });
  stage.panel("plans", {.title = "Chips and prices", .least = {420, 200}, .scrolls = true},
              [&](ImVec2 size) { draw_table(out, view, size); });
}

}  // namespace chapters::serving::capacity
