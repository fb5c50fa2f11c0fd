#include <algorithm>
#include <array>

#include "chapters/fleet/cost/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/theme.h"

namespace chapters::fleet::cost {
namespace {

using widgets::BarSegment, widgets::StackedBar;

constexpr std::size_t max_levers = 6;

/// Each lever alone, then all together, with what their sum would have promised behind it.
void draw_levers(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const std::size_t count = std::min(out.levers.size(), max_levers);
  std::array<BarSegment, max_levers + 2> segments;
  std::array<StackedBar, max_levers + 1> bars;
  for (std::size_t i = 0; i < count; ++i) {
    segments[i] = {.label = "saved, alone", .value = out.levers[i].saved_per_year, .tint = widgets::Tint::series(2)};
    bars[i] = {.label = out.levers[i].name, .segments = std::span(segments).subspan(i, 1)};
  }
  segments[count] = {.label = "saved, together", .value = picture.saved_together, .tint = widgets::Tint::yours()};
  segments[count + 1] = {.label = "promised more by their sum",
                         .value = std::max(0.0, picture.saved_promised - picture.saved_together),
                         .tint = widgets::Meaning::idle,
                         .hatched = true};
  bars[count] = {.label = "all of them", .segments = std::span(segments).subspan(count, 2)};
  widgets::draw_stacked_bars("levers", std::span(bars).first(count + 1), view.levers,
                             {.unit = "$", .axis_label = "saved per year", .size = size, .totals = false});
}

void draw_grids(const Picture& picture, View& view, ImVec2 size) {
  constexpr std::size_t most = 12;
  std::array<BarSegment, most> segments;
  std::array<StackedBar, most> bars;
  const std::size_t count = std::min(most, picture.grids.size());
  for (std::size_t i = 0; i < count; ++i) {
    const GridBar& g = picture.grids[i];
    segments[i] = {.label = "", .value = g.kg, .tint = g.yours ? widgets::Tint::yours() : widgets::Tint::series(2)};
    bars[i] = {.label = g.name, .segments = std::span(segments).subspan(i, 1)};
  }
  widgets::draw_stacked_bars("grids", std::span(bars).first(count), view.grids,
                             {.unit = "kg", .axis_label = "carbon of a million tokens", .size = size, .legend = false});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("coin", {.title = "The coin", .least = {420, 280}, .answers = true, .marks = "the coin"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 hero) { draw_coin(in, picture, hero); }, 400);
                widgets::drew("the coin");
              });
  stage.panel("levers", {.title = "What a change saves in a year", .least = {420, 240}},
              [&](ImVec2 size) { draw_levers(out, picture, view, size); });
  if (!picture.coins.empty())
    stage.panel("users", {.title = "The same hour, shared by more", .least = {420, 170}, .ideal = {0, 210}},
                [&](ImVec2 size) { draw_coins(picture, size); });
  stage.panel("grids", {.title = "Carbon by grid", .least = {320, 240}},
              [&](ImVec2 size) { draw_grids(picture, view, size); });
}

}  // namespace chapters::fleet::cost
