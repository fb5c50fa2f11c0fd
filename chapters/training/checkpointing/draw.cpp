#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/training/checkpointing/lab.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::training::checkpointing {
namespace {

using widgets::Type;

/// All plans that are worth anything as a line, those that people use as marks, and the own one.
void draw_frontier(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const double most = std::max({out.kept_peak_bytes, out.budget, out.peak_bytes, out.square_root_bytes});
  const double right = 1.08 * std::max({picture.frontier.x.back(), out.again_share, out.every_layer_share, 1.0});
  widgets::Plot plot("frontier", view.frontier,
                     {.x = {.lo = -0.02 * right, .hi = right, .label = "more time for recomputing", .unit = "%"},
                      .y = {.lo = 0, .hi = 1.08 * most, .label = "peak", .unit = "B"},
                      .size = size});
  plot.curve(picture.frontier);
  plot.curve(picture.used);
  widgets::drew("frontier");
  double budget = out.budget;
  if (plot.drag_y("drag budget", budget,
                  {.colour = out.fits ? t.text : t.bad, .label = picture.budget_words, .lo = 1e9, .hi = 1e12})) {
    in.budget_bytes = budget;
    in.plan = Plan::best;
  }
  double x = out.again_share, y = out.peak_bytes;
  if (plot.drag_point("yours", x, y, {.label = "yours", .lo = 0, .hi = right, .y_lo = 0, .y_hi = 1.08 * most})) {
    // The best plan that takes no more time than where the point was dragged to.
    std::size_t at = 0;
    while (at + 1 < picture.frontier.x.size() && picture.frontier.x[at + 1] <= x) ++at;
    in.budget_bytes = std::ceil(picture.frontier.y[at] / 1e6) * 1e6;
    in.plan = Plan::best;
  }
}

/// While a question is open: as many empty pillars as the model has layers.
void draw_given_pillars(std::size_t layers, ImVec2 at, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const float pitch = size.x / static_cast<float>(std::max<std::size_t>(layers, 1)),
              gap = pitch > t.px(8) ? t.px(3) : 1;
  for (std::size_t i = 0; i < layers; ++i) {
    const float x = at.x + pitch * static_cast<float>(i);
    p.frame({x, at.y}, {std::max(x + 1, x + pitch - gap), at.y + size.y}, t.muted, 1, t.px(2));
  }
}

void draw_layers(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.frontier.x.empty()) return;
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const widgets::Painter p = widgets::Painter::window();
  const float head = t.px(20), pillars = std::clamp(size.y * 0.3f, t.px(66), t.px(190));
  if (widgets::veiled()) draw_given_pillars(picture.pillars.size(), {at.x, at.y + head}, {size.x, pillars});
  p.text(at, "What each layer keeps", t.text, Type::small, widgets::Font::bold);
  widgets::fit_text(p, {at.x + size.x, at.y}, picture.count_words, size.x - t.px(170), t.muted, Type::small,
                    widgets::Font::sans, widgets::Align::right);
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  const widgets::PillarEvent event = widgets::draw_pillars("layers", picture.pillars, view.pillars,
                                                           {.size = {size.x, pillars},
                                                            .full = picture.full_words,
                                                            .low = picture.low_words,
                                                            .low_share = picture.low_share});
  widgets::drew("pillars");
  const float lower = at.y + head + pillars + t.px(10);
  ImGui::SetCursorScreenPos({at.x, lower});
  draw_frontier(in, out, picture, view, {size.x, at.y + size.y - lower - t.px(4)});
  if (event.pillar < 0) return;
  in.letters = picture.letters;
  if (static_cast<std::size_t>(event.pillar) < in.letters.size())
    in.letters[static_cast<std::size_t>(event.pillar)] = event.hollow ? 'r' : 'k';
  in.plan = Plan::drawn;
}

void draw_pieces(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.by_piece.empty() || picture.by_piece.front().x.size() < 2) return;
  const double most = picture.by_piece.front().x.back();
  widgets::Plot plot("pieces", view.pieces,
                     {.x = {.kind = widgets::AxisKind::log2, .lo = 1, .hi = most, .label = "layers in a piece"},
                      .y = {.lo = 0, .label = "peak", .unit = "B"},
                      .size = size});
  plot.curves(picture.by_piece);
  plot.horizontal_mark(out.budget, "budget");
  plot.vertical_mark(std::ceil(std::sqrt(most)), "\xE2\x88\x9AL");
  double k = static_cast<double>(in.piece);
  if (plot.drag_x("drag piece", k, {.label = "k", .lo = 1, .hi = most})) {
    in.piece = std::max<std::int64_t>(1, std::llround(k));
    in.plan = Plan::pieces;
  }
}

void draw_plans(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{
      {{.key = "name", .title = "plan"},
       {.key = "recomputed", .title = "layers recomputed"},
       {.key = "again_share", .title = "more time", .bar = true},
       {.key = "peak_bytes", .title = "peak"},
       {.key = "best_bytes", .title = "best of that time", .priority = 1},
       {.key = "fits", .title = "in the budget", .priority = 2}}};
  view.plans.draw("plans", out.plans, columns, size);
}

void draw_drops(Inputs& in, const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{
      {{.key = "by", .title = "recomputed"},
       {.key = "operation", .title = "for the input of", .priority = 1},
       {.key = "bytes", .title = "frees per layer"},
       {.key = "time_s", .title = "takes per layer"},
       {.key = "bytes_per_s", .title = "freed per second", .bar = true}}};
  widgets::TableView& table = view.drops.view;
  table.selected = in.dropped > 0 ? in.dropped - 1 : -1;
  if (view.drops.draw("drops", out.drops, columns, size).selection_changed) in.dropped = table.selected + 1;
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("layers",
              {.title = "Layers and frontier", .least = {600, 440}, .answers = true, .marks = "pillars, frontier"},
              [&](ImVec2 size) { draw_layers(in, out, picture, view, size); });
  stage.panel("pieces", {.title = "Pieces of k layers", .least = {560, 320}, .ideal = {0, 460}},
              [&](ImVec2 size) { draw_pieces(in, out, picture, view, size); });
  stage.panel("plans", {.title = "Plans", .least = {560, 300}, .ideal = {0, 460}, .scrolls = true},
              [&](ImVec2 size) { draw_plans(out, view, size); });
  stage.panel("drops", {.title = "By operation", .least = {560, 300}, .ideal = {0, 460}, .scrolls = true},
              [&](ImVec2 size) { draw_drops(in, out, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::training::checkpointing
