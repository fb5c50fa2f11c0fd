#include <algorithm>
#include <cmath>

#include "chapters/roofline/tiling_waves/draw.h"
#include "widgets/plot/plot.h"

namespace chapters::roofline::tiling_waves {

void draw_saw(Inputs& in, const Outputs& out, const Picture& pic, View& view, Room room) {
  const auto& t = widgets::theme();
  widgets::Plot plot("efficiency over N", view.saw,
                     {.x = {.lo = 0, .hi = static_cast<double>(std::max(in.sweep_to, in.n)), .label = "columns N"},
                      .y = {.lo = 0, .hi = pic.saw_top, .label = "share of the peak", .unit = "%"},
                      .size = {room.width, room.height}});
  plot.curves(pic.saw);
  if (out.free_range.last_n > in.n && out.free_range.last_n <= in.sweep_to) {
    widgets::Line free;
    free.add("free up to ").add(widgets::format(static_cast<double>(out.free_range.last_n), "", 12));
    plot.vertical_mark(static_cast<double>(out.free_range.last_n), free.view());
  }
  if (!pic.published_products.x.empty()) plot.curve(pic.published_products);
  const double at = static_cast<double>(in.n);
  plot.scatter("this matmul", {&at, 1}, {&out.efficiency, 1},
               {
                   .colour = t.accent,
                   .radius = 6,  // Diamonds are measurements.
                   .legend = false,
                   .info = "as set, alignment in",
                   .output = "efficiency",
               });
  widgets::Line label;
  label.add("N = ").add(widgets::format(at, "", 12)).add(", ").add(widgets::format(out.efficiency, "%"));
  double n = at;
  if (plot.drag_x("drag N", n, {.label = label.view(), .lo = 1, .hi = static_cast<double>(in.sweep_to)}))
    in.n = std::clamp<std::int64_t>(std::llround(n), 1, in.sweep_to);
}

void draw_near(const Inputs& in, const Outputs& out, const Picture& pic, View& view, Room room) {
  const auto& t = widgets::theme();
  const double n = static_cast<double>(in.n);
  widgets::Plot plot("around N", view.near,
                     {.x = {.lo = n - 13, .hi = n + 13, .label = "columns N"},
                      .y = {.lo = 0, .hi = pic.near_top, .label = "share of the peak", .unit = "%"},
                      .size = {room.width, room.height}});
  plot.bars("since cuBLAS 11", pic.near_n, pic.near_preferred,
            {.colour = t.series_at(1), .width = 0.4f, .offset = -0.5f, .info = "16-byte alignment preferred"});
  plot.bars(
      "before cuBLAS 11", pic.near_n, pic.near_required,
      {.colour = t.series_at(5), .width = 0.4f, .offset = 0.5f, .info = "16-byte alignment required for Tensor Cores"});
  widgets::Line here;
  here.add("N = ").add(widgets::format(n, "", 12));
  plot.vertical_mark(n, here.view(), {.colour = t.accent});
  if (out.padding.padded_n != in.n && out.padding.padded_n - in.n <= 12) {
    widgets::Line padded;
    padded.add("padded ").add(widgets::format(static_cast<double>(out.padding.padded_n), "", 12));
    plot.vertical_mark(static_cast<double>(out.padding.padded_n), padded.view());
  }
}

}  // namespace chapters::roofline::tiling_waves
