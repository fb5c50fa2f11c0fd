#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/compression/methods/lab.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::compression::methods {
namespace {

using widgets::Marker;

void draw_table(const Outputs& out, const Picture& picture, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "method", .number = false},
                                                                {.title = "w bits"},
                                                                {.title = "a bits"},
                                                                {.title = "calibration", .unit = "%"},
                                                                {.title = "held out", .unit = "%"},
                                                                {.title = "of rounding"}}};
  widgets::TableSource source{.context = &out, .rows = out.rows.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const MethodRow& r = static_cast<const Outputs*>(context)->rows[row];
    if (column == 0) {
      cell.text = r.method;
      return;
    }
    const std::array<double, 6> values{0, r.weight_bits, r.activation_bits, r.error, r.held_out, r.against_rounding};
    cell.value = values[column];
    cell.number = widgets::format(cell.value, "", column == 1 ? 4 : 3);
  };
  source.hover = [](const void*, std::size_t row, std::size_t column) -> std::string_view {
    constexpr std::array<std::string_view, 5> what{
        "each weight to its nearest level", "Frantar et al. 2022, arXiv:2210.17323",
        "Lin et al. 2023, arXiv:2306.00978", "weights and activations to their nearest levels",
        "Xiao et al. 2022, arXiv:2211.10438"};
    return column == 0 ? what[row] : std::string_view();
  };
  widgets::draw_table("methods side by side", columns, source, view.table, {width, 0});
}

void draw_bars(const Picture& picture, View& view, float width, float height) {
  static constexpr std::array<std::string_view, 5> names{"rounding", "GPTQ", "AWQ", "both", "smooth"};
  const auto& t = widgets::theme();
  const double top = std::max(*std::max_element(picture.calibration.begin(), picture.calibration.end()),
                              *std::max_element(picture.held_out.begin(), picture.held_out.end()));
  widgets::Plot plot("output error", view.bars,
                     {.x = {.categories = names},
                      .y =
                          {
                              .lo = 0,
                              .hi = top * 1.1,
                              .label = "output error",
                              .unit = "%",
                          },
                      .size = {width, height}});
  plot.bars("calibration tokens", picture.method_x, picture.calibration,
            {
                .colour = t.series_at(0),
                .width = 0.36f,
                .offset = -0.5f,
                .info = "what the methods are fitted to",
            });
  plot.bars("held-out tokens", picture.method_x, picture.held_out,
            {
                .colour = t.series_at(1),
                .width = 0.36f,
                .offset = 0.5f,
                .info = "other tokens of the same kind",
            });
}

std::size_t step_of(const Outputs& out, const View& view) {
  return std::min(static_cast<std::size_t>(std::max(0.0, std::round(view.time))), out.history->cols);
}

void draw_change(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const auto& h = *out.history;
  const std::size_t cells = h.rows * h.cols, step = step_of(out, view);
  widgets::draw_heat_map("weights moved",
                         {
                             .values = std::span(picture.change).subspan(step * cells, cells),
                             .rows = h.rows,
                             .cols = h.cols,
                             .revision = (picture.version << 16) + step,
                         },
                         view.change,
                         {
                             .row_title = "output",
                             .col_title = "input",
                             .value_title = "|moved|",
                             .size = {width, height},
                             .numbers = false,
                             .lo = 0,
                             .hi = picture.largest_change > 0 ? picture.largest_change : 1,
                         });
}

void draw_history(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const double columns = static_cast<double>(out.history->cols);
  widgets::Plot plot("error column by column", view.history,
                     {.x = {.lo = 0, .hi = columns, .label = "columns rounded"},
                      .y = {.lo = 0, .label = "output error", .unit = "%"},
                      .size = {width, height}});
  plot.line("rounding", picture.columns, picture.rtn_error,
            {
                .colour = t.series_at(0),
                .width = 1.5f,
                .dashed = true,
                .info = "the same columns, each rounded for itself",
                .version = picture.version,
            });
  plot.line("GPTQ", picture.columns, picture.gptq_error,
            {
                .colour = t.series_at(2),
                .width = 2.5f,
                .info = "columns left make up for those rounded",
                .version = picture.version,
            });
  double at = std::min(view.time, columns);
  if (plot.drag_x("drag column", at, {.lo = 0, .hi = columns})) view.time = std::round(std::clamp(at, 0.0, columns));
}

void draw_search(const char* id, widgets::PlotView& plot_view, const Curve& curve, double chosen, std::uint64_t version,
                 float width, float height) {
  const auto& t = widgets::theme();
  widgets::Plot plot(id, plot_view,
                     {
                         .x = {.lo = -0.03, .hi = 1.03, .label = "alpha"},
                         .y = {.lo = 0, .label = "output error", .unit = "%"},
                         .size = {width, height},
                         .legend = false,
                     });
  plot.line("error", curve.x, curve.y, {.colour = t.series_at(2), .label = false, .version = version});
  plot.scatter("tried", curve.x, curve.y,
               {
                   .colour = t.series_at(2),
                   .radius = 3,
                   .legend = false,
                   .version = version,
               });
  plot.vertical_mark(chosen, "chosen", {.colour = t.accent});
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || !out.history) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x;
  const widgets::TwoColumns halves = widgets::two_columns(width);
  widgets::heading(picture.verdict, picture.story, width);
  const auto table = [&](float w) {
    widgets::heading("One layer, five ways", "of rounding: held-out error over that of plain rounding at the same bits",
                     w);
    draw_table(out, picture, view, w);
  };
  const auto bars = [&](float w) {
    widgets::heading("Error of the output", {}, w);
    draw_bars(picture, view, w, t.px(196));
  };
  widgets::draw_columns(widgets::two_columns(width, {.least = 860, .left_share = 0.54f}), table,
                        bars);  // the table wants its words whole
  ImGui::Dummy({width, t.px(8)});

  const auto change = [&](float w) {
    widgets::heading("GPTQ, column by column", "how far each weight has moved, rounded or not yet", w);
    draw_change(out, picture, view, w, t.px(230));
  };
  const auto history = [&](float w) {
    widgets::heading("What the output loses on the way", "drag the cursor; right of it nothing is rounded yet", w);
    draw_history(out, picture, view, w, t.px(230));
  };
  widgets::draw_columns(halves, change, history);
  ImGui::Dummy({width, t.px(8)});

  const auto awq = [&](float w) {
    widgets::heading("AWQ tries scales", picture.awq_story, w);
    draw_search("AWQ search", view.awq, picture.awq, out.study.awq_alpha, picture.version, w, t.px(190));
  };
  const auto smooth = [&](float w) {
    widgets::heading("SmoothQuant shares the range out", picture.smooth_story, w);
    draw_search("smoothing", view.smooth, picture.smooth, in.smoothing, picture.version, w, t.px(190));
  };
  widgets::draw_columns(halves, awq, smooth);
}

}  // namespace chapters::compression::methods
