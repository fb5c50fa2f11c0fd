#include "chapters/debugging/pyramid/lab.h"

namespace chapters::debugging::pyramid {
namespace {

void draw_checks(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 8> columns{{{.key = "name"},
                                                           {.key = "minutes"},
                                                           {.key = "convicts"},
                                                           {.key = "rate", .bar = true},
                                                           {.key = "points_at", .priority = 2},
                                                           {.key = "place", .priority = 1},
                                                           {.key = "best_place", .priority = 1},
                                                           {.key = "layer", .priority = 2}}};
  view.checks.draw("checks", out.checks, columns, size);
}

void draw_causes(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "name"},
                                                           {.key = "likelihood", .bar = true},
                                                           {.key = "minutes"},
                                                           {.key = "best_minutes"},
                                                           {.key = "missed", .priority = 1},
                                                           {.key = "layer", .priority = 2}}};
  view.causes.draw("causes", out.causes, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("orders", {.title = "Two orders", .least = {640, 560}, .answers = true, .marks = "yours, compared"},
              [&](ImVec2 size) { draw_shapes(in, picture, view, size); });
  if (picture.dealt)
    stage.panel("play", {.title = "Find it", .least = {420, 240}},
                [&](ImVec2 size) { draw_play(picture, view, size); });
  stage.panel("checks", {.title = "Checks", .least = {420, 180}, .scrolls = true},
              [&](ImVec2 size) { draw_checks(out, view, size); });
  stage.panel("causes", {.title = "Causes", .least = {420, 180}, .scrolls = true},
              [&](ImVec2 size) { draw_causes(out, view, size); });
}

}  // namespace chapters::debugging::pyramid
