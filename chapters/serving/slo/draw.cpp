#include "chapters/serving/slo/lab.h"
#include "widgets/plot/plot.h"

namespace chapters::serving::slo {

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "stick",
      {.title = "Stick and hill", .least = {520, 320}, .ideal = {0, 600}, .answers = true, .marks = "dots, hill"},
      [&](ImVec2 size) { draw_hero(in, out, picture, view, size); });
  stage.panel("time", {.title = "The run in time", .least = {440, picture.scales ? 340.0f : 300.0f}},
              [&](ImVec2 size) { draw_times(in, picture, view, size); });
  if (picture.has_tokens)
    stage.panel("paces", {.title = "Pace of the answers", .least = {420, 260}},
                [&](ImVec2 size) { draw_paces(in, picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::serving::slo
