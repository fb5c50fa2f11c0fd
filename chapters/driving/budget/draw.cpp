#include <algorithm>
#include <array>

#include "chapters/driving/budget/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

namespace chapters::driving::budget {
namespace {

using widgets::BarSegment, widgets::StackedBar, widgets::Tint;

constexpr std::size_t max_plans = 5, parts = 4;

/// Plans as bars of the watts that they take, by what was done with them.
void draw_watts(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  std::array<BarSegment, max_plans * parts> segments;
  std::array<StackedBar, max_plans> bars;
  const std::size_t count = std::min({max_plans, out.plans.size(), picture.plan_names.size()});
  for (std::size_t i = 0; i < count; ++i) {
    const PlanRow& r = out.plans[i];
    const std::span<BarSegment> mine = std::span(segments).subspan(i * parts, parts);
    mine[0] = {.label = "cameras and links", .value = r.cameras_w, .tint = widgets::Meaning::data_loading};
    mine[1] = {.label = "moving bytes", .value = r.moving_w, .tint = widgets::Meaning::memory_bound};
    mine[2] = {.label = "GPU at work", .value = r.gpu_w, .tint = widgets::Meaning::compute_bound};
    mine[3] = {.label = "chip at rest", .value = r.rest_w, .tint = widgets::Meaning::idle};
    bars[i] = {.label = picture.plan_names[i], .segments = mine};
  }
  widgets::draw_stacked_bars("watts", std::span(bars).first(count), view.watts, {.unit = "W", .size = size});
}

/// The same plans as shares of the GPU's time, of which there is no more than all.
void draw_times(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  std::array<BarSegment, max_plans * 3> segments;
  std::array<StackedBar, max_plans> bars;
  const std::size_t count = std::min({max_plans, out.plans.size(), picture.plan_names.size()});
  for (std::size_t i = 0; i < count; ++i) {
    const PlanRow& r = out.plans[i];
    const std::span<BarSegment> mine = std::span(segments).subspan(i * 3, 3);
    mine[0] = {.label = "convert", .value = r.convert, .tint = Tint::series(0)};
    mine[1] = {.label = "encode", .value = r.encode, .tint = Tint::series(5)};
    mine[2] = {.label = "heads", .value = r.heads, .tint = Tint::series(3)};
    bars[i] = {.label = picture.plan_names[i], .segments = mine};
  }
  widgets::draw_stacked_bars("GPU time", std::span(bars).first(count), view.times,
                             {.unit = "%", .size = size, .limit = 100, .limit_label = "all of the GPU's time"});
}

/// Both under each other, or the watts alone where there is no room, or the times alone where nobody knows the watts.
void draw_plans(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (!out.watts_known) return draw_times(out, picture, view, size);
  if (size.y < t.px(380)) return draw_watts(out, picture, view, size);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = t.px(12), high = 0.53f * (size.y - gap);
  draw_watts(out, picture, view, {size.x, high});
  ImGui::SetCursorScreenPos({corner.x, corner.y + high + gap});
  draw_times(out, picture, view, {size.x, size.y - gap - high});
}

void draw_roofline(const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("roofline", view.roofline,
                     {.x = {.kind = widgets::AxisKind::log10, .label = "arithmetic intensity", .unit = "FLOP/B"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "at the roofs", .unit = "FLOP/s"},
                      .size = size});
  if (picture.roof.x.empty()) return;
  plot.curves(picture.roofs);
  plot.curve(picture.roof);
  plot.curve(picture.dots);
}

/// The same plan on other chips, and the same images in other encoders.
void draw_others(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn chips[] = {
      {"name", "chip"},
      {.key = "format", .priority = 1},
      {.key = "peak_flops_per_s", .title = "peak", .priority = 2},
      {.key = "bandwidth_bytes_per_s", .title = "bandwidth", .priority = 2},
      {.key = "ridge", .title = "ridge", .priority = 3},
      {.key = "frame_s", .title = "a frame"},
      {.key = "busy", .title = "asked for", .bar = true},
  };
  static constexpr DescribedColumn encoders[] = {
      {"name", "encoder"},
      {.key = "image_flops", .title = "an image"},
      {.key = "image_bytes", .title = "moved", .priority = 1},
      {.key = "intensity", .title = "intensity", .priority = 3},
      {.key = "memory_bound", .title = "waits for memory", .priority = 2},
      {.key = "frame_s", .title = "a frame at the roofs", .bar = true},
  };
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = widgets::theme().px(8), high = (size.y - gap) / 2;
  view.chips.draw("chips that are built into cars", out.chips, chips, {size.x, high});
  ImGui::SetCursorScreenPos({corner.x, corner.y + high + gap});
  view.kinds.draw("encoders on the same images", out.kinds, encoders, {size.x, high});
}

/// What was measured on Orin next to the model, and, where there is room, other chips and encoders.
void draw_measured(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const bool beside = size.x >= t.px(900), under = !beside && size.y >= t.px(520);
  if (!beside && !under) return published_strip(picture.published, size);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = t.px(16);
  const ImVec2 strip = beside ? ImVec2{(size.x - gap) / 2, size.y} : ImVec2{size.x, (size.y - gap) / 2};
  published_strip(picture.published, strip);
  if (beside) {
    ImGui::SetCursorScreenPos({corner.x + strip.x + gap, corner.y});
    draw_others(out, view, {size.x - strip.x - gap, size.y});
  } else {
    ImGui::SetCursorScreenPos({corner.x, corner.y + strip.y + gap});
    draw_others(out, view, {size.x, size.y - strip.y - gap});
  }
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("river",
              {.title = "The river", .least = {480, 300}, .ideal = {760, 520}, .answers = true, .marks = "river"},
              [&](ImVec2 size) { draw_river(in, picture, view, size); });
  stage.panel("plans", {.title = "Watts, and the GPU's time", .least = {330, 250}},
              [&](ImVec2 size) { draw_plans(out, picture, view, size); });
  stage.panel("roofline", {.title = "The encoder under the roof", .least = {360, 250}},
              [&](ImVec2 size) { draw_roofline(picture, view, size); });
  stage.panel("measured", {.title = "Measured, and other chips", .least = {380, 250}},
              [&](ImVec2 size) { draw_measured(out, picture, view, size); });
}

}  // namespace chapters::driving::budget
