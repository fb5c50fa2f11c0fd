#include <array>

#include "chapters/profiling/utilization/lab.h"
#include "widgets/number/number.h"

namespace chapters::profiling::utilization {
namespace {

void draw_losses(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr widgets::TableColumn columns[] = {
      {.title = "loss", .number = false},
      {.title = "share", .unit = "%", .bar = true, .full = 100},
      {.title = "a step", .value_unit = "s", .priority = 1},
      {.title = "what takes it away", .number = false, .priority = 2},
  };
  widgets::TableSource source{.context = &out, .rows = out.losses.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const LossRow& r = static_cast<const Outputs*>(context)->losses[row];
    if (column == 0 || column == 3) {
      cell.text = column == 0 ? r.name : r.cure;
    } else {
      cell.value = column == 1 ? r.share : r.seconds;
      if (column == 1) cell.number = widgets::format(cell.value, "");
    }
  };
  widgets::draw_table("losses", columns, source, view.losses, size);
}

/// A row sets its convention.
void draw_conventions(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr widgets::TableColumn columns[] = {
      {.title = "convention", .number = false},
      {.title = "reported", .unit = "%", .bar = true, .full = 100},
      {.title = "vs needed", .unit = "points", .priority = 1},
      {.title = "used by", .number = false, .priority = 2},
  };
  widgets::TableSource source{.context = &out, .rows = out.conventions.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const ConventionRow& r = static_cast<const Outputs*>(context)->conventions[row];
    if (column == 0 || column == 3) {
      cell.text = column == 0 ? r.name : r.who;
    } else {
      cell.value = column == 1 ? r.reported : r.against;
      cell.number = widgets::format(cell.value, "");
    }
  };
  const auto result = widgets::draw_table("conventions", columns, source, view.conventions, size);
  if (!result.selection_changed || view.conventions.selected < 0) return;
  const auto row = static_cast<std::size_t>(view.conventions.selected);
  if (row >= out.conventions.size()) return;
  const models::FlopConvention& chosen = out.conventions[row].convention;
  in.attention = chosen.attention;
  in.weights = chosen.weights;
  in.count_recompute = chosen.recompute;
}

void draw_products(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr widgets::TableColumn columns[] = {
      {.title = "operation", .number = false},
      {.title = "calls", .priority = 2},
      {.title = "work", .value_unit = "FLOP"},
      {.title = "kernels", .value_unit = "s", .priority = 1},
      {.title = "rate", .value_unit = "FLOP/s", .bar = true},
  };
  widgets::TableSource source{.context = &out, .rows = out.product_rows.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const ProductRow& r = static_cast<const Outputs*>(context)->product_rows[row];
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const std::array<double, 4> values{static_cast<double>(r.calls), r.flops, r.seconds, r.rate};
    cell.value = values[column - 1];
    if (column == 1) cell.number = widgets::format(cell.value, "");
  };
  widgets::draw_table("products", columns, source, view.products, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("second", {.title = "One second", .least = {520, 330}, .answers = true},
              [&](ImVec2 size) { draw_second(picture, view, size); });
  if (!out.conventions.empty())
    stage.panel("conventions",
                {.title = "By every convention", .least = {460, 190}, .ideal = {0, 220}, .scrolls = true},
                [&](ImVec2 size) { draw_conventions(in, out, picture, view, size); });
  if (!out.product_rows.empty())
    stage.panel("products", {.title = "Products by shape", .least = {460, 150}, .ideal = {0, 200}, .scrolls = true},
                [&](ImVec2 size) { draw_products(out, picture, view, size); });
  stage.panel("losses", {.title = "Every loss", .least = {460, 190}, .ideal = {0, 220}, .scrolls = true},
              [&](ImVec2 size) { draw_losses(out, picture, view, size); });
  published_panel(stage, "Published runs", picture.published);
}

}  // namespace chapters::profiling::utilization
