#include "chapters/distributed/collectives/measured.h"
#include "widgets/base/wrapped_text.h"

namespace chapters::distributed::collectives {
namespace {

void draw_candidates(const MeasuredPicture& p, MeasuredView& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (p.candidates.empty()) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    if (!p.notes.empty()) widgets::wrapped_text(widgets::Painter::window(), at, p.notes.front(), size.x, t.muted);
    return;
  }
  widgets::Plot plot("weighed", view.weighed,
                     {.x = bytes_axis(p.chosen.x),
                      .y = {.kind = widgets::AxisKind::log10, .label = "time", .unit = "s"},
                      .size = size,
                      .legend = size.y >= t.px(260)});
  plot.curve(p.chosen);
  plot.curves(p.candidates);
}

}  // namespace

void draw_weighed(widgets::Stage& stage, const MeasuredPicture& picture, MeasuredView& view) {
  stage.panel("weighed", {.title = "What NCCL weighs", .least = {380, 200}},
              [&](ImVec2 size) { draw_candidates(picture, view, size); });
}

}  // namespace chapters::distributed::collectives
