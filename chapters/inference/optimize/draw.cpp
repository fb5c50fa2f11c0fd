#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/optimize/lab.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

namespace chapters::inference::optimize {
namespace {

using widgets::AxisKind;

/// The dot moves along the curve: the batch whose time per token is nearest the pointer.
void draw_batch(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  widgets::drew("curve");
  widgets::Plot plot("batch", view.batch,
                     {.x = {.kind = AxisKind::log10, .label = "time per token", .unit = "s"},
                      .y = {.kind = AxisKind::log10, .label = "all requests", .unit = "tokens/s"},
                      .size = size});
  plot.curves(picture.batch);
  if (picture.batches.size() < 2) return;
  double x = picture.dot_x, y = picture.dot_y;
  if (!plot.drag_point("drag the batch", x, y, {.output = "tokens_per_s"})) return;
  // Up the curve more requests share a step; they are told apart by throughput, which always rises.
  std::size_t best = 0;
  const auto& rates = picture.batch_rate;
  for (std::size_t i = 1; i < rates.size(); ++i)
    if (std::abs(std::log(rates[i] / y)) < std::abs(std::log(rates[best] / y))) best = i;
  in.batch = static_cast<std::int64_t>(picture.batches[best]);
}

void draw_hero(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const widgets::Theme& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool beside = size.x >= t.px(620);
  const float wide = beside ? std::clamp(size.x * 0.33f, t.px(210), t.px(440)) : 0, gap = beside ? t.px(18) : 0;
  draw_strips(in, picture, view, {size.x - wide - gap, size.y});
  if (!beside) return;
  ImGui::SetCursorScreenPos({at.x + size.x - wide, at.y});
  draw_batch(in, picture, view, {wide, size.y});
}

void draw_worth(const Picture& picture, View& view, ImVec2 size) {
  if (picture.worth_names.empty()) {
    ImGui::Dummy(size);
    return;
  }
  std::array<std::string_view, request_change_count> names;
  for (std::size_t i = 0; i < picture.worth_names.size(); ++i) names[i] = picture.worth_names[i];
  widgets::Plot plot(
      "worth", view.worth,
      {.x = {.kind = AxisKind::category, .categories = std::span(names).first(picture.worth_names.size())},
       .y = {.label = "saves of the request", .unit = "s"},
       .size = size});
  plot.curves(picture.worth);
}

void draw_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 11> columns{{{.key = "name"},
                                                            {.key = "request_s", .bar = true},
                                                            {.key = "gain"},
                                                            {.key = "first_gain"},
                                                            {.key = "last_gain", .priority = 1},
                                                            {.key = "average_saved_s", .priority = 1},
                                                            {.key = "tpot_s", .priority = 2},
                                                            {.key = "tokens_per_s", .priority = 2},
                                                            {.key = "measured", .priority = 2},
                                                            {.key = "residual", .priority = 3},
                                                            {.key = "bytes_per_token", .priority = 3}}};
  view.stages.draw("stages", out.stages, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("bites", {.title = "Bite by bite", .least = {820, 340}, .answers = true, .marks = "bites, curve"},
              [&](ImVec2 size) { draw_hero(in, picture, view, size); });
  stage.panel("worth", {.title = "Worth by place", .least = {420, 260}},
              [&](ImVec2 size) { draw_worth(picture, view, size); });
  stage.panel("table", {.title = "In numbers", .least = {420, 180}, .scrolls = true},
              [&](ImVec2 size) { draw_table(out, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::inference::optimize
