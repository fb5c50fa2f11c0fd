#include <algorithm>

#include "chapters/kernels/lab/draw_parts.h"

namespace chapters::kernels::lab {

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.bars.empty()) return;
  const float rungs = static_cast<float>(picture.bars.size()), ports = static_cast<float>(picture.ports.size());
  stage.panel("rungs", {.title = "Rungs", .least = {560, 92 + 25 * rungs}, .answers = true, .marks = "rungs"},
              [&](ImVec2 size) {
                const ImVec2 at = ImGui::GetCursorScreenPos();
                draw_tools(in, out, picture, view, size.x);
                const float tools = tools_height();
                ImGui::SetCursorScreenPos({at.x, at.y + tools});
                draw_rungs(in, picture, {size.x, size.y - tools});
              });
  stage.panel("source", {.title = "Source", .least = {380, 180}, .scrolls = true}, [&](ImVec2 size) {
    draw_over_doors(picture.doors, size, view.requests,
                    [&](ImVec2 rest) { draw_source(in, out, picture, view, rest); });
  });
  stage.panel(
      "ports",
      {.title = "Ports, at the rate of the roof", .least = {320, 50 + 22 * ports}, .ideal = {0, 70 + 26 * ports}},
      [&](ImVec2 size) {
        widgets::draw_port_bars("ports of the inner loop", picture.ports, view.ports,
                                {.axis_label = "asked of each, of what it gives", .size = size});
      });
  if (!picture.plot.shown) return;
  stage.panel("roofline", {.title = "Roofline, level by level", .least = {380, 230}},
              [&](ImVec2 size) { draw_roofline(picture, view, size); });
}

}  // namespace chapters::kernels::lab
