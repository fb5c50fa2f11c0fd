#include <array>

#include "chapters/profiling/utilization/lab.h"
#include "widgets/table/row_table.h"

namespace chapters::profiling::utilization {
namespace {

void draw_losses(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 4> columns{
      {{.key = "name", .title = "loss"},
       {.key = "share", .title = "share", .bar = true, .full = 100},
       {.key = "seconds", .title = "per step", .priority = 1},
       {.key = "cure", .title = "what takes it away", .priority = 2}}};
  view.losses.draw("losses", out.losses, columns, size);
}

/// A row sets its convention.
void draw_conventions(Inputs& in, const Outputs& out, View& view, ImVec2 size) {
  static constexpr widgets::TableColumn columns[] = {
      {.title = "convention", .number = false},
      {.title = "reported", .unit = "%", .bar = true, .full = 100},
      {.title = "vs needed", .unit = "points", .priority = 1},
      {.title = "used by", .number = false, .priority = 2},
  };
  const widgets::TableSource source =
      widgets::table_of(out.conventions, [](const ConventionRow& r, const widgets::RowCells& cells) {
        cells(r.name, widgets::CellFigure{r.reported}, widgets::CellFigure{r.against}, r.who);
      });
  const auto result = widgets::draw_table("conventions", columns, source, view.conventions, size);
  if (!result.selection_changed || view.conventions.selected < 0) return;
  const auto row = static_cast<std::size_t>(view.conventions.selected);
  if (row >= out.conventions.size()) return;
  const models::FlopConvention& chosen = out.conventions[row].convention;
  in.attention = chosen.attention;
  in.weights = chosen.weights;
  in.count_recompute = chosen.recompute;
}

void draw_products(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{{{.key = "name", .title = "operation"},
                                                           {.key = "calls", .title = "calls", .priority = 2},
                                                           {.key = "flops", .title = "work"},
                                                           {.key = "seconds", .title = "kernels", .priority = 1},
                                                           {.key = "rate", .title = "rate", .bar = true}}};
  view.products.draw("products", out.product_rows, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("second", {.title = "One second", .least = {520, 330}, .answers = true, .marks = "second, ledger"},
              [&](ImVec2 size) { draw_second(picture, view, size); });
  // Every job but a recording has them, and their place before they are computed.
  if (!out.conventions.empty() || (out.losses.empty() && in.job != Job::recording))
    stage.panel("conventions",
                {.title = "By every convention", .least = {460, 190}, .ideal = {0, 220}, .scrolls = true},
                [&](ImVec2 size) { draw_conventions(in, out, view, size); });
  if (!out.product_rows.empty())
    stage.panel("products", {.title = "Matmuls by shape", .least = {460, 150}, .ideal = {0, 200}, .scrolls = true},
                [&](ImVec2 size) { draw_products(out, view, size); });
  stage.panel("losses", {.title = "Every loss", .least = {460, 190}, .ideal = {0, 220}, .scrolls = true},
              [&](ImVec2 size) { draw_losses(out, view, size); });
  published_panel(stage, "Published runs", picture.published);
}

}  // namespace chapters::profiling::utilization
