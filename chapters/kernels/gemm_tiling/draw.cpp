#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/kernels/gemm_tiling/lab.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

namespace chapters::kernels::gemm_tiling {
namespace {

using widgets::AxisKind;

void draw_budget_bars(const Picture& picture, View& view, ImVec2 size) {
  std::array<widgets::StackedBar, 8> bars;
  const std::size_t n = std::min(bars.size(), picture.budget.size());
  for (std::size_t i = 0; i < n; ++i)
    bars[i] = {.label = picture.budget[i].label, .segments = picture.budget[i].segments};
  widgets::draw_stacked_bars("budget", {bars.data(), n}, view.budget,
                             {
                                 .unit = "%",
                                 .axis_label = "share of what there is",
                                 .size = size,
                                 .bar_px = 22,
                                 .limit = 100,
                                 .limit_label = "all",
                             });
}

void draw_gate_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 7> columns{{{.key = "name", .title = "gate"},
                                                           {.key = "tile", .title = "decided by", .priority = 2},
                                                           {.key = "bytes", .title = "bytes", .digits = 3},
                                                           {.key = "intensity", .title = "intensity", .digits = 3},
                                                           {.key = "rate", .title = "rate", .priority = 1, .digits = 3},
                                                           {.key = "time_s", .title = "time", .bar = true},
                                                           {.key = "other_s", .title = "other block"}}};
  view.gates.draw("gates", out.gates, columns, size);
}

void draw_budget(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (picture.budget.empty()) return ImGui::Dummy(size);
  const float line = t.type(widgets::Type::small) + t.px(6);
  const widgets::Painter p = widgets::Painter::window();
  if (!widgets::veiled()) p.text_fit(at, picture.verdict, size.x, t.text, widgets::Type::small);
  const bool both = size.y > t.px(300);
  const float bars = both ? std::min(0.55f * size.y, t.px(260)) : size.y - line;
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  draw_budget_bars(picture, view, {size.x, bars});
  if (!both) return;
  ImGui::SetCursorScreenPos({at.x, at.y + line + bars + t.px(10)});
  draw_gate_table(out, view, {size.x, size.y - line - bars - t.px(10)});
}

void draw_edges(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("edges", view.curves,
                     {.x = {.kind = AxisKind::log2, .lo = 16, .hi = 512, .label = "edge of a square block"},
                      .y = {.kind = AxisKind::log10, .label = "time at the gate", .unit = "s"},
                      .size = size});
  if (picture.curves.empty()) return;
  plot.curves(picture.curves);
  const double mine_s = out.study.gates[1].time_s, other = static_cast<double>(in.other_block),
               other_s = out.other.gates[1].time_s;
  if (picture.runs)
    plot.scatter("this block", {&picture.edge, 1}, {&mine_s, 1},
                 {.colour = widgets::theme().accent,
                  .radius = 6,
                  .legend = false,
                  .info = "at the square of its intensity",
                  .output = "l2_s"});
  if (std::isfinite(other_s))
    plot.scatter("the other block", {&other, 1}, {&other_s, 1},
                 {.colour = widgets::theme().muted, .marker = widgets::Marker::square, .radius = 6, .legend = false});
  double edge = std::clamp(picture.edge, 16.0, 512.0);
  if (plot.drag_x("drag edge", edge, {.label = "drag the edge", .lo = 16, .hi = 512})) {
    take_named_tile(in, picture.run->cut);
    in.block_m = in.block_n = std::clamp<std::int64_t>(std::llround(edge / 16) * 16, 16, 512);
  }
}

}  // namespace

void draw_hero(Inputs& in, const Outputs&, const Picture& picture, View& view, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (!picture.run || picture.lanes.empty()) return ImGui::Dummy(size);
  // The veil has an edge.
  const float inset = widgets::veiled() ? widgets::theme().px(8) : 0;
  layout_hero(picture.run->cut, {{at.x + inset, at.y + inset}, {at.x + size.x - inset, at.y + size.y - inset}},
              view.scales, view.hero);
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    draw_zoom(in, picture, view, true);
    draw_race(picture, view.hero.race, true);
  } else {
    draw_zoom(in, picture, view, false);
    draw_race(picture, view.hero.race, false);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("hero", {.title = "From matrix to lane", .least = {880, 540}, .answers = true, .marks = "zoom, gates"},
              [&](ImVec2 size) {
                draw_over_doors(picture.doors, size, view.requests,
                                [&](ImVec2 rest) { draw_hero(in, out, picture, view, rest); });
              });
  stage.panel("budget", {.title = "Budget, and every gate", .least = {460, 230}, .ideal = {0, 460}, .scrolls = true},
              [&](ImVec2 size) { draw_budget(out, picture, view, size); });
  stage.panel("edges", {.title = "Every tile", .least = {420, 230}},
              [&](ImVec2 size) { draw_edges(in, out, picture, view, size); });
  published_panel(stage, "Published rungs", picture.published);
}

}  // namespace chapters::kernels::gemm_tiling
