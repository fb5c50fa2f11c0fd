#include <algorithm>
#include <cmath>

#include "chapters/precision/loss_scaling/lab.h"
#include "chapters/precision/shared/formats.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::loss_scaling {
namespace {

using widgets::AxisKind;
using widgets::Marker;
using widgets::Tint;

/// One colour and name for each thing that FP16 can make of a magnitude.
constexpr Tint zero_tint = Tint::series(4), subnormal_tint = Tint::series(1), normal_tint = Tint::series(0),
               overflow_tint = Tint::series(3);

void range_marks(widgets::Plot& plot, const Outputs& out) {
  const auto& t = widgets::theme();
  plot.horizontal_mark(out.infinite_from, out.infinite_label, {.colour = t.bad});
  plot.horizontal_mark(out.smallest_normal, "smallest normal", {.colour = t.muted});
  plot.horizontal_mark(out.zero_below, "zero below", {.colour = t.bad});
}

void draw_range(const Outputs& out, View& view, float width, float height) {
  const auto& t = widgets::theme();
  widgets::Plot plot("scaled gradients", view.range,
                     {.x = {.lo = 0, .hi = out.steps, .label = "step"},
                      .y =
                          {
                              .kind = AxisKind::log2,
                              .lo = out.range_lo,
                              .hi = out.range_hi,
                              .label = "|g| × scale",
                          },
                      .size = {width, height}});
  plot.area("95 % of the gradients", out.step, out.upper, out.lower,
            {
                .colour = t.series_at(0),
                .alpha = 0.35f,
                .info = "centre ± 2 spreads, under the scale",
                .version = out.version,
            });
  plot.line("largest", out.step, out.largest,
            {
                .colour = t.series_at(6),
                .width = 1.5f,
                .label = false,
                .info = "the largest scaled gradient of each stretch of steps",
                .version = out.version,
            });
  plot.scatter("overflow: skipped", out.skip_step, out.skip_magnitude,
               {
                   .colour = t.bad,
                   .marker = Marker::triangle,
                   .radius = 4.5f,
                   .info = "the step is dropped and the scale multiplied by the backoff",
                   .version = out.version,
               });
  if (!out.bad_step.empty())
    plot.scatter("broken: skipped", out.bad_step, out.bad_magnitude,
                 {
                     .colour = t.series_at(3),
                     .marker = Marker::diamond,
                     .radius = 3.5f,
                     .info = "inf or NaN whatever the scale",
                     .version = out.version,
                 });
  range_marks(plot, out);
  double at = std::clamp(view.time, 0.0, out.steps - 1);
  if (plot.drag_x("drag step", at, {.label = "", .lo = 0, .hi = out.steps - 1})) view.time = std::round(at);
}

void draw_scale(const Outputs& out, View& view, float width, float height) {
  const auto& t = widgets::theme();
  widgets::Plot plot("the scale", view.scale,
                     {
                         .x = {.lo = 0, .hi = out.steps, .label = "step"},
                         .y =
                             {
                                 .kind = AxisKind::log2,
                                 .lo = out.lowest_scale / 2,
                                 .hi = out.highest_scale * 2,
                                 .label = "scale",
                             },
                         .size = {width, height},
                         .legend = false,
                     });
  plot.steps("scale", out.scale_step, out.scale,
             {
                 .colour = t.accent,
                 .width = 2,
                 .label = false,
                 .legend = false,
                 .info = "what the loss is multiplied by",
                 .version = out.version,
             });
  plot.vertical_mark(std::clamp(view.time, 0.0, out.steps - 1), "", {.colour = t.accent});
}

const StepPicture& picture_at(const Outputs& out, double step) {
  const auto after = std::upper_bound(out.step.begin(), out.step.end(), step);
  const auto i = after == out.step.begin() ? 0 : after - out.step.begin() - 1;
  return out.pictures[static_cast<std::size_t>(i)];
}

/// The bell of log2 |g| under the scale, each stretch in the colour of what FP16 makes of it; the same bell unscaled as
/// an outline.
void draw_bell(const Outputs& out, const StepPicture& s, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const double lo = std::min(s.median, s.scaled_median) * out.bell_multiple.front(),
               hi = std::max(s.median, s.scaled_median) * out.bell_multiple.back();
  widgets::Plot plot("gradients at the step", view.bell,
                     {
                         .x =
                             {
                                 .kind = AxisKind::log2,
                                 .lo = std::min(lo, out.zero_below / 4),
                                 .hi = std::max(hi, out.infinite_from * 4),
                                 .label = "magnitude",
                             },
                         .y = {.lo = 0, .hi = 1.15, .label = "density"},
                         .size = {width, height},
                         .legend = false,
                     });
  const auto stand_at = [&](double median) {
    for (std::size_t i = 0; i < bell_points; ++i) view.x[i] = median * out.bell_multiple[i];
  };
  stand_at(s.scaled_median);
  const std::array<double, 3> limits{out.zero_below, out.smallest_normal, out.infinite_from};
  constexpr std::array<std::string_view, 4> names{"becomes zero", "subnormal", "normal", "becomes inf"};
  constexpr std::array<Tint, 4> tints{zero_tint, subnormal_tint, normal_tint, overflow_tint};
  std::size_t first = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t end =
        k < 3 ? static_cast<std::size_t>(std::lower_bound(view.x.begin(), view.x.end(), limits[k]) - view.x.begin())
              : bell_points;
    const std::size_t last = std::min(end + 1, bell_points);  // one point more, so that stretches touch
    if (end > first)
      plot.area(names[k], {view.x.data() + first, last - first}, {out.bell_density.data() + first, last - first},
                {
                    .colour = widgets::colour(tints[k], t),
                    .alpha = 0.6f,
                    .legend = false,
                    .info = "of the gradients under the scale",
                });
    first = end;
  }
  stand_at(s.median);
  plot.line("unscaled", view.x, out.bell_density,
            {
                .colour = t.muted,
                .width = 1.5f,
                .dashed = true,
                .legend = false,
                .info = "the same gradients before the loss was scaled",
            });
  plot.vertical_mark(limits[0], "zero", {.colour = t.bad});
  plot.vertical_mark(limits[1], "normal", {.colour = t.muted});
  plot.vertical_mark(limits[2], "inf", {.colour = t.bad});
}

