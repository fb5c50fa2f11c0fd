#include <algorithm>
#include <cmath>

#include "chapters/compression/sparsity/lab.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/plot/plot.h"

namespace chapters::compression::sparsity {
namespace {

using widgets::AxisKind;
using widgets::Marker;
using widgets::Painter;

/// Kept weights in colour, dropped ones as empty ground; every four neighbours a little apart, so that 2:4 can be
/// counted.
void draw_mask(const Example& example, const std::vector<std::uint8_t>& mask, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Rect area = widgets::canvas("mask", size, {t.px(160), t.px(80)});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const float gap = t.px(2);
  const float across = (area.width() - gap * static_cast<float>(mask_cols / 4 - 1)) / static_cast<float>(mask_cols),
              down = area.height() / static_cast<float>(mask_rows);
  const float w = std::max(1.0f, across), h = std::max(1.0f, down);
  const ImVec2 mouse = ImGui::GetMousePos();
  p.rect(area.min, area.max, t.background);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const std::size_t r = i / mask_cols, c = i % mask_cols;
    const ImVec2 at{area.min.x + w * static_cast<float>(c) + gap * static_cast<float>(c / 4),
                    area.min.y + h * static_cast<float>(r)};
    const ImVec2 end{at.x + w - 0.5f, at.y + h - 0.5f};
    if (mask[i]) {
      p.rect(at, end, t.card);
      p.rect(at, end, weight_colour(static_cast<float>(example.weights[i]), static_cast<float>(example.largest)));
    }
    if (hovered && mouse.x >= at.x && mouse.x < at.x + w && mouse.y >= at.y && mouse.y < at.y + h) {
      widgets::Line what;
      what.add(widgets::format(example.weights[i], ""))
          .add(mask[i] ? ", kept" : ", dropped")
          .add("; output ")
          .add_integer(static_cast<std::int64_t>(r) + 1)
          .add(", input ")
          .add_integer(static_cast<std::int64_t>(c) + 1);
      widgets::tip("Weight", what.view(), "of the example matrix, drawn from the seed");
    }
  }
  if (p.record()) {
    widgets::DataTable table{"mask", {"output", "input", "weight", "kept"}, {}};
    for (std::size_t i = 0; i < mask.size(); ++i)
      table.rows.push_back({std::to_string(i / mask_cols + 1), std::to_string(i % mask_cols + 1),
                            widgets::exact(example.weights[i]), mask[i] ? "1" : "0"});
    p.record()->tables.push_back(std::move(table));
  }
}

void draw_errors(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("error by share", view.errors,
                     {.x =
                          {
                              .lo = 0,
                              .hi = 96,
                              .label = "pruned",
                              .unit = "%",
                          },
                      .y =
                          {
                              .lo = 0,
                              .hi = 100,
                              .label = "error",
                              .unit = "%",
                          },
                      .size = size});
  plot.line("unstructured", out.example->shares, out.example->unstructured_curve,
            {
                .colour = t.series_at(0),
                .label = false,
                .info = "the smallest weights",
                .version = picture.version,
            });
  plot.line("whole rows", out.example->shares, out.example->structured_curve,
            {
                .colour = t.series_at(2),
                .label = false,
                .info = "the rows of least energy",
                .version = picture.version,
            });
  const std::array<double, 1> half{two_four_share},
      error{out.errors[static_cast<std::size_t>(models::SparsePattern::two_four)]};
  plot.scatter("2:4", half, error,
               {
                   .colour = t.series_at(1),
                   .marker = Marker::triangle,
                   .radius = 6,
                   .info = "two of every four",
               });
  const std::array<double, 1> at{picture.pruned}, here{out.error};
  static constexpr std::array<std::string_view, 1> name{"here"};
  plot.scatter("here", at, here,
               {
                   .colour = t.accent,
                   .marker = Marker::diamond,
                   .radius = 7,
                   .labels = name,
                   .legend = false,
                   .info = "what the mask shows",
               });
  if (in.pattern != models::SparsePattern::two_four) plot.drag_x("drag share", in.share, {.lo = 0, .hi = 95});
}

void draw_speeds(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "speed-up by tokens", view.speeds,
      {.x =
           {
               .kind = AxisKind::log2,
               .lo = 1,
               .hi = 65536,
               .label = "tokens",
           },
       .y = {.lo = 0, .hi = std::max(2.1, 1.08 * picture.largest_speedup), .label = "speed-up over dense, at most"},
       .size = size});
  static constexpr std::array<std::string_view, pattern_count> names{"unstructured", "2:4", "whole rows"};
  for (std::size_t k = 0; k < names.size(); ++k)
    plot.line(names[k], picture.tokens, picture.speedups[k],
              {
                  .colour = t.series_at(k),
                  .width = k == static_cast<std::size_t>(in.pattern) ? 3.0f : 1.5f,
                  .dashed = k != static_cast<std::size_t>(in.pattern),
                  .label = false,
                  .info = "dense roofline time / sparse roofline time",
                  .version = picture.version,
              });
  plot.horizontal_mark(1, "dense");
  const std::array<double, 1> x{in.tokens}, y{out.time.speedup};
  plot.scatter("here", x, y,
               {
                   .colour = t.accent,
                   .marker = Marker::diamond,
                   .radius = 7,
                   .legend = false,
                   .info = "the layer as set",
               });
  plot.drag_x("drag tokens", in.tokens, {.lo = 1, .hi = 65536});
}

void draw_patterns(const Outputs& out, const Picture& picture, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 8> columns{{{.title = "zeros", .number = false},
                                                                {.title = "pruned", .unit = "%"},
                                                                {.title = "error", .unit = "%"},
                                                                {.title = "weight bytes", .value_unit = "B"},
                                                                {.title = "of dense"},
                                                                {.title = "time", .value_unit = "s"},
                                                                {.title = "speed-up"},
                                                                {.title = "the hardware skips", .number = false}}};
  widgets::TableSource source{.context = &out, .rows = out.patterns.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const PatternRow& r = static_cast<const Outputs*>(context)->patterns[row];
    if (column == 0 || column == 7) {
      cell.text = column == 0 ? r.name : r.skips;
      return;
    }
    const std::array<double, 8> values{
        0, r.share, r.error, r.time.weight_bytes, r.ratio, r.time.placement.time_s, r.time.speedup, 0};
    cell.value = values[column];
    cell.number = widgets::format(cell.value, column == 3 ? "B" : column == 5 ? "s" : "");
  };
  widgets::draw_table("patterns", columns, source, view.patterns, {width, 0});
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || !out.example) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetContentRegionAvail().y;
  widgets::heading(picture.verdict, picture.story, width);
  const float table = t.px(140), row = std::clamp((height - table - t.px(150)) / 2, t.px(190), t.px(330));
  const auto mask = [&](float w) {
    widgets::heading("The mask", picture.mask_text, w);
    draw_mask(*out.example, out.example->masks[static_cast<std::size_t>(in.pattern)], {w, row});
  };
  const auto errors = [&](float w) {
    widgets::heading("What the zeros cost", "relative error of the example's weights", w);
    draw_errors(in, out, picture, view, {w, row});
  };
  widgets::draw_columns(widgets::two_columns(width), mask, errors);
  ImGui::Dummy({width, t.px(4)});
  widgets::heading("What they bring", "roofline time of the layer on the chip, dense over sparse; drag the tokens",
                   width);
  draw_speeds(in, out, picture, view, {width, row});
  ImGui::Dummy({width, t.px(4)});
  draw_patterns(out, picture, view, width);
}

}  // namespace chapters::compression::sparsity
