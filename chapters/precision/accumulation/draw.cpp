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

/// The same colour for a way of keeping a number in all three pictures.
constexpr std::array<std::size_t, models::sum_method_count> sum_series{4, 1, 3, 2, 6, 0};
constexpr std::array<std::string_view, models::sum_method_count> sum_names{
    "one accumulator", "stochastic", "Kahan", "pairwise", "blocks into FP32", "FP32 accumulator"};
constexpr std::array<std::size_t, models::update_method_count> update_series{4, 1, 3, 0};
constexpr std::array<std::string_view, models::update_method_count> update_names{
    "in the format", "stochastic, mean", "with a compensation", "copy of an FP32 master"};

void draw_sum(const Outputs& out, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const models::SumRun& run = *out.run;
  const bool positive = run.exact.front() > 0 && *std::min_element(run.exact.begin(), run.exact.end()) > 0;
  widgets::Plot plot("sum so far", view.sum,
                     {
                         .x =
                             {
                                 .kind = AxisKind::log2,
                                 .lo = 1,
                                 .hi = run.count.back(),
                                 .label = "terms added",
                             },
                         .y = {.kind = positive ? AxisKind::log2 : AxisKind::linear, .label = "sum"},
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
                .version = out.version,
            });
  for (std::size_t i = sum_names.size(); i-- > 0;)
    plot.line(sum_names[i], run.count, run.methods[i].sum,
              {
                  .colour = t.series_at(sum_series[i]),
                  .width = i == 0 ? 2.5f : 1.5f,
                  .dashed = i == 1,
                  .label = i == 0,
                  .legend = false,
                  .version = out.version,
              });
}

void draw_error(const Outputs& out, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const models::SumRun& run = *out.run;
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
                                 .lo = out.floor * 0.5,
                                 .hi = 4,
                                 .label = "error / sum of magnitudes",
                             },
                         .size = {width, height},
                         .legend = false,
                     });
  plot.line("bound (n - 1) u", run.count, out.bound,
            {
                .colour = t.muted,
                .width = 1,
                .dashed = true,
                .legend = false,
                .info = "no sum of n terms in this format is worse, to first order",
                .version = out.version,
            });
  for (std::size_t i = sum_names.size(); i-- > 0;)
    plot.line(sum_names[i], run.count, out.shown_error[i],
              {
                  .colour = t.series_at(sum_series[i]),
                  .width = i == 0 ? 2.5f : 1.7f,
                  .dashed = i == 1,
                  .label = true,
                  .legend = false,
                  .info = "exact sums are drawn at the bottom",
                  .version = out.version,
              });
}

void draw_weight(const Outputs& out, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const models::UpdateRun& run = *out.trial;
  widgets::Plot plot("weight", view.weight,
                     {
                         .x = {.lo = 0, .hi = std::max(1.0, run.step.back()), .label = "update"},
                         .y = {.lo = out.weight_lo, .hi = out.weight_hi, .label = "weight"},
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
                .version = out.version,
            });
  plot.line("one stochastic weight", run.step, run.stochastic_one,
            {
                .colour = widgets::with_alpha(t.series_at(1), 0.45f),
                .width = 1,
                .label = false,
                .legend = false,
                .info = "the first of the replicas",
                .version = out.version,
            });
  for (std::size_t i = update_names.size(); i-- > 0;)
    plot.steps(update_names[i], run.step, run.weight[i],
               {
                   .colour = t.series_at(update_series[i]),
                   .width = i == 0 ? 2.5f : 1.7f,
                   .dashed = i == 2,
                   .label = i == 0,
                   .legend = false,
                   .version = out.version,
               });
}

widgets::RowMark mark_of(std::size_t series, std::size_t row) {
  constexpr std::array shapes{widgets::Marker::circle, widgets::Marker::triangle, widgets::Marker::diamond,
                              widgets::Marker::square};
  return {shapes[row % shapes.size()], widgets::theme().series_at(series)};
}

void draw_sums_table(const Outputs& out, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 4> columns{{{.title = "accumulator", .number = false},
                                                                {.title = "sum"},
                                                                {.title = "error", .unit = "%"},
                                                                {.title = "last change after"}}};
  widgets::TableSource source{.context = &out, .rows = out.sums.size(), .version = out.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const SumRow& r = static_cast<const Outputs*>(context)->sums[row];
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const std::array<double, 4> values{0, r.sum, r.error, static_cast<double>(r.moved_last)};
    cell.value = values[column];
    if (column == 1 && r.overflowed)
      cell.text = "overflow";
    else
      cell.number = widgets::format(cell.value, "", column == 2 ? 3 : 6);
  };
  source.mark = [](const void*, std::size_t row) { return mark_of(sum_series[row], row); };
  widgets::draw_table("sums", columns, source, view.sums, {width, 0});
}

void draw_updates_table(const Outputs& out, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 4> columns{{{.title = "the weight is kept", .number = false},
                                                                {.title = "weight"},
                                                                {.title = "arrived", .unit = "%"},
                                                                {.title = "first moves"}}};
  widgets::TableSource source{.context = &out, .rows = out.updates.size(), .version = out.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const UpdateRow& r = static_cast<const Outputs*>(context)->updates[row];
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const std::array<double, 4> values{0, r.weight, r.gained, static_cast<double>(r.first_move)};
    cell.value = values[column];
    if (column == 3 && r.first_move == 0)
      cell.text = "never";
    else
      cell.number = widgets::format(cell.value, "", column == 1 ? 5 : 3);
  };
  source.mark = [](const void*, std::size_t row) { return mark_of(update_series[row], row); };
  widgets::draw_table("weights", columns, source, view.updates, {width, 0});
}

}  // namespace

void draw(Inputs&, const Outputs& out, View& view) {
  if (!out.reason.empty() || !out.run || !out.trial) return;
  const auto& t = widgets::theme();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = room.x, line = t.type(widgets::Type::body) + t.px(12);
  const float space = ImGui::GetStyle().ItemSpacing.y, row = t.type(widgets::Type::body) + t.px(11);
  const float tables = 12 * row + 2 * space;  // both, in the right half: the legend of the pictures
  const float upper =
      std::max(t.px(190), std::min(t.px(420), room.y - tables - line - t.type(widgets::Type::small) - t.px(34)));
  widgets::heading("Adding up", out.sum_story, width, widgets::HeadingMore::beside);
  widgets::draw_columns(
      widgets::two_columns(width, {.least = 560, .gap = 22}), [&](float w) { draw_sum(out, view, w, upper); },
      [&](float w) { draw_error(out, view, w, upper); });
  const widgets::TwoColumns lower =
      widgets::two_columns(width, {.least = 902, .gap = 22});  // the tables want their words whole
  const auto weight = [&](float w) {
    widgets::heading("Updating a weight", out.update_story, w, widgets::HeadingMore::beside);
    draw_weight(out, view, w, lower.beside ? tables - line - t.type(widgets::Type::small) - t.px(6) : t.px(200));
  };
  const auto both_tables = [&](float w) {
    draw_sums_table(out, view, w);
    draw_updates_table(out, view, w);
  };
  widgets::draw_columns(lower, weight, both_tables);
}

}  // namespace chapters::precision::accumulation
