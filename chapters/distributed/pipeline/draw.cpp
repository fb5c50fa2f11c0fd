#include <array>

#include "chapters/distributed/pipeline/lab.h"

namespace chapters::distributed::pipeline {
namespace {

void draw_kept(const Picture& picture, View& view, ImVec2 size) {
  view.rank_names.clear();
  for (const std::string& text : picture.rank_texts) view.rank_names.push_back(text);
  widgets::Plot plot("kept by rank", view.kept,
                     {.x = {.kind = widgets::AxisKind::category, .label = "rank", .categories = view.rank_names},
                      .y = {.lo = 0, .hi = 1.1 * picture.most_kept, .label = "micro-batches kept"},
                      .size = size});
  plot.curves(picture.kept);
}

void draw_idle(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const auto stages = static_cast<double>(in.stages);
  widgets::Plot plot(
      "idle against micro-batches", view.idle,
      {.x = {.kind = widgets::AxisKind::log2, .lo = stages, .hi = 32 * stages, .label = "micro-batches"},
       .y = {.lo = 0, .hi = std::min(100.0, 1.1 * picture.most_idle), .label = "idle / makespan", .unit = "%"},
       .size = size});
  if (picture.idle.empty()) return;
  plot.curves(picture.idle);
  const auto x = static_cast<double>(in.micro_batches), y = out.now.idle_percent;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .legend = false});
}

void draw_ranks(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 7> columns{{{.key = "rank"},
                                                           {.key = "busy_s", .priority = 1},
                                                           {.key = "wall_bubble_s", .bar = true},
                                                           {.key = "span_bubble_s"},
                                                           {.key = "keeps", .bar = true},
                                                           {.key = "beside_keeps", .priority = 1},
                                                           {.key = "versions"}}};
  view.ranks.draw("ranks", out.ranks, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "schedules",
      {.title = "Two schedules, one clock", .least = {620, 400}, .answers = true, .marks = "rank lanes, memory strips"},
      [&](ImVec2 size) { draw_schedules(in, out, picture, view, size); });
  stage.panel("kept", {.title = "Kept by rank", .least = {340, 150}},
              [&](ImVec2 size) { draw_kept(picture, view, size); });
  stage.panel("idle", {.title = "Against micro-batches", .least = {340, 150}},
              [&](ImVec2 size) { draw_idle(in, out, picture, view, size); });
  stage.panel("ranks", {.title = "Ranks", .least = {400, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_ranks(out, view, size); });
}

}  // namespace chapters::distributed::pipeline
