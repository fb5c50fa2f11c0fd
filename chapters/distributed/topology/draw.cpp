#include "chapters/distributed/shared/panel_parts.h"
#include "chapters/distributed/topology/lab.h"
#include "widgets/number/number.h"
#include "widgets/table/row_table.h"

namespace chapters::distributed::topology {
namespace {

void draw_axes(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 11> columns{{{.key = "axis"},
                                                            {.key = "ranks"},
                                                            {.key = "groups", .priority = 2},
                                                            {.key = "collective"},
                                                            {.key = "method", .priority = 2},
                                                            {.key = "bytes", .title = "Bytes", .priority = 1},
                                                            {.key = "calls", .priority = 1},
                                                            {.key = "slowest", .priority = 1},
                                                            {.key = "slowest_bytes_per_s", .title = "Carries"},
                                                            {.key = "call_s"},
                                                            {.key = "step_s", .bar = true}}};
  view.axes.draw("axes", out.axes, columns, size);
}

void draw_orders(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 3> columns{
      {{.key = "order", .title = "Order, inner axis first"}, {.key = "step_s", .bar = true}, {.key = "ratio"}}};
  view.orders.draw("orders", out.orders, columns, size);
}

void draw_figures(const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 3> columns{{{.title = "of what", .number = false},
                                                                {.title = "figure", .number = false},
                                                                {.title = "from", .number = false}}};
  const widgets::TableSource source = widgets::table_of(
      picture.figures, [](const FigureMark& r, const widgets::RowCells& cells) { cells(r.what, r.said, r.source); });
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
                         {.values = picture.run->pair_rates,
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
  stage.panel("box", {.title = "The machine", .least = {600, 400}, .answers = true, .marks = "pipes, slowest link"},
              [&](ImVec2 size) { draw_box(in, out, picture, view, size); });
  stage.panel("axes", {.title = "Axes and orders", .least = {960, 104}, .ideal = {0, 130}, .scrolls = true},
              [&](ImVec2 all) {
                draw_parts(
                    all, 420, [&](ImVec2 size) { draw_axes(out, view, size); },
                    [&](ImVec2 size) { draw_orders(out, view, size); });
              });
  stage.panel("pairs", {.title = "Pairs and rates", .least = {860, 260}, .scrolls = true}, [&](ImVec2 all) {
    draw_parts(
        all, 400, [&](ImVec2 size) { draw_pairs(picture, view, size); },
        [&](ImVec2 size) { draw_figures(picture, view, size); });
  });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::distributed::topology
