#include <algorithm>
#include <array>
#include <span>

#include "chapters/precision/loss_scaling/lab.h"
#include "widgets/base/tint.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::loss_scaling {
namespace {

using widgets::Tint;

/// One colour for each thing that FP16 can make of a magnitude.
const Tint zero_tint = tint_of(Fate::zero), subnormal_tint = tint_of(Fate::subnormal),
           normal_tint = tint_of(Fate::normal), overflow_tint = tint_of(Fate::overflow);

}  // namespace

void draw_bell(const Picture& picture, const StepPicture& s, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("gradients at the step", view.bell,
                     {
                         .x =
                             {
                                 .kind = widgets::AxisKind::log2,
                                 .lo = s.lo,
                                 .hi = s.hi,
                                 .label = "magnitude",
                             },
                         .y = {.lo = 0, .hi = 1.35, .label = "density"},
                         .size = size,
                         .legend = false,
                     });
  const auto stand_at = [&](double median) {
    for (std::size_t i = 0; i < bell_points; ++i) view.x[i] = median * picture.bell_multiple[i];
  };
  stand_at(s.scaled_median);
  constexpr std::array<std::string_view, 4> names{"becomes zero", "subnormal", "normal", "becomes inf"};
  const std::array<Tint, 4> tints{zero_tint, subnormal_tint, normal_tint, overflow_tint};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t first = s.ends[k], end = s.ends[k + 1];
    if (end <= first) continue;
    const std::size_t points = std::min(end + 1, bell_points) - first;  // One point more makes the stretches touch.
    plot.area(names[k], {view.x.data() + first, points}, {picture.bell_density.data() + first, points},
              {
                  .colour = widgets::colour(tints[k], t),
                  .alpha = 0.6f,
                  .legend = false,
                  .info = "of the gradients under the scale",
              });
  }
  stand_at(s.median);
  plot.line("unscaled", view.x, picture.bell_density,
            {
                .colour = t.muted,
                .width = 1.5f,
                .dashed = true,
                .legend = false,
                .info = "the same gradients before the loss was scaled",
            });
  plot.vertical_mark(picture.zero_below, "zero below", {.colour = colour_of(Fate::zero)});
  plot.vertical_mark(picture.smallest_normal, "normal from", {.colour = t.muted});
  plot.vertical_mark(picture.infinite_from, "inf from", {.colour = colour_of(Fate::overflow)});
}

void draw_shares(const StepPicture& s, bool scaled, View& view, ImVec2 size) {
  constexpr std::array<std::string_view, 3> names{"FP16, scaled", "FP16, as they are", "BF16, as they are"};
  widgets::BarSegment segments[3][4];
  widgets::StackedBar bars[3];
  for (std::size_t i = 0; i < 3; ++i) {
    segments[i][0] = {
        .label = "zero",
        .value = s.shares[i][0],
        .tint = zero_tint,
        .info = "below half the smallest subnormal",
    };
    segments[i][1] = {
        .label = "subnormal",
        .value = s.shares[i][1],
        .tint = subnormal_tint,
        .info = "fewer bits the smaller they are",
    };
    segments[i][2] = {
        .label = "normal",
        .value = s.shares[i][2],
        .tint = normal_tint,
        .info = "full precision of the format",
    };
    segments[i][3] = {
        .label = "inf",
        .value = s.shares[i][3],
        .tint = overflow_tint,
        .info = "one is enough to lose the step",
    };
    bars[i] = {.label = names[i], .segments = segments[i]};
  }
  widgets::draw_stacked_bars("what becomes of them", std::span(bars).subspan(scaled ? 0 : 1), view.shares,
                             {
                                 .unit = "%",
                                 .axis_label = "share of the gradients",
                                 .size = size,
                                 .totals = false,
                                 .bar_px = 26,
                                 .axis_max = 100,
                             });
}

}  // namespace chapters::precision::loss_scaling
