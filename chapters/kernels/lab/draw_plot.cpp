#include <algorithm>
#include <array>

#include "chapters/kernels/lab/draw_parts.h"
#include "widgets/plot/plot.h"

namespace chapters::kernels::lab {
namespace {

using widgets::AxisKind, widgets::Marker, widgets::Plot, widgets::theme;

/// A ladder has at most twelve rungs (Inputs::rung).
constexpr std::size_t max_rungs = 12;

/// A dot a rung at each level of memory, and a smaller one on those of the selected rung.
void draw_dots(const PlotPicture& shown, Plot& plot) {
  const auto& t = theme();
  constexpr Marker markers[] = {Marker::triangle, Marker::diamond, Marker::square};
  for (std::size_t i = 0; i < shown.levels.size(); ++i) {
    const LevelDots& level = shown.levels[i];
    std::array<std::string_view, max_rungs> labels;
    const std::size_t n = std::min(level.x.size(), max_rungs);
    std::copy_n(level.names.begin(), n, labels.begin());
    // The other levels repeat the numbers at the same height.
    const bool labelled = i == 0;
    plot.scatter(level.name, level.x, level.y,
                 {
                     .colour = t.series_at(i),
                     .marker = markers[i % std::size(markers)],
                     .radius = 5,
                     .labels = labelled ? std::span<const std::string_view>{labels.data(), n}
                                        : std::span<const std::string_view>{},
                     .legend = true,
                     .info = level.info,
                     .version = widgets::picture_version(),
                 });
  }
  // The selected rung's dots, one a level, are the same rate.
  for (const LevelDots& level : shown.levels)
    for (std::size_t i = 0; i < level.x.size(); ++i)
      if (level.names[i] == shown.selected) {
        const double x[] = {level.x[i]}, y[] = {level.y[i]};
        plot.scatter(shown.selected_name, x, y,
                     {.colour = t.text, .marker = Marker::circle, .radius = 2.5f, .legend = false});
      }
}

}  // namespace

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
  draw_dots(shown, plot);
}

}  // namespace chapters::kernels::lab
