#include <algorithm>
#include <array>

#include "chapters/kernels/lab/draw_parts.h"
#include "widgets/plot/plot.h"

namespace chapters::kernels::lab {
namespace {

using widgets::AxisKind;
using widgets::Marker;
using widgets::Plot;
using widgets::theme;

/// A ladder has at max_rungs twelve rungs (Inputs::rung).
constexpr std::size_t max_rungs = 12;
constexpr std::array<std::string_view, max_rungs> rung_names{"1", "2", "3", "4",  "5",  "6",
                                                             "7", "8", "9", "10", "11", "12"};

void draw_points(Plot& plot, const char* name, const PlotPoints& points, ImU32 colour, Marker marker,
                 std::string_view info) {
  if (points.x.empty()) return;
  std::array<std::string_view, max_rungs> labels;
  const std::size_t n = std::min(points.x.size(), max_rungs);
  std::copy_n(points.names.begin(), n, labels.begin());
  plot.scatter(name, points.x, points.y,
               {
                   .colour = colour,
                   .marker = marker,
                   .radius = 5,
                   .labels = {labels.data(), n},
                   .legend = true,
                   .info = info,
               });
}

}  // namespace

void draw_roofline(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const PlotPicture& shown = picture.plot;
  const auto& t = theme();
  const bool time = out.ladder->measure == ::kernels::Measure::latency_s;
  const widgets::AxisSpec rate{
      .kind = AxisKind::log10,
      .lo = shown.y_lo,
      .hi = shown.y_hi,
      .label = time            ? "one access"
               : shown.by_rung ? "rate"
                               : "attainable",
      .unit = shown.y_unit,
  };
  if (shown.by_rung) {
    Plot plot("rates by rung", view.by_rung,
              {.x =
                   {
                       .lo = -0.5,
                       .hi = static_cast<double>(picture.bars.size()) - 0.5,
                       .label = "rung",
                       .categories = {rung_names.data(), std::min(picture.bars.size(), max_rungs)},
                   },
               .y = rate,
               .size = {width, height}});
    for (const auto& c : shown.ceilings) plot.horizontal_mark(c.value, c.label, {.colour = t.accent});
    draw_points(plot, "measured", shown.measured, t.good, Marker::square, "median of the runs on this machine");
    draw_points(plot, "the model allows", shown.predicted, t.muted, Marker::diamond, "bound by the scarcest port");
    return;
  }
  Plot plot("measured roofline", view.plot,
            {.x =
                 {
                     .kind = AxisKind::log10,
                     .lo = shown.x_lo,
                     .hi = shown.x_hi,
                     .label = "intensity",
                     .unit = "FLOP/B",
                 },
             .y = rate,
             .size = {width, height}});
  for (const auto& c : shown.ceilings)
    plot.line(c.label, c.x, c.y,
              {
                  .colour = widgets::with_alpha(t.accent, 0.6f),
                  .width = 1.2f,
                  .dashed = true,
                  .legend = false,
              });
  plot.line(shown.roof_label, shown.roof_x, shown.roof_y,
            {
                .colour = t.accent,
                .width = 3,
                .label = true,
                .legend = false,
                .info = "min(peak, intensity x bandwidth)",
                .version = picture.version,
            });
  draw_points(plot, "measured", shown.measured, t.good, Marker::square,
              "operations of the algorithm over the median time");
  draw_points(plot, "the model allows", shown.predicted, t.muted, Marker::diamond, "bound by the scarcest port");
}

}  // namespace chapters::kernels::lab
