#include <algorithm>
#include <array>

#include "chapters/profiling/step_trace/hero_plan.h"
#include "chapters/profiling/step_trace/lab.h"

namespace chapters::profiling::step_trace {
namespace {

/// The steps, what they are made of, and what each change takes: as much of it as there is room for.
void draw_hero(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const HeroPlan plan = plan_hero({at, {at.x + size.x, at.y + size.y}},
                                  {.steps_height = t.px(steps_least_height(picture)),
                                   .bars = picture.bars.size(),
                                   .fixes = picture.order.rows.size()},
                                  t.scale);
  draw_steps(picture, view, {plan.steps.width(), plan.steps.height()});
  if (plan.has_slab) {
    ImGui::SetCursorScreenPos(plan.slab.min);
    draw_slab(picture, view, {plan.slab.width(), plan.slab.height()}, plan.has_table);
  }
  if (plan.has_table) draw_order_table(picture, plan.table);
}

void draw_causes(const Picture& picture, View& view, ImVec2 size) {
  view.drawn.clear();
  for (const Bar& bar : picture.bars) view.drawn.push_back({.label = bar.label, .segments = bar.segments});
  widgets::draw_stacked_bars("causes", view.drawn, view.bars,
                             {.unit = "s", .axis_label = "one step", .size = size, .bar_px = 34});
}

void draw_fixes(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "name", .title = "change"},
                                                           {.key = "in_order_s", .title = "in this order"},
                                                           {.key = "alone_s", .title = "alone"},
                                                           {.key = "step_s", .title = "step", .bar = true},
                                                           {.key = "then", .title = "then the largest"},
                                                           {.key = "then_share", .title = "share", .priority = 1}}};
  const auto hover = [](const FixRow&, std::string_view key) -> std::string_view {
    return key == "in_order_s" ? "what it takes off the step with the changes above it"
           : key == "alone_s"  ? "what it takes off the step as found"
           : key == "step_s"   ? "the step with this change and those above it"
                               : "";
  };
  view.fixes.draw("what each change takes", out.fixes, columns, size, {.hover = hover});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs&, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("steps",
              {.title = "Before and after", .least = {560, 400}, .answers = true, .marks = "before and after, causes"},
              [&](ImVec2 size) { draw_hero(picture, view, size); });
  // The hero has both of these where there is room; alone they have it all.
  stage.panel("causes", {.title = "One step by cause", .least = {1200, 640}},
              [&](ImVec2 size) { draw_causes(picture, view, size); });
  stage.panel("fixes", {.title = "What each change takes", .least = {1200, 640}, .scrolls = true},
              [&](ImVec2 size) { draw_fixes(out, view, size); });
  stage.panel("spans", {.title = "What each span would win", .least = {1200, 640}, .scrolls = true},
              [&](ImVec2 size) { draw_spans(picture, view, size); });
}

}  // namespace chapters::profiling::step_trace
