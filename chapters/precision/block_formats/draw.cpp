#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/precision/block_formats/lab.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::block_formats {
namespace {

void draw_trade(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("error against bits", view.plot,
                     {
                         .x = {.kind = widgets::AxisKind::log2, .lo = 3.9, .hi = 9, .label = "bits per element"},
                         .y = {.kind = widgets::AxisKind::log10,
                               .lo = picture.error_lo,
                               .hi = picture.error_hi,
                               .label = "RMS error / RMS",
                               .unit = "%"},
                         .size = size,
                         .legend = false,
                     });
  plot.curve(picture.sizes);
  plot.curve(picture.size_dots);
  const std::array<double, 1> x{picture.schemes.x[picture.chosen]}, y{picture.schemes.y[picture.chosen]};
  const std::array<std::string_view, 1> name{out.schemes[picture.chosen].name};
  plot.scatter("chosen", x, y,
               {
                   .colour = t.accent,
                   .marker = widgets::Marker::diamond,
                   .radius = 6,
                   .labels = name,
                   .info = "the chosen scheme with its own block size",
                   .output = "relative_error",
               });
  plot.curve(picture.schemes);
}

/// A press on a row chooses its scheme.
void draw_scheme_table(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{{{.key = "name", .title = "scheme"},
                                                           {.key = "bits", .title = "bits", .digits = 4},
                                                           {.key = "relative", .title = "RMS error"},
                                                           {.key = "lost", .title = "to 0"},
                                                           {.key = "saturated", .title = "clipped", .priority = 1}}};
  widgets::TableView& table = view.schemes.view;
  table.selected = static_cast<std::int64_t>(picture.chosen);
  if (view.schemes.draw("schemes", out.schemes, columns, size).selection_changed && table.selected >= 0)
    in.scheme = out.schemes[static_cast<std::size_t>(table.selected)].id;
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.run->exact.empty()) return;
  stage.panel(
      "elements",
      {.title = "The numbers and their blocks", .least = {560, 260}, .answers = true, .marks = "numbers and blocks"},
      [&](ImVec2 size) { draw_strip(out, picture, view, size); });
  stage.panel("bits", {.title = "A block in bits", .least = {520, 190}, .ideal = {0, 260}},
              [&](ImVec2 size) { draw_block_bits(out, picture, view, size); });
  stage.panel("trade", {.title = "Error against bits", .least = {420, 230}},
              [&](ImVec2 size) { draw_trade(out, picture, view, size); });
  stage.panel("schemes", {.title = "All schemes", .least = {420, 230}, .ideal = {0, 260}, .scrolls = true},
              [&](ImVec2 size) { draw_scheme_table(in, out, picture, view, size); });
}

}  // namespace chapters::precision::block_formats
