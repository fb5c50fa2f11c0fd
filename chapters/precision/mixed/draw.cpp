#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "chapters/precision/mixed/lab.h"
#include "chapters/precision/shared/formats.h"
#include "widgets/base/heading.h"
#include "widgets/table/table_layout.h"

namespace chapters::precision::mixed {
namespace {

using models::NumberFormat;
using widgets::Tint;

/// One colour and shape for each format: squares 32 bits, circles 16, triangles 8.
constexpr std::array<std::size_t, 6> format_series{3, 6, 0, 2, 1, 4};
constexpr std::array format_shapes{widgets::Marker::square, widgets::Marker::square,   widgets::Marker::circle,
                                   widgets::Marker::circle, widgets::Marker::triangle, widgets::Marker::diamond};

widgets::RowMark mark_of(NumberFormat format) {
  const auto i = static_cast<std::size_t>(format);
  return {format_shapes[i], widgets::theme().series_at(format_series[i])};
}

/// Marks and names of the formats that the rows have.
void draw_legend(const Outputs& out, float width) {
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = t.type(widgets::Type::small) + t.px(8);
  float x = at.x;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto format = static_cast<NumberFormat>(i);
    if (std::none_of(out.operations.begin(), out.operations.end(),
                     [&](const OperationRow& r) { return r.format == format; }))
      continue;
    widgets::paint_row_mark(painter, mark_of(format), {x + t.px(6), at.y + height / 2}, t.px(5));
    x += t.px(16) +
         painter.text({x + t.px(16), at.y + t.px(3)}, models::number_label(format), t.text, widgets::Type::small) +
         t.px(16);
  }
  widgets::fit_text(painter, {x + t.px(6), at.y + t.px(3)},
                    "what it computes in, forward; sums inside products are FP32", at.x + width - x - t.px(6), t.muted,
                    widgets::Type::small);
  ImGui::Dummy({width, height});
}

void draw_operations(const Outputs& out, View& view, float width, float height) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "operation", .number = false},
                                                                {.title = "times"},
                                                                {.title = "forward", .number = false},
                                                                {.title = "backward", .number = false},
                                                                {.title = "time of all", .value_unit = "s"},
                                                                {.title = "share", .unit = "%"}}};
  widgets::TableSource source{.context = &out, .rows = out.operations.size(), .version = out.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const OperationRow& r = static_cast<const Outputs*>(context)->operations[row];
    switch (column) {
      case 0:
        cell.text = r.name;
        return;
      case 1:
        cell.value = static_cast<double>(r.count);
        break;
      case 2:
        cell.text = r.forward;
        return;
      case 3:
        cell.text = r.backward.empty() ? std::string_view("none") : std::string_view(r.backward);
        return;
      case 4:
        cell.value = r.all_s;
        break;
      default:
        cell.value = r.share;
        break;
    }
    if (column == 5)
      cell.number.length =
          static_cast<std::size_t>(std::snprintf(cell.number.chars, sizeof cell.number.chars, "%.1f", cell.value));
    else
      cell.number = widgets::format(cell.value, column == 4 ? "s" : "");
  };
  source.mark = [](const void* context, std::size_t row) {
    return mark_of(static_cast<const Outputs*>(context)->operations[row].format);
  };
  source.hover = [](const void* context, std::size_t row, std::size_t) {
    return std::string_view(static_cast<const Outputs*>(context)->operations[row].why);
  };
  widgets::draw_table("operations", columns, source, view.operations, {width, height});
}

