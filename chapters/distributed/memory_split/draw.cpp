#include <algorithm>
#include <cmath>

#include "chapters/distributed/memory_split/lab.h"
#include "chapters/distributed/shared/panel_parts.h"
#include "widgets/charts/vessel.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::distributed::memory_split {
namespace {

using widgets::AxisKind;

void draw_cuts(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  view.bars.clear();
  view.segments.resize(picture.stacks.size());
  for (std::size_t i = 0; i < picture.stacks.size(); ++i) {
    const SplitStack& stack = picture.stacks[i].front();
    view.segments[i].resize(split_layer_count);
    for (std::size_t k = 0; k < split_layer_count; ++k) {
      const LayerLook& look = layer_look(k);
      view.segments[i][k] = {
          .label = look.name, .value = stack[k], .tint = look.tint, .info = look.info, .hatched = look.passing};
    }
    view.bars.push_back({.label = out.cuts[i].axis, .segments = view.segments[i]});
  }
  widgets::draw_stacked_bars("cuts", view.bars, view.cuts,
                             {.unit = "B",
                              .size = {size.x - widgets::theme().px(28), size.y},
                              .bar_px = 18,
                              .limit = out.chip_bytes,
                              .limit_label = "rim"});
}

/// Owners stacked over the units of a step, forward and back.
void draw_step(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.moment_at.size() < 2) return;
  std::array<std::string_view, split_layer_count> names{};
  std::array<ImU32, split_layer_count> colours{};
  std::size_t shown = 0;
  view.stacked.clear();
  for (std::size_t k = 0; k < split_layer_count; ++k) {
    const std::vector<double>& values = picture.moment_values[k];
    if (std::none_of(values.begin(), values.end(), [](double v) { return v > 0; })) continue;
    const LayerLook& look = layer_look(k);
    names[shown] = look.name;
    colours[shown++] = widgets::vessel_colour(look.tint, look.pale, widgets::theme());
    view.stacked.insert(view.stacked.end(), values.begin(), values.end());
  }
  widgets::Plot plot("step", view.over_step,
                     {.x = {.lo = 0, .hi = picture.moment_at.back(), .label = "units, forward and back"},
                      .y = {.lo = 0, .label = "held", .unit = "B"},
                      .size = size});
  plot.stacked(std::span(names).first(shown), picture.moment_at, view.stacked,
               {.colours = std::span(colours).first(shown)});
  plot.horizontal_mark(out.chip_bytes, "rim", {.colour = widgets::theme().text});
  double at = static_cast<double>(view.moment >= 0 ? view.moment : static_cast<std::int64_t>(picture.fullest_moment));
  if (plot.drag_x("drag moment", at, {.lo = 0, .hi = picture.moment_at.back()})) view.moment = std::llround(at);
}

void draw_replicas(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("replicas", view.replicas,
                     {.x = {.kind = AxisKind::log2, .lo = 1, .hi = 16384, .label = "data parallel"},
                      .y = {.kind = AxisKind::log10, .label = "peak per GPU", .unit = "B"},
                      .size = size});
  if (picture.replicas.empty()) return;
  plot.curves(picture.replicas);
  plot.horizontal_mark(out.chip_bytes, "rim", {.colour = t.text});
  double n = static_cast<double>(in.data_parallel);
  if (plot.drag_x("drag replicas", n, {.lo = 1, .hi = 16384}))
    in.data_parallel = std::max<std::int64_t>(1, std::llround(n));
}

void draw_stages(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "stage"},
                                                           {.key = "states_bytes"},
                                                           {.key = "activations_bytes"},
                                                           {.key = "whole_bytes", .priority = 1},
                                                           {.key = "layers_held", .priority = 2},
                                                           {.key = "peak_bytes", .bar = true}}};
  view.stages.draw("stages", out.stages, columns, size);
}

void draw_calculators(const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 3> columns{
      {{.key = "name"},
       {.key = "bytes", .bar = true},
       {.key = "leaves_out", .title = "Leaves out, or counts otherwise", .priority = 1}}};
  view.calculators.draw("calculators", picture.calculators, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("vessels", {.title = "Vessels", .least = {620, 400}, .answers = true, .marks = "vessels, rim"},
              [&](ImVec2 size) { draw_vessels(in, out, picture, view, size); });
  stage.panel("cuts", {.title = "What each axis takes off", .least = {720, 420}, .scrolls = true}, [&](ImVec2 all) {
    draw_parts(
        all, 420, [&](ImVec2 size) { draw_cuts(out, picture, view, size); },
        [&](ImVec2 right) {
          draw_parts(
              right, right.x, [&](ImVec2 size) { draw_stages(out, view, size); },
              [&](ImVec2 size) { draw_calculators(picture, view, size); });
        });
  });
  stage.panel("step", {.title = "Over the step and replicas", .least = {720, 420}}, [&](ImVec2 all) {
    draw_parts(
        all, 380, [&](ImVec2 size) { draw_step(out, picture, view, size); },
        [&](ImVec2 size) { draw_replicas(in, out, picture, view, size); });
  });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::distributed::memory_split
