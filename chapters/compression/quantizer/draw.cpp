#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/compression/quantizer/lab.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/plot/plot.h"

namespace chapters::compression::quantizer {
namespace {

using widgets::Marker;

void draw_errors(Inputs& in, const Picture& picture, View& view, float width, float height) {
  const auto& e = picture.error;
  view.errors.row = -1;
  const auto event = widgets::draw_heat_map("error of each weight",
                                            {
                                                .values = e.values,
                                                .rows = e.rows,
                                                .cols = e.cols,
                                                .revision = picture.version,
                                            },
                                            view.errors,
                                            {
                                                .row_title = "row (output)",
                                                .col_title = "column (input)",
                                                .value_title = "|w - q|",
                                                .size = {width, height},
                                                .numbers = false,
                                            });
  if (event.clicked && event.row >= 0) {
    in.row = event.row;
    in.column = event.col;
  }
}

void draw_histogram(const Picture& p, View& view, float width, float height) {
  const auto& t = widgets::theme();
  widgets::Plot plot("weights of the row", view.histogram,
                     {.x = {.lo = p.bin_centre.front() * 1.03, .hi = p.bin_centre.back() * 1.03, .label = "weight"},
                      .y = {.lo = -0.2 * p.tallest_bin, .hi = 1.08 * p.tallest_bin, .label = "weights"},
                      .size = {width, height}});
  plot.area("weights of the row", p.bin_centre, p.bin_count,
            {
                .colour = t.series_at(0),
                .alpha = 0.5f,
                .info = "48 bins over the row",
                .version = p.version,
            });
  plot.line("levels", p.level_x, p.level_y,
            {
                .colour = t.series_at(1),
                .width = p.level_x.size() > 200 ? 1.0f : 2.0f,
                .label = false,
                .info = "what a weight can become",
                .version = p.version,
            });
}

void draw_steps(const Picture& p, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const float below = std::floor(height * 0.36f);
  {
    widgets::Plot plot("weight in, weight out", view.steps,
                       {.x = {.lo = p.in.front(), .hi = p.in.back(), .label = "weight in"},
                        .y = {.lo = p.in.front(), .hi = p.in.back(), .label = "out"},
                        .size = {width, height - below}});
    plot.line("no rounding", p.in, p.identity,
              {
                  .colour = t.muted,
                  .width = 1.2f,
                  .dashed = true,
                  .label = false,
                  .version = p.version,
              });
    plot.line("rounded", p.in, p.out,
              {
                  .colour = t.series_at(1),
                  .label = false,
                  .info = "nearest level, the last one beyond the range",
                  .version = p.version,
              });
  }
  widgets::Plot plot("gradient", view.gradient,
                     {.x = {.lo = p.in.front(), .hi = p.in.back(), .label = "weight in"},
                      .y = {.lo = -0.15, .hi = 1.25, .label = "slope"},
                      .size = {width, below}});
  plot.line("true slope", p.in, p.true_gradient,
            {
                .colour = t.muted,
                .width = 1.5f,
                .dashed = true,
                .label = false,
                .info = "0 wherever the staircase has one",
                .version = p.version,
            });
  plot.line("straight-through", p.in, p.gradient,
            {
                .colour = t.series_at(2),
                .label = false,
                .info = "1 inside the range, 0 where weights are clipped",
                .version = p.version,
            });
}

void draw_formats(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  static constexpr std::array<std::string_view, quant_format_count> names{"INT8", "INT4", "INT3", "INT2",
                                                                          "FP8",  "NF4",  "FP4"};
  static constexpr std::array<std::string_view, quant_grain_count> grains{"whole tensor", "each row", "each group"};
  static constexpr std::array<Marker, quant_grain_count> shapes{Marker::triangle, Marker::square, Marker::circle};
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "formats", view.formats,
      {.x = {.label = "bits a weight, scales included"}, .y = {.label = "SQNR (dB)"}, .size = {width, height}});
  for (std::size_t g = 0; g < grains.size(); ++g)
    plot.scatter(grains[g], picture.formats[g].bits, picture.formats[g].sqnr_db,
                 {
                     .colour = t.series_at(g),
                     .marker = shapes[g],
                     .radius = 4.5f,
                     .labels = g == 2 ? std::span<const std::string_view>(names) : std::span<const std::string_view>(),
                     .info = "same weights, range rule and bits of a scale",
                 });
  const std::array<double, 1> x{out.bits_per_weight}, y{out.error.sqnr_db};
  plot.scatter("chosen", x, y, {.colour = t.accent, .marker = Marker::diamond, .radius = 7});
}

void draw_tensors(Inputs& in, const Outputs& out, const Picture& picture, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 3> columns{{{.title = "tensor", .number = false, .code = true},
                                                                {.title = "type", .number = false},
                                                                {.title = "shape", .number = false}}};
  widgets::TableSource source{.context = &out, .rows = out.tensors.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const TensorRow& r = static_cast<const Outputs*>(context)->tensors[row];
    cell.text = column == 0 ? r.name : column == 1 ? r.type : r.shape;
  };
  const auto result = widgets::draw_table(
      "tensors of the file", columns, source, view.tensors,
      {width,
       std::min(widgets::theme().px(220), widgets::theme().px(26) * static_cast<float>(out.tensors.size() + 1))});
  if (result.selection_changed && view.tensors.selected >= 0)
    in.tensor = out.tensors[static_cast<std::size_t>(view.tensors.selected)].name;
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || !out.original) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x;
  const widgets::TwoColumns columns = widgets::two_columns(width);
  widgets::heading(picture.verdict, picture.story, width);
  const auto pair = [&](std::string_view left_name, std::string_view left_more, const auto& left,
                        std::string_view right_name, std::string_view right_more, const auto& right) {
    const auto titled = [](std::string_view name, std::string_view more, const auto& draw_picture) {
      return [=](float w) {
        widgets::heading(name, more, w);
        draw_picture(w);
      };
    };
    widgets::draw_columns(columns, titled(left_name, left_more, left), titled(right_name, right_more, right));
    ImGui::Dummy({width, t.px(8)});
  };
  const float tall = t.px(225);
  pair(
      "Where the error is", "a bright row holds an outlier that stretched its scale",
      [&](float w) { draw_errors(in, picture, view, w, tall); }, "One row and its levels", picture.shown,
      [&](float w) { draw_histogram(picture, view, w, tall); });
  pair(
      "The quantizer as training sees it", "true slope 0; straight-through says 1 inside the range",
      [&](float w) { draw_steps(picture, view, w, t.px(310)); }, "Every format on these weights",
      "higher is better, left is smaller", [&](float w) { draw_formats(out, picture, view, w, t.px(310)); });
  if (!out.tensors.empty()) {
    widgets::heading("Tensors of the file", "click one to quantize it", width);
    draw_tensors(in, out, picture, view, width);
  }
}

}  // namespace chapters::compression::quantizer
