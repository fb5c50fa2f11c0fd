#include "chapters/distributed/collectives/measured.h"

namespace chapters::distributed::collectives {
/// What NCCL weighs against each other for the run's machine.
void draw_weighed(const MeasuredPicture& p, MeasuredView& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("weighed", view.weighed,
                     {.x = bytes_axis(p.chosen.x),
                      .y = {.kind = widgets::AxisKind::log10, .label = "time", .unit = "s"},
                      .size = size,
                      .legend = size.y >= t.px(260)});
  plot.curve(p.chosen);
  plot.curves(p.candidates);
}

}  // namespace chapters::distributed::collectives
