#include <algorithm>
#include <array>

#include "chapters/role/scaling/lab.h"
#include "widgets/base/guess.h"
#include "widgets/number/number.h"

namespace chapters::role::scaling {
namespace {

/// What a run takes against what it costs: to the left is faster, up is dearer.
void draw_money(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("money", view.money,
                     {.x = {.kind = widgets::AxisKind::log10, .label = "time of the run", .unit = "s"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "cost of the run", .unit = "$"},
                      .size = size});
  if (picture.money.x.empty()) return;
  plot.curve(picture.money);
  plot.curve(picture.money_dots);
  plot.horizontal_mark(out.ideal_cost, "ideal, on any number", {.colour = t.muted});
  plot.scatter("yours", std::span(&out.run_s, 1), std::span(&out.cost, 1), {.colour = t.accent, .radius = 6});
}

void draw_all_reduce(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("all-reduce", view.collective,
                     {.x = {.kind = widgets::AxisKind::log2, .hi = picture.far_gpus, .label = "GPUs"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "summing the gradients", .unit = "s"},
                      .size = size});
  if (picture.gpus.empty()) return;
  plot.curves(picture.all_reduce);
  const auto x = static_cast<double>(out.step.gpus);
  const double y = out.step.all_reduce.total_s();
  if (y > 0)
    plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .legend = false});
}

void draw_slowest(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("slowest", view.slowest,
                     {.x = {.kind = widgets::AxisKind::log2, .hi = picture.far_gpus, .label = "GPUs"},
                      .y = {.lo = 0, .label = "waiting, of the compute time", .unit = "%"},
                      .size = size});
  if (picture.gpus.empty()) return;
  plot.curve(picture.slowest);
  plot.error_bars(picture.drawn.x, picture.drawn_lo, picture.drawn_hi, t.muted);
  plot.curve(picture.drawn);
  const auto x = static_cast<double>(out.step.gpus);
  plot.scatter("yours", std::span(&x, 1), std::span(&out.slowest, 1),
               {.colour = t.accent, .radius = 6, .legend = false});
  if (const widgets::ShownGuess* const guess = widgets::shown_guess(); guess && guess->output == "slowest")
    plot.horizontal_mark(guess->value, widgets::guess_words(widgets::format(guess->value, "%").view(), false).view(),
                         {.colour = t.accent});
}

/// What a step loses with more GPUs: next to each other in a wide place, in another one above the other.
void draw_losses(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(14);
  const bool across = size.x >= t.px(620) && size.x >= 1.4f * size.y;
  const ImVec2 each = across ? ImVec2{(size.x - gap) / 2, size.y} : ImVec2{size.x, (size.y - gap) / 2};
  draw_slowest(out, picture, view, each);
  ImGui::SetCursorScreenPos(across ? ImVec2{at.x + each.x + gap, at.y} : ImVec2{at.x, at.y + each.y + gap});
  draw_all_reduce(out, picture, view, each);
}

constexpr std::array<DescribedColumn, 6> point_columns{{
    {.key = "gpus"},
    {.key = "measured_s"},
    {.key = "model_s"},
    {.key = "model_error", .title = "off by"},
    {.key = "fit_s", .priority = 1},
    {.key = "fit_error", .title = "off by", .priority = 2},
}};

/// The points of the series with the model's and Amdahl's figures, and all published runs against the model.
void draw_measured(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(16);
  const bool across = size.x >= t.px(1000);
  // The rows of the last frame say how high the table is.
  const widgets::TableLayout& rows = view.points.view.layout;
  const float all = rows.header_height + rows.row_height * static_cast<float>(out.compared.size()) + t.px(4);
  const float most = 0.45f * size.y;
  const ImVec2 table =
      across ? ImVec2{(size.x - gap) / 2, size.y} : ImVec2{size.x, rows.row_height > 0 ? std::min(all, most) : most};
  view.points.draw("points", out.compared, point_columns, table);
  ImGui::SetCursorScreenPos(across ? ImVec2{at.x + table.x + gap, at.y} : ImVec2{at.x, at.y + table.y + gap});
  published_strip(picture.published,
                  across ? ImVec2{size.x - table.x - gap, size.y} : ImVec2{size.x, size.y - table.y - gap});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "scaling",
      {.title = "Ideal and real", .least = {480, 240}, .ideal = {0, 460}, .answers = true, .marks = "curve, step"},
      [&](ImVec2 size) { draw_hero(in, out, picture, view, size); });
  stage.panel("money", {.title = "Time against money", .least = {340, 200}},
              [&](ImVec2 size) { draw_money(out, picture, view, size); });
  stage.panel("measured", {.title = "Measured runs", .least = {420, 290}, .ideal = {0, 320}, .scrolls = true},
              [&](ImVec2 size) { draw_measured(out, picture, view, size); });
  stage.panel("losses", {.title = "What more GPUs lose", .least = {620, 200}},
              [&](ImVec2 size) { draw_losses(out, picture, view, size); });
}

}  // namespace chapters::role::scaling