void draw_memory(const Outputs& out, View& view, float width, float height) {
  widgets::BarSegment segments[models::recipe_count][7];
  widgets::StackedBar bars[models::recipe_count];
  std::size_t shown = 0;
  for (std::size_t i = 0; i < models::recipe_count; ++i) {
    const RecipeRow& r = out.recipes[i];
    if (!r.runs) continue;
    const auto& m = r.memory;
    segments[i][0] = {
        .label = "weights",
        .value = m.weights,
        .tint = Tint::series(0),
        .info = "as the recipe keeps them",
    };
    segments[i][1] = {
        .label = "copies",
        .value = m.copies,
        .tint = Tint::series(6),
        .info = "8-bit operands, or autocast's cache",
    };
    segments[i][2] = {
        .label = "gradients",
        .value = m.gradients,
        .tint = Tint::series(1),
        .info = "one a parameter",
    };
    segments[i][3] = {
        .label = "FP32 master",
        .value = m.master,
        .tint = Tint::series(5),
        .info = "what the optimizer updates",
    };
    segments[i][4] = {
        .label = "moments",
        .value = m.moments,
        .tint = Tint::series(3),
        .info = "Adam's two, FP32",
    };
    segments[i][5] = {
        .label = "activations",
        .value = m.activations,
        .tint = Tint::series(2),
        .info = "kept for the backward pass",
    };
    segments[i][6] = {
        .label = "logits",
        .value = m.logits,
        .tint = Tint::series(4),
        .info = "of the last product, and in FP32 for the loss",
    };
    bars[shown++] = {.label = r.recipe, .segments = segments[i]};
  }
  widgets::draw_stacked_bars("memory of one chip", {bars, shown}, view.memory,
                             {
                                 .unit = "B",
                                 .size = {width, height},
                                 .bar_px = 22,
                                 .limit = out.chip_bytes,
                                 .limit_label = out.chip_name,
                             });
}

void draw_time(const Outputs& out, View& view, float width, float height) {
  constexpr std::array<std::string_view, models::step_part_count> names{"products", "attention", "norms and the like",
                                                                        "casts and scales", "optimizer"};
  constexpr std::array<Tint, models::step_part_count> tints{Tint::series(0), Tint::series(6), Tint::series(2),
                                                            Tint::series(1), Tint::series(3)};
  widgets::BarSegment segments[models::recipe_count][models::step_part_count];
  widgets::StackedBar bars[models::recipe_count];
  // FP32 takes ten times as long as the others and would hide them: it is drawn when it is chosen.
  std::size_t shown = 0;
  for (std::size_t i = out.recipe == 0 ? 0 : 1; i < models::recipe_count; ++i) {
    if (!out.recipes[i].runs) continue;
    for (std::size_t p = 0; p < models::step_part_count; ++p)
      segments[i][p] = {.label = names[p], .value = out.recipes[i].part_s[p], .tint = tints[p]};
    bars[shown++] = {.label = out.recipes[i].recipe, .segments = segments[i]};
  }
  widgets::draw_stacked_bars("time of a step", {bars, shown}, view.time,
                             {.unit = "s", .size = {width, height}, .bar_px = 22});
}

}  // namespace

void draw(Inputs&, const Outputs& out, View& view) {
  if (!out.reason.empty() || out.operations.empty() || out.recipes.size() != models::recipe_count) return;
  const auto& t = widgets::theme();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = room.x, top = ImGui::GetCursorScreenPos().y, gap = t.px(22),
              space = ImGui::GetStyle().ItemSpacing.y;
  const bool beside = width >= t.px(900);  // the bars right of the table; else under it
  const float left = beside ? std::min(std::floor(width * 0.58f), t.px(740)) : width,
              right = beside ? width - left - gap : width;
  widgets::heading(out.verdict, out.story, width, widgets::HeadingMore::beside);
  widgets::TableLayout rows;
  widgets::arrange_columns({}, rows, 0, false);
  ImGui::BeginGroup();
  draw_legend(out, left);
  const float used = ImGui::GetCursorScreenPos().y - top,
              all = rows.header_height + static_cast<float>(out.operations.size()) * rows.row_height + 1;
  const float table = std::max(t.px(230), beside ? room.y - used - t.px(4) : room.y * 0.45f);
  const float fit = std::floor((table - rows.header_height) / rows.row_height);
  draw_operations(out, view, left, std::min(all, rows.header_height + fit * rows.row_height + 1));
  ImGui::EndGroup();
  if (beside) ImGui::SameLine(0, gap);
  ImGui::BeginGroup();
  const float line = t.type(widgets::Type::body) + t.px(5) + space, small = t.type(widgets::Type::small) + t.px(6),
              note = (out.time_note.empty() ? 0.0f : small) + (out.left_out.empty() ? 0.0f : small);
  const float head = used - (beside ? t.type(widgets::Type::small) + t.px(8) + space : 0.0f);
  const float bars =
      beside ? std::clamp((room.y - head - 2 * line - note - 2 * space) / 2, t.px(205), t.px(340)) : t.px(215);
  widgets::heading("Memory of one chip", out.left_out, right);
  draw_memory(out, view, right, bars);
  widgets::heading("Time of a step", out.time_note, right);
  draw_time(out, view, right, bars);
  ImGui::EndGroup();
}

}  // namespace chapters::precision::mixed
