#include <array>

#include "chapters/role/compounding/lab.h"

namespace chapters::role::compounding {
namespace {

constexpr std::array<DescribedColumn, 7> stage_columns{{
    {.key = "name"},
    {.key = "own_factor", .priority = 1},
    {.key = "saved_s", .bar = true},
    {.key = "gain"},
    {.key = "first_gain", .title = "as the first"},
    {.key = "last_gain", .title = "as the last"},
    {.key = "step_s", .priority = 2},
}};

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("bars",
              {.title = "What each takes off the step", .least = {480, 230}, .answers = true, .marks = "steps, after"},
              [&](ImVec2 size) { draw_bars(in, picture, view, size); });
  stage.panel("stages", {.title = "In this order", .least = {440, 150}, .ideal = {0, 190}, .scrolls = true},
              [&](ImVec2 size) { view.stages.draw("stages", out.stages, stage_columns, size); });
  published_panel(stage, "Measured stacks", picture.published);
}

}  // namespace chapters::role::compounding
