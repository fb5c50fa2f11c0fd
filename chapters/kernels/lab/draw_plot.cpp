#include <algorithm>
#include <array>

#include "chapters/kernels/lab/draw_parts.h"
#include "widgets/plot/plot.h"

namespace chapters::kernels::lab {

using widgets::AxisKind, widgets::Plot, widgets::theme;

void draw_roofline(const Picture& picture, View& view, ImVec2 size) {
  const PlotPicture& shown = picture.plot;
  const auto& t = theme();
  Plot plot("measured roofline", view.plot,
            {.x =
                 {
                     .kind = AxisKind::log10,
                     .lo = shown.x_lo,
                     .hi = shown.x_hi,
                     .label = "operations for each byte at that level",
                     .unit = "FLOP/B",
                 },
             .y =
                 {
                     .kind = AxisKind::log10,
                     .lo = shown.y_lo,
                     .hi = shown.y_hi,
                     .label = "rate",
                     .unit = "FLOP/s",
                 },
             .size = size});
  plot.curves(shown.ceilings);
  plot.curve(shown.roof);
  plot.tag_y(*std::max_element(shown.roof.y.begin(), shown.roof.y.end()), shown.roof.label, {.colour = t.accent});
  plot.curves(shown.levels);
  if (!shown.selected.x.empty()) plot.curve(shown.selected);
}

}  // namespace chapters::kernels::lab
