#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/training/checkpointing/lab.h"
#include "widgets/base/guess.h"
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
                     {.x = {.lo = -0.02 * right, .hi = right, .label = "more time", .unit = "%"},
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

/// While a question is open: as many empty pillars as the model has layers, and under them the budget.
void draw_given(const Outputs& out, const Picture& picture, View& view, ImVec2 at, ImVec2 size, float pillars) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const std::size_t layers = picture.pillars.size();
  const float head = t.px(20), pitch = size.x / static_cast<float>(std::max<std::size_t>(layers, 1)),
              gap = pitch > t.px(8) ? t.px(3) : 1, top = at.y + head;
  widgets::Line words;
  words.add_integer(static_cast<std::int64_t>(layers)).add(layers == 1 ? " layer" : " layers");
  p.text(at, words.view(), t.text, Type::small, widgets::Font::bold);
  for (std::size_t i = 0; i < layers; ++i) {
    const float x = at.x + pitch * static_cast<float>(i);
    p.frame({x, top}, {std::max(x + 1, x + pitch - gap), top + pillars}, t.muted, 1, t.px(2));
  }
  const float lower = top + pillars + t.px(10);
  ImGui::SetCursorScreenPos({at.x, lower});
  widgets::Plot plot("frontier", view.frontier,
                     {.x = {.lo = 0, .hi = 50, .label = "more time", .unit = "%"},
                      .y = {.lo = 0, .hi = 2 * out.budget, .label = "peak", .unit = "B"},
                      .size = {size.x, at.y + size.y - lower - t.px(40)}});
  plot.horizontal_mark(out.budget, "budget");
}

/// How many layers the learner said that are recomputed, as a length over the pillars from the first hollow one on.
void mark_guess(const Picture& picture, const View& view) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  const std::vector<widgets::Rect>& places = view.pillars.layout.pillars;
  if (!guess || guess->output != "recomputed" || !(guess->value >= 1) || places.size() != picture.pillars.size())
    return;
  const auto& t = widgets::theme();
  const auto hollow = std::find_if(picture.pillars.begin(), picture.pillars.end(),
                                   [](const widgets::Pillar& pillar) { return pillar.hollow; });
  const auto first = static_cast<std::size_t>(hollow == picture.pillars.end() ? 0 : hollow - picture.pillars.begin());
  const auto count = static_cast<std::size_t>(std::min(guess->value, static_cast<double>(places.size())));
  const std::size_t last = std::min(first + count, places.size()) - 1;
  const float y = places[first].min.y + t.px(12);
  const widgets::Painter p = widgets::Painter::window();
  for (const float x : {places[first].min.x, places[last].max.x})
    p.line({x, y - t.px(6)}, {x, y + t.px(6)}, t.accent, t.px(2));
  p.line({places[first].min.x, y}, {places[last].max.x, y}, t.accent, t.px(2));
  widgets::Line figure;
  figure.add(widgets::format(guess->value, "")).add(" layers");
  widgets::paint_guess_words(p, {places[first].min.x + t.px(6), y + t.px(8)},
                             widgets::guess_words(figure.view(), first + count > places.size()).view());
}

void draw_layers(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.frontier.x.empty()) return;
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const widgets::Painter p = widgets::Painter::window();
  const float head = t.px(20), pillars = std::clamp(size.y * 0.3f, t.px(66), t.px(190));
  if (widgets::veiled()) return draw_given(out, picture, view, at, size, pillars);
  p.text(at, "What each layer keeps", t.text, Type::small, widgets::Font::bold);
  widgets::fit_text(p, {at.x + size.x, at.y}, picture.count_words, size.x - t.px(170), t.muted, Type::small,
                    widgets::Font::sans, widgets::Align::right);
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  const widgets::PillarEvent event = widgets::draw_pillars("layers", picture.pillars, view.pillars,
                                                           {.size = {size.x, pillars},
                                                            .full = picture.full_words,
                                                            .low = picture.low_words,
                                                            .low_share = picture.low_share});
  mark_guess(picture, view);
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
  stage.panel("plans", {.title = "Plans, and operations", .least = {560, 380}, .ideal = {0, 460}, .scrolls = true},
              [&](ImVec2 size) {
                const ImVec2 corner = ImGui::GetCursorScreenPos();
                const float gap = widgets::theme().px(14), first = std::floor((size.y - gap) / 2);
                draw_plans(out, view, {size.x, first});
                ImGui::SetCursorScreenPos({corner.x, corner.y + first + gap});
                draw_drops(in, out, view, {size.x, size.y - gap - first});
              });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::training::checkpointing
