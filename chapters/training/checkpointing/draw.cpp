#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/training/checkpointing/lab.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::training::checkpointing {
namespace {

using widgets::Type;

/// All plans that are worth anything as a line, those that people use as marks, and the own one.
void draw_frontier(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const double most = std::max({out.kept_peak_bytes, out.budget, out.peak_bytes, out.square_root_bytes});
  const double right = 1.08 * std::max({picture.frontier_s.back(), out.again_share, out.every_layer_share, 1.0});
  widgets::Plot plot("frontier", view.frontier,
                     {.x = {.lo = -0.02 * right, .hi = right, .label = "more time for running again", .unit = "%"},
                      .y = {.lo = 0, .hi = 1.08 * most, .label = "peak", .unit = "B"},
                      .size = size});
  plot.steps(picture.exact ? "best of every plan" : "best plans found", picture.frontier_s, picture.frontier_bytes,
             {.colour = t.of(widgets::Meaning::forward),
              .label = false,
              .info = "dynamic programming: kept, without scores, or in pieces that run again once",
              .version = picture.version});
  view.names.assign(picture.plan_names.begin(), picture.plan_names.end());
  plot.scatter(
      "plans that people use", picture.plan_s, picture.plan_bytes,
      {.colour = t.muted, .marker = widgets::Marker::diamond, .labels = view.names, .version = picture.version});
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
    while (at + 1 < picture.frontier_s.size() && picture.frontier_s[at + 1] <= x) ++at;
    in.budget_bytes = std::ceil(picture.frontier_bytes[at] / 1e6) * 1e6;
    in.plan = Plan::best;
  }
}

void draw_layers(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.frontier_s.empty()) return;
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const widgets::Painter p = widgets::Painter::window();
  const float head = t.px(20);
  if (size.y < t.px(300)) {  // no room for both
    draw_frontier(in, out, picture, view, size);
    return;
  }
  const float pillars = std::clamp(size.y * 0.3f, t.px(90), t.px(190));
  p.text(at, "What each layer keeps", t.text, Type::small, widgets::Font::bold);
  widgets::fit_text(p, {at.x + size.x, at.y}, picture.count_words, size.x - t.px(170), t.muted, Type::small,
                    widgets::Font::sans, widgets::Align::right);
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  const widgets::PillarEvent event = widgets::draw_pillars("layers", picture.pillars, view.pillars,
                                                           {.size = {size.x, pillars},
                                                            .full = picture.full_words,
                                                            .low = picture.low_words,
                                                            .low_share = picture.low_share});
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
  if (picture.piece_k.size() < 2) return;
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "pieces", view.pieces,
      {.x = {.kind = widgets::AxisKind::log2, .lo = 1, .hi = picture.piece_k.back(), .label = "layers in a piece"},
       .y = {.lo = 0, .label = "peak", .unit = "B"},
       .size = size});
  plot.line("this model", picture.piece_k, picture.piece_bytes,
            {.colour = t.of(widgets::Meaning::forward), .label = false, .version = picture.version});
  plot.line("a chain of single tensors", picture.piece_k, picture.chain_bytes,
            {.colour = t.muted,
             .dashed = true,
             .info = "Chen et al. 2016: an input is as large as all that a layer keeps",
             .version = picture.version});
  plot.horizontal_mark(out.budget, "budget");
  plot.vertical_mark(std::ceil(std::sqrt(picture.piece_k.back())), "\xE2\x88\x9AL");
  double k = static_cast<double>(in.piece);
  if (plot.drag_x("drag piece", k, {.label = "k", .lo = 1, .hi = picture.piece_k.back()})) {
    in.piece = std::max<std::int64_t>(1, std::llround(k));
    in.plan = Plan::pieces;
  }
}

void draw_plans(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{
      {{.title = "plan", .number = false},
       {.title = "layers again"},
       {.title = "more time", .unit = "%", .bar = true},
       {.title = "peak", .value_unit = "B"},
       {.title = "best of that time", .value_unit = "B", .priority = 1},
       {.title = "in the budget", .number = false, .priority = 2}}};
  widgets::TableSource source{.context = &out, .rows = out.plans.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const PlanRow& r = static_cast<const Outputs*>(context)->plans[row];
    if (column == 0) {
      cell.text = r.name;
    } else if (column == 5) {
      cell.text = r.fits ? "yes" : "no";
    } else {
      cell.value = column == 1 ? r.recomputed : column == 2 ? r.again_share : column == 3 ? r.peak_bytes : r.best_bytes;
      cell.number = widgets::format(cell.value, column >= 3 ? "B" : "");
    }
  };
  widgets::draw_table("plans", columns, source, view.plans, size);
}

void draw_drops(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 5> columns{
      {{.title = "runs again", .number = false},
       {.title = "for the input of", .number = false, .priority = 1},
       {.title = "frees a layer", .value_unit = "B"},
       {.title = "takes a layer", .value_unit = "s"},
       {.title = "freed for a second", .value_unit = "B/s", .bar = true}}};
  widgets::TableSource source{.context = &out, .rows = out.drops.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const DropRow& r = static_cast<const Outputs*>(context)->drops[row];
    if (column == 0) {
      cell.text = r.by;
    } else if (column == 1) {
      cell.text = r.operation;
    } else {
      cell.value = column == 2 ? r.bytes : column == 3 ? r.time_s : r.bytes_per_s;
      cell.number = widgets::format(cell.value, column == 2 ? "B" : column == 3 ? "s" : "B/s");
    }
  };
  view.drops.selected = in.dropped > 0 ? in.dropped - 1 : -1;
  if (widgets::draw_table("drops", columns, source, view.drops, size).selection_changed)
    in.dropped = view.drops.selected + 1;
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("layers", {.title = "Layers and frontier", .least = {600, 440}, .answers = true},
              [&](ImVec2 size) { draw_layers(in, out, picture, view, size); });
  stage.panel("pieces", {.title = "Pieces of k layers", .least = {560, 320}, .ideal = {0, 460}},
              [&](ImVec2 size) { draw_pieces(in, out, picture, view, size); });
  stage.panel("plans", {.title = "Plans", .least = {560, 300}, .ideal = {0, 460}, .scrolls = true},
              [&](ImVec2 size) { draw_plans(out, picture, view, size); });
  stage.panel("drops", {.title = "By operation", .least = {560, 300}, .ideal = {0, 460}, .scrolls = true},
              [&](ImVec2 size) { draw_drops(in, out, picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::training::checkpointing
