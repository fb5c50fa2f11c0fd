#include <algorithm>
#include <array>

#include "chapters/precision/accumulation/lab.h"
#include "chapters/precision/shared/formats.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::accumulation {
namespace {

using widgets::AxisKind;

constexpr std::array<std::string_view, models::sum_method_count> sum_names{
    "one accumulator", "stochastic", "Kahan", "pairwise", "blocks into FP32", "FP32 accumulator"};

void draw_sum(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const models::SumRun& run = out.sum_run;
  widgets::Plot plot("sum so far", view.sum,
                     {
                         .x =
                             {
                                 .kind = AxisKind::log2,
                                 .lo = 1,
                                 .hi = run.count.back(),
                                 .label = "terms added",
                             },
                         .y = {.kind = picture.positive ? AxisKind::log2 : AxisKind::linear, .label = "sum"},
                         .size = {width, height},
                         .legend = false,
                     });
  plot.line("exact", run.count, run.exact,
            {
                .colour = t.muted,
                .width = 5,
                .label = false,
                .legend = false,
                .info = "of the same terms, in compensated double",
                .version = picture.version,
            });
  for (std::size_t i = sum_names.size(); i-- > 0;)
    plot.line(sum_names[i], run.count, run.methods[i].sum,
              {
                  .colour = t.series_at(sum_series[i]),
                  .width = i == 0 ? 2.5f : 1.5f,
                  .dashed = i == 1,
                  .label = i == 0,
                  .legend = false,
                  .version = picture.version,
              });
}

void draw_error(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const models::SumRun& run = out.sum_run;
  widgets::Plot plot("error of the sum", view.error,
                     {
                         .x =
                             {
                                 .kind = AxisKind::log2,
                                 .lo = 1,
                                 .hi = run.count.back(),
                                 .label = "terms added",
                             },
                         .y =
                             {
                                 .kind = AxisKind::log10,
                                 .lo = picture.least_error * 0.5,
                                 .hi = 4,
                                 .label = "error / sum of magnitudes",
                             },
                         .size = {width, height},
                         .legend = false,
                     });
  plot.line("bound (n - 1) u", run.count, picture.bound,
            {
                .colour = t.muted,
                .width = 1,
                .dashed = true,
                .legend = false,
                .info = "no sum of n terms in this format is worse, to first order",
                .version = picture.version,
            });
  for (std::size_t i = sum_names.size(); i-- > 0;)
    plot.line(sum_names[i], run.count, picture.error[i],
              {
                  .colour = t.series_at(sum_series[i]),
                  .width = i == 0 ? 2.5f : 1.7f,
                  .dashed = i == 1,
                  .label = true,
                  .legend = false,
                  .info = "exact sums are drawn at the bottom",
                  .version = picture.version,
              });
}

void draw_weight(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const models::UpdateRun& run = out.update_run;
  widgets::Plot plot("weight", view.weight,
                     {
                         .x = {.lo = 0, .hi = std::max(1.0, run.step.back()), .label = "update"},
                         .y = {.lo = picture.weight_lo, .hi = picture.weight_hi, .label = "weight"},
                         .size = {width, height},
                         .legend = false,
                     });
  plot.line("exact", run.step, run.exact,
            {
                .colour = t.muted,
                .width = 5,
                .label = false,
                .legend = false,
                .info = "weight + steps × update",
                .version = picture.version,
            });
  plot.line("one stochastic weight", run.step, run.stochastic_one,
            {
                .colour = widgets::with_alpha(t.series_at(1), 0.45f),
                .width = 1,
                .label = false,
                .legend = false,
                .info = "the first of the replicas",
                .version = picture.version,
            });
  for (std::size_t i = out.updates.size(); i-- > 0;)
    plot.steps(out.updates[i].name, run.step, run.weight[i],
               {
                   .colour = t.series_at(update_series[i]),
                   .width = i == 0 ? 2.5f : 1.7f,
                   .dashed = i == 2,
                   .label = i == 0,
                   .legend = false,
                   .version = picture.version,
               });
}

}  // namespace

void draw(Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || out.sums.empty() || out.updates.empty()) return;
  const auto& t = widgets::theme();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = room.x, line = t.type(widgets::Type::body) + t.px(12);
  const float space = ImGui::GetStyle().ItemSpacing.y, row = t.type(widgets::Type::body) + t.px(11);
  const float tables = 12 * row + 2 * space;  // The two tables fill the right half and are the legend of the pictures.
  const float upper =
      std::max(t.px(190), std::min(t.px(420), room.y - tables - line - t.type(widgets::Type::small) - t.px(34)));
  widgets::heading("Adding up", picture.sum_story, width, widgets::HeadingMore::beside);
  widgets::draw_columns(
      widgets::two_columns(width, {.least = 560, .gap = 22}), [&](float w) { draw_sum(out, picture, view, w, upper); },
      [&](float w) { draw_error(out, picture, view, w, upper); });
  const widgets::TwoColumns lower = widgets::two_columns(
      width, {.least = 902, .gap = 22});  // This is the width at which the tables show their words whole.
  const auto weight = [&](float w) {
    widgets::heading("Updating a weight", picture.update_story, w, widgets::HeadingMore::beside);
    draw_weight(out, picture, view, w,
                lower.beside ? tables - line - t.type(widgets::Type::small) - t.px(6) : t.px(200));
  };
  const auto both_tables = [&](float w) {
    draw_sums_table(out, picture, view, w);
    draw_updates_table(out, picture, view, w);
  };
  widgets::draw_columns(lower, weight, both_tables);
}

}  // namespace chapters::precision::accumulation
