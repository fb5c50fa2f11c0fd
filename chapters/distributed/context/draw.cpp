#include <algorithm>

#include "chapters/distributed/context/lab.h"
#include "chapters/distributed/shared/panel_parts.h"
#include "widgets/number/number.h"

namespace chapters::distributed::context {
namespace {

using widgets::AxisKind;
using widgets::Meaning;

void draw_hiding(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("hiding", view.hiding,
                     {.x = {.kind = AxisKind::log2, .label = "tokens per rank"},
                      .y = {.kind = AxisKind::log10, .label = "one step", .unit = "s"},
                      .size = size});
  plot.curves(picture.hiding);
  const std::vector<double>& tokens = picture.hiding.front().x;
  if (out.hiding_tokens > tokens.front() && out.hiding_tokens < tokens.back())
    plot.vertical_mark(out.hiding_tokens, "hides from here", {.output = "hiding_tokens"});
  const double x = out.rank_tokens, y = out.tile_compute_s;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .output = "rank_tokens"});
}

void draw_methods(const Outputs& out, View& view, ImVec2 size) {
  std::array<std::array<widgets::BarSegment, 2>, 3> segments;
  std::array<widgets::StackedBar, 3> bars;
  for (std::size_t i = 0; i < bars.size() && i < out.methods.size(); ++i) {
    const MethodRow& m = out.methods[i];
    bars[i].label = m.method;
    if (!m.why_not.empty()) continue;
    segments[i][0] = {.label = "computing, slowest rank",
                      .value = m.cost.time_s - m.cost.exposed_s,
                      .tint = Meaning::forward,
                      .info = "pairs x flops per pair / rate"};
    segments[i][1] = {.label = "exposed transfers",
                      .value = m.cost.exposed_s,
                      .tint = Meaning::communication,
                      .info = "what no compute covers"};
    bars[i].segments = segments[i];
  }
  // Why a method has no bar stands over the others: only heads that do not divide leave one out.
  for (const MethodRow& m : out.methods) {
    if (m.why_not.empty()) continue;
    const float line = 1.4f * widgets::theme().type(widgets::Type::small);
    widgets::Line words;
    words.add(m.method).add(": heads do not divide over the ranks");
    const ImVec2 at = ImGui::GetCursorScreenPos();
    widgets::fit_text(widgets::Painter::window(), at, words.view(), size.x, widgets::theme().muted,
                      widgets::Type::small);
    ImGui::SetCursorScreenPos({at.x, at.y + line});
    size.y -= line;
  }
  widgets::draw_stacked_bars("methods", bars, view.methods,
                             {.unit = "s", .axis_label = "attention of one layer", .size = size});
}

void draw_reach(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("reach", view.reach,
                     {.x = {.kind = AxisKind::log2, .lo = 1, .hi = 64, .label = "ranks that share a sequence"},
                      .y = {.kind = AxisKind::log2,
                            .lo = 1024,
                            .hi = 2 * picture.longest,
                            .label = "longest sequence",
                            .unit = "tokens"},
                      .size = size});
  plot.curves(picture.reach);
  const double x = static_cast<double>(in.ranks), y = static_cast<double>(out.sequence);
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6});
}

void draw_tiles(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{
      {{.key = "step", .title = "step"},
       {.key = "rank", .title = "rank"},
       {.key = "keys_of", .title = "keys of"},
       {.key = "pairs", .title = "pairs", .bar = true, .whole = true},
       {.key = "compute_s", .title = "computes"},
       {.key = "waits_s", .title = "waits"}}};
  view.tiles.draw("tiles", out.tiles, columns, size);
}

void draw_softmax(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{{{.key = "step", .title = "step"},
                                                           {.key = "keys_of", .title = "keys of"},
                                                           {.key = "largest", .title = "largest score m", .digits = 5},
                                                           {.key = "sum", .title = "sum l", .digits = 5},
                                                           {.key = "result", .title = "result so far", .digits = 5}}};
  view.softmax.draw("softmax", out.softmax, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("triangle",
              {.title = "The triangle and its ring", .least = {620, 400}, .answers = true, .marks = "triangle, clock"},
              [&](ImVec2 size) { draw_triangle(in, picture, view, size); });
  stage.panel("hiding", {.title = "Transfers, methods, reach", .least = {960, 180}}, [&](ImVec2 all) {
    draw_parts(
        all, 300,
        [&](ImVec2 size) {
          if (!picture.hiding.empty()) draw_hiding(out, picture, view, size);
        },
        [&](ImVec2 size) { draw_methods(out, view, size); },
        [&](ImVec2 size) { draw_reach(in, out, picture, view, size); });
  });
  stage.panel("tiles", {.title = "Tiles and softmax", .least = {860, 150}, .scrolls = true}, [&](ImVec2 all) {
    if (out.tiles.empty())
      draw_softmax(out, view, all);
    else
      draw_parts(
          all, 400, [&](ImVec2 size) { draw_tiles(out, view, size); },
          [&](ImVec2 size) { draw_softmax(out, view, size); });
  });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::distributed::context