void draw_shares(const StepPicture& s, View& view, float width, float height) {
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
  widgets::draw_stacked_bars("what becomes of them", bars, view.shares,
                             {
                                 .unit = "%",
                                 .axis_label = "share of the gradients",
                                 .size = {width, height},
                                 .totals = false,
                                 .bar_px = 26,
                                 .axis_max = 100,
                             });
}

}  // namespace

void draw(Inputs&, const Outputs& out, View& view) {
  if (!out.reason.empty() || out.pictures.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, room = ImGui::GetContentRegionAvail().y;
  widgets::heading(out.verdict, out.story, width, widgets::HeadingMore::beside);
  const float small = t.type(widgets::Type::small),
              line = t.type(widgets::Type::body) + t.px(5) + ImGui::GetStyle().ItemSpacing.y;
  const float spare = std::max(0.0f, room - 4 * line - 2 * small - 4 * ImGui::GetStyle().ItemSpacing.y - t.px(440));
  widgets::heading("The run: gradients under the scale, against FP16; drag the cursor", {}, width);
  draw_range(out, view, width, t.px(190) + spare * 0.45f);
  widgets::heading("The scale", {}, width);
  draw_scale(out, view, width, t.px(95) + spare * 0.2f);
  const StepPicture& s = picture_at(out, view.time);
  const float height = t.px(155) + spare * 0.35f;
  const auto bell = [&](float w) {
    widgets::heading("At the cursor: magnitudes under the scale, and before (dashed)", {}, w);
    draw_bell(out, s, view, w, height);
  };
  const auto shares = [&](float w) {
    widgets::heading("What becomes of them", {}, w);
    draw_shares(s, view, w, height);
  };
  widgets::draw_columns(widgets::two_columns(width, {.gap = 20}), bell, shares);
}

}  // namespace chapters::precision::loss_scaling
