#include <algorithm>
#include <array>

#include "chapters/debugging/stragglers/lab.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/plot/plot.h"

namespace chapters::debugging::stragglers {
namespace {

constexpr std::size_t max_bars = 8;

void draw_bars(const Picture& picture, View& view, ImVec2 size) {
  std::array<widgets::BarSegment, max_bars> segments{};
  std::array<widgets::StackedBar, max_bars> bars{};
  const std::size_t n = std::min(max_bars, picture.bar_values.size());
  for (std::size_t i = 0; i < n; ++i) {
    segments[i] = {.label = picture.bar_names[i], .value = picture.bar_values[i], .tint = picture.bar_tints[i]};
    bars[i] = {.label = picture.bar_names[i], .segments = {&segments[i], 1}};
  }
  widgets::draw_stacked_bars("bars", {bars.data(), n}, view.bars,
                             {.unit = picture.bar_unit, .size = size, .legend = false});
}

void draw_month(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::array<widgets::BarSegment, 3> parts{{
      {.label = "computing", .value = picture.month_useful, .tint = widgets::Tint::good()},
      {.label = "waiting for noise", .value = picture.month_noise, .tint = widgets::Meaning::idle},
      {.label = "waiting for the fault", .value = picture.month_fault, .tint = widgets::Tint::bad()},
  }};
  const std::array<widgets::StackedBar, 1> bars{{{.label = "GPU-hours", .segments = parts}}};
  const float text = t.px(46);
  widgets::draw_stacked_bars("month", bars, view.cost, {.size = {size.x, std::max(t.px(60), size.y - text)}});
  widgets::wrapped_text(widgets::Painter::window(), {at.x, at.y + size.y - text + t.px(6)}, picture.cost_note, size.x,
                        t.text);
}

void draw_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {
      {"rank", "rank"},
      {.key = "computing_s", .title = "computes", .priority = 2},
      {.key = "waited_s", .title = "waits", .priority = 1},
      {.key = "blamed_s", .title = "blamed for", .bar = true},
      {.key = "won_s", .title = "saved on time"},
      {.key = "sooner_s", .title = "job ends sooner", .priority = 1},
      {.key = "times_last", .title = "last", .priority = 2},
  };
  view.rows.draw("ranks of the job", out.rank_rows, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  // Before there is a picture what is chosen says which panels will stand here, so that none jumps.
  const bool pipelines = in.source == Source::lengths || in.source == Source::stages;
  const Shown expected = in.source == Source::fleet ? Shown::fleet : pipelines ? Shown::pipeline : Shown::ranks;
  const Shown shown = picture.shown == Shown::nothing ? expected : picture.shown;
  const bool made = picture.shown != Shown::nothing;
  const bool ranks = shown == Shown::ranks, fleet = shown == Shown::fleet;
  if (shown == Shown::pipeline || fleet) {
    stage.panel("heat",
                {.title = fleet ? "GPUs by steps" : "Workers",
                 .least = {480, 260},
                 .ideal = {0, 420},
                 .answers = true,
                 .marks = "cells"},
                [&](ImVec2 size) { made ? draw_heat(picture, view, size) : ImGui::Dummy(size); });
  } else {
    stage.panel("ranks",
                {.title = "Who waits for whom",
                 .least = {560, 300},
                 .ideal = {900, 520},
                 .answers = true,
                 .marks = "lanes, matrix"},
                [&](ImVec2 size) { draw_ranks(in, picture, size); });
  }
  if (fleet)
    stage.panel("detector", {.title = "The detector", .least = {420, 280}},
                [&](ImVec2 size) { made ? draw_detector(in, picture, view, size) : ImGui::Dummy(size); });
  if (!fleet)
    stage.panel("bars", {.title = ranks ? "Blame and gain" : "What a step would win", .least = {380, 220}},
                [&](ImVec2 size) { made ? draw_bars(picture, view, size) : ImGui::Dummy(size); });
  if (fleet)
    stage.panel("month", {.title = "A month of the fleet", .least = {380, 170}},
                [&](ImVec2 size) { made ? draw_month(picture, view, size) : ImGui::Dummy(size); });
  if (ranks)
    stage.panel("table", {.title = "Rank by rank", .least = {420, 220}, .scrolls = true},
                [&](ImVec2 size) { made ? draw_table(out, view, size) : ImGui::Dummy(size); });
}

}  // namespace chapters::debugging::stragglers
