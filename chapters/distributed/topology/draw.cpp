#include "chapters/distributed/topology/lab.h"
#include "widgets/number/number.h"
#include "widgets/table/row_table.h"

namespace chapters::distributed::topology {
namespace {

void draw_axes(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 11> columns{
      {{.title = "axis", .number = false},
       {.title = "ranks"},
       {.title = "groups", .priority = 2},
       {.title = "collective", .number = false},
       {.title = "done by", .number = false, .priority = 2},
       {.title = "bytes", .value_unit = "B", .priority = 1},
       {.title = "calls", .priority = 1},
       {.title = "busiest link", .number = false, .priority = 1},
       {.title = "carries", .value_unit = "B/s"},
       {.title = "a call", .value_unit = "s"},
       {.title = "a step", .value_unit = "s", .bar = true}}};
  const widgets::TableSource source =
      widgets::table_of(out.axes, picture.version, [](const AxisRow& r, const widgets::RowCells& cells) {
        const auto count = [](auto n) { return widgets::CellFigure{static_cast<double>(n)}; };
        cells(r.axis, count(r.ranks), count(r.groups), r.collective, r.method, r.bytes, count(r.calls), r.slowest,
              r.slowest_bytes_per_s, r.call_s, r.step_s);
      });
  widgets::draw_table("axes", columns, source, view.axes, size);
}

void draw_orders(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 3> columns{{{.title = "order, inner axis first", .number = false},
                                                                {.title = "a step", .value_unit = "s", .bar = true},
                                                                {.title = "over the best"}}};
  const widgets::TableSource source =
      widgets::table_of(out.orders, picture.version, [](const OrderRow& r, const widgets::RowCells& cells) {
        cells(r.order, r.step_s, widgets::CellFigure{r.ratio});
      });
  widgets::draw_table("orders", columns, source, view.orders, size);
}

void draw_figures(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 3> columns{{{.title = "of what", .number = false},
                                                                {.title = "figure", .number = false},
                                                                {.title = "from", .number = false}}};
  const widgets::TableSource source =
      widgets::table_of(out.figures, picture.version,
                        [](const FigureRow& r, const widgets::RowCells& cells) { cells(r.what, r.said, r.source); });
  widgets::draw_table("figures", columns, source, view.figures, size);
}

void draw_pairs(const Picture& picture, View& view, ImVec2 size) {
  view.names.clear();
  for (const std::string& name : picture.pair_names) view.names.push_back(name);
  const std::size_t n = picture.pair_names.size();
  if (n == 0) {
    ImGui::Dummy(size);
    return;
  }
  widgets::draw_heat_map("pairs",
                         {.values = picture.pair_rates,
                          .rows = n,
                          .cols = n,
                          .row_labels = view.names,
                          .col_labels = view.names,
                          .revision = picture.version},
                         view.pairs,
                         {.row_title = "from", .col_title = "to", .value_title = "alone", .unit = "B/s", .size = size});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("box", {.title = "The machine", .least = {600, 400}, .answers = true},
              [&](ImVec2 size) { draw_box(in, picture, view, size); });
  stage.panel("axes", {.title = "Axes", .least = {620, 104}, .ideal = {0, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_axes(out, picture, view, size); });
  stage.panel("orders", {.title = "Orders", .least = {420, 104}, .ideal = {0, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_orders(out, picture, view, size); });
  stage.panel("pairs", {.title = "Pairs", .least = {420, 260}}, [&](ImVec2 size) { draw_pairs(picture, view, size); });
  stage.panel("figures", {.title = "Figures", .least = {520, 170}, .scrolls = true},
              [&](ImVec2 size) { draw_figures(out, picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::distributed::topology
