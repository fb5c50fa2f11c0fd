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

void range_marks(widgets::Plot& plot, const Picture& picture) {
  const auto& t = widgets::theme();
  plot.horizontal_mark(picture.infinite_from, picture.infinite_label, {.colour = t.bad});
  plot.horizontal_mark(picture.smallest_normal, "smallest normal", {.colour = t.muted});
  plot.horizontal_mark(picture.zero_below, "zero below", {.colour = t.bad});
}

void draw_range(const Picture& picture, View& view, float width, float height) {
  const auto& t = widgets::theme();
  widgets::Plot plot("scaled gradients", view.range,
                     {.x = {.lo = 0, .hi = picture.steps, .label = "step"},
                      .y =
                          {
                              .kind = AxisKind::log2,
                              .lo = picture.range_lo,
                              .hi = picture.range_hi,
                              .label = "|g| × scale",
                          },
                      .size = {width, height}});
  plot.area("95 % of the gradients", picture.step, picture.upper, picture.lower,
            {
                .colour = t.series_at(0),
                .alpha = 0.35f,
                .info = "centre ± 2 spreads, under the scale",
                .version = picture.version,
            });
  plot.line("largest", picture.step, picture.largest,
            {
                .colour = t.series_at(2),
                .width = 1.5f,
                .label = false,
                .info = "the largest scaled gradient of each stretch of steps",
                .version = picture.version,
            });
  plot.scatter("overflow: skipped", picture.skip_step, picture.skip_magnitude,
               {
                   .colour = t.bad,
                   .marker = Marker::triangle,
                   .radius = 4.5f,
                   .info = "the step is dropped and the scale multiplied by the backoff",
                   .version = picture.version,
               });
  if (!picture.bad_step.empty())
    plot.scatter("broken: skipped", picture.bad_step, picture.bad_magnitude,
                 {
                     .colour = t.series_at(3),
                     .marker = Marker::diamond,
                     .radius = 3.5f,
                     .info = "inf or NaN whatever the scale",
                     .version = picture.version,
                 });
  range_marks(plot, picture);
  double at = std::clamp(view.time, 0.0, picture.steps - 1);
  if (plot.drag_x("drag step", at, {.label = "", .lo = 0, .hi = picture.steps - 1})) view.time = std::round(at);
}

void draw_scale(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const auto& t = widgets::theme();
  widgets::Plot plot("the scale", view.scale,
                     {
                         .x = {.lo = 0, .hi = picture.steps, .label = "step"},
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
  plot.steps("scale", picture.scale_step, picture.scale,
             {
                 .colour = t.accent,
                 .width = 2,
                 .label = false,
                 .legend = false,
                 .info = "what the loss is multiplied by",
                 .version = picture.version,
             });
  plot.vertical_mark(std::clamp(view.time, 0.0, picture.steps - 1), "", {.colour = t.accent});
}

const StepPicture& step_at(const Picture& picture, double step) {
  const auto after = std::upper_bound(picture.step.begin(), picture.step.end(), step);
  const auto i = after == picture.step.begin() ? 0 : after - picture.step.begin() - 1;
  return picture.steps_shown[static_cast<std::size_t>(i)];
}

}  // namespace

void draw(Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || picture.steps_shown.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, room = ImGui::GetContentRegionAvail().y;
  widgets::heading(picture.verdict, picture.story, width, widgets::HeadingMore::beside);
  const float small = t.type(widgets::Type::small),
              line = t.type(widgets::Type::body) + t.px(5) + ImGui::GetStyle().ItemSpacing.y;
  const float spare = std::max(0.0f, room - 4 * line - 2 * small - 4 * ImGui::GetStyle().ItemSpacing.y - t.px(440));
  widgets::heading("The run: gradients under the scale, against FP16; drag the cursor", {}, width);
  draw_range(picture, view, width, t.px(190) + spare * 0.45f);
  widgets::heading("The scale", {}, width);
  draw_scale(out, picture, view, width, t.px(95) + spare * 0.2f);
  const StepPicture& s = step_at(picture, view.time);
  const float height = t.px(155) + spare * 0.35f;
  const auto bell = [&](float w) {
    widgets::heading("At the cursor: magnitudes under the scale, and before (dashed)", {}, w);
    draw_bell(picture, s, view, w, height);
  };
  const auto shares = [&](float w) {
    widgets::heading("What becomes of them", {}, w);
    draw_shares(s, view, w, height);
  };
  widgets::draw_columns(widgets::two_columns(width, {.gap = 20}), bell, shares);
}

}  // namespace chapters::precision::loss_scaling
