#include <algorithm>
#include <array>

#include "chapters/kernels/lab/lab.h"
#include "widgets/plot/plot.h"

namespace chapters::kernels::lab {
namespace {

using widgets::AxisKind;
using widgets::Marker;
using widgets::Plot;
using widgets::theme;

/// A ladder has at most twelve rungs (Inputs::rung).
constexpr std::size_t most = 12;
constexpr std::array<std::string_view, most> rung_names{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"};

void dots(Plot& plot, const char* name, const std::vector<double>& x, const std::vector<double>& y,
          const std::vector<std::string>& names, ImU32 colour, Marker marker, std::string_view info) {
  if (x.empty()) return;
  std::array<std::string_view, most> labels;
  const std::size_t n = std::min(x.size(), most);
  std::copy_n(names.begin(), n, labels.begin());
  plot.scatter(name, x, y,
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

void draw_roofline(const Outputs& out, View& view, float width, float height) {
  const auto& t = theme();
  const bool time = out.ladder->measure == ::kernels::Measure::latency_s;
  const widgets::AxisSpec rate{
      .kind = AxisKind::log10,
      .lo = out.plot_y_lo,
      .hi = out.plot_y_hi,
      .label = time          ? "one access"
               : out.by_rung ? "rate"
                             : "attainable",
      .unit = out.y_unit,
  };
  if (out.by_rung) {
    Plot plot("rates by rung", view.by_rung,
              {.x =
                   {
                       .lo = -0.5,
                       .hi = static_cast<double>(out.bars.size()) - 0.5,
                       .label = "rung",
                       .categories = {rung_names.data(), std::min(out.bars.size(), most)},
                   },
               .y = rate,
               .size = {width, height}});
    for (const auto& c : out.ceilings) plot.horizontal_mark(c.value, c.label, {.colour = t.accent});
    dots(plot, "measured", out.dot_x, out.dot_y, out.dot_names, t.good, Marker::square,
         "median of the runs on this machine");
    dots(plot, "the model allows", out.guess_x, out.guess_y, out.guess_names, t.muted, Marker::diamond,
         "bound by the scarcest port");
    return;
  }
  Plot plot("measured roofline", view.plot,
            {.x =
                 {
                     .kind = AxisKind::log10,
                     .lo = out.plot_x_lo,
                     .hi = out.plot_x_hi,
                     .label = "intensity",
                     .unit = "FLOP/B",
                 },
             .y = rate,
             .size = {width, height}});
  for (const auto& c : out.ceilings)
    plot.line(c.label, c.x, c.y,
              {
                  .colour = widgets::with_alpha(t.accent, 0.6f),
                  .width = 1.2f,
                  .dashed = true,
                  .legend = false,
              });
  plot.line(out.roof_label, out.roof_x, out.roof_y,
            {
                .colour = t.accent,
                .width = 3,
                .label = true,
                .legend = false,
                .info = "min(peak, intensity x bandwidth)",
                .version = out.version,
            });
  dots(plot, "measured", out.dot_x, out.dot_y, out.dot_names, t.good, Marker::square,
       "operations of the algorithm over the median time");
  dots(plot, "the model allows", out.guess_x, out.guess_y, out.guess_names, t.muted, Marker::diamond,
       "bound by the scarcest port");
}

}  // namespace chapters::kernels::lab
