#include <algorithm>
#include <cmath>

#include "chapters/profiling/counters/lab.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::profiling::counters {
namespace {

using widgets::Plot;

/// The dot that is nearest to where the hand is.
const MapDot* nearest(const Picture& picture, double memory, double compute) {
  const MapDot* best = nullptr;
  double least = 1e9;
  for (const MapDot& dot : picture.choices) {
    const double far = std::hypot(dot.memory - memory, dot.compute - compute);
    if (far >= least) continue;
    least = far;
    best = &dot;
  }
  return best;
}

void choose(Inputs& in, const Picture& picture, std::size_t report) {
  if (in.source == Source::file)
    in.report_kernel = static_cast<std::int64_t>(report) + 1;
  else if (report < picture.ids.size())
    in.kernel = picture.ids[report];
}

void draw_dots(Plot& plot, const Picture& picture) {
  const auto& t = widgets::theme();
  plot.curves(picture.dots);
  if (!picture.hollow.x.empty())
    plot.scatter(
        "hollow", picture.hollow.x, picture.hollow.y,
        {.colour = t.background, .radius = picture.hollow.radius, .legend = false, .version = picture.version});
  if (picture.path.x.size() < 2) return;
  plot.curve(picture.path);
  for (std::size_t i = 0; i < picture.path_numbers.size() && i < picture.path.x.size(); ++i)
    plot.text(picture.path.x[i], picture.path.y[i], picture.path_numbers[i], {.colour = t.text});
}

void draw_ground(Plot& plot, const Inputs& in, const Picture& picture) {
  const auto& t = widgets::theme();
  for (const widgets::Curve& area : picture.ground) plot.curve(area);
  plot.vertical_mark(in.low_percent, {});
  plot.vertical_mark(in.roof_percent, {});
  plot.horizontal_mark(in.low_percent, {});
  plot.horizontal_mark(in.roof_percent, {});
  plot.text(2, in.low_percent - 3, "neither: warps wait", {.colour = t.muted});
  plot.text(2, in.roof_percent - 3, "compute heavier", {.colour = t.of(widgets::Meaning::compute_bound)});
  plot.text(2, 97, "near the compute roof", {.colour = t.of(widgets::Meaning::compute_bound)});
  plot.text(in.low_percent + 1, 24, "memory heavier", {.colour = t.of(widgets::Meaning::memory_bound)});
  plot.text(in.roof_percent + 1, 24, "near the roof", {.colour = t.of(widgets::Meaning::memory_bound)});
}

widgets::PlotOptions map_options(ImVec2 size) {
  return {.x = {.lo = 0, .hi = 100, .label = "memory's busiest unit; hollow: not DRAM", .unit = "%"},
          .y = {.lo = 0, .hi = 100, .label = "compute, the busiest pipe", .unit = "%"},
          .size = size,
          .ghost = false};
}

void draw_map(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (widgets::veiled()) {
    // The rule is given: its regions stay while a question is open.
    const widgets::GivenMarks given;
    Plot plot("map", view.map, map_options(size));
    draw_ground(plot, in, picture);
    return;
  }
  Plot plot("map", view.map, map_options(size));
  draw_ground(plot, in, picture);
  draw_dots(plot, picture);
  if (!picture.on_map) {
    plot.text(2, 38, picture.off_map, {.colour = t.accent});
    return;
  }
  plot.tag_x(out.memory_percent, {}, {.output = "memory_percent"});
  plot.tag_y(out.compute_percent, {}, {.output = "compute_percent"});
  double memory = out.memory_percent, compute = out.compute_percent;
  if (plot.drag_point("drag to another report", memory, compute,
                      {.label = picture.hollow_words, .lo = 0, .hi = 100, .y_lo = 0, .y_hi = 100}))
    if (const MapDot* dot = nearest(picture, memory, compute)) choose(in, picture, dot->report);
}

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.answer.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(22), left = std::floor(std::clamp(0.6f * size.x, t.px(300), size.x - t.px(230)));
  draw_map(in, out, picture, view, {left, size.y});
  widgets::drew("map");
  ImGui::SetCursorScreenPos({at.x + left + gap, at.y});
  draw_inside(picture, {size.x - left - gap, size.y});
  widgets::drew("cycles");
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

void draw_figures(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {{"figure"}, {"printed"}, {"follows"}, {.key = "how", .priority = 1}};
  view.figures.draw("figures", out.figure_rows, columns, size);
}

void draw_stalls(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {{"reason"},
                                                {"cycles"},
                                                {.key = "share_percent", .bar = true, .full = 100},
                                                {.key = "means", .priority = 2},
                                                {.key = "fix", .priority = 1}};
  view.stalls.draw("stalls", out.stall_rows, columns, size);
}

void draw_kernels(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {{"kernel_name"},
                                                {.key = "kernel_time_s", .priority = 3, .digits = 3},
                                                {.key = "compute", .priority = 2},
                                                {.key = "memory", .priority = 2},
                                                {.key = "dram", .priority = 4},
                                                {"kernel_verdict"},
                                                {"bound"},
                                                {.key = "kernel_cause", .priority = 1},
                                                {.key = "kernel_stated", .priority = 5},
                                                {.key = "by", .priority = 6}};
  const auto result = view.kernels.draw("kernels", out.kernel_rows, columns, size);
  if (result.selection_changed && view.kernels.view.selected >= 0)
    choose(in, picture, static_cast<std::size_t>(view.kernels.view.selected));
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("map", {.title = "The map", .least = {560, 320}, .answers = true, .marks = "map, cycles"},
              [&](ImVec2 size) { draw_hero(in, out, picture, view, size); });
  stage.panel("kernels", {.title = "Every kernel", .least = {520, 190}, .ideal = {0, 230}, .scrolls = true},
              [&](ImVec2 size) { draw_kernels(in, out, picture, view, size); });
  stage.panel("figures", {.title = "The report", .least = {460, 190}, .ideal = {0, 230}, .scrolls = true},
              [&](ImVec2 size) { draw_figures(out, view, size); });
  stage.panel("stalls", {.title = "What warps wait for", .least = {460, 150}, .ideal = {0, 200}, .scrolls = true},
              [&](ImVec2 size) { draw_stalls(out, view, size); });
}

}  // namespace chapters::profiling::counters
