#include "chapters/distributed/topology/lab.h"
#include "widgets/number/number.h"

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
  widgets::TableSource source{.context = &out, .rows = out.axes.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const AxisRow& r = static_cast<const Outputs*>(context)->axes[row];
    const auto count = [&](double value) {
      cell.value = value;
      cell.number = widgets::format(value, "");
    };
    if (column == 0) cell.text = r.axis;
    if (column == 1) count(static_cast<double>(r.ranks));
    if (column == 2) count(static_cast<double>(r.groups));
    if (column == 3) cell.text = r.collective;
    if (column == 4) cell.text = r.method;
    if (column == 5) cell.value = r.bytes;
    if (column == 6) count(r.calls);
    if (column == 7) cell.text = r.slowest;
    if (column == 8) cell.value = r.slowest_bytes_per_s;
    if (column == 9) cell.value = r.call_s;
    if (column == 10) cell.value = r.step_s;
  };
  widgets::draw_table("axes", columns, source, view.axes, size);
}

void draw_orders(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 3> columns{{{.title = "order, inner axis first", .number = false},
                                                                {.title = "a step", .value_unit = "s", .bar = true},
                                                                {.title = "over the best"}}};
  widgets::TableSource source{.context = &out, .rows = out.orders.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const OrderRow& r = static_cast<const Outputs*>(context)->orders[row];
    if (column == 0) cell.text = r.order;
    if (column == 1) cell.value = r.step_s;
    if (column == 2) {
      cell.value = r.ratio;
      cell.number = widgets::format(r.ratio, "");
    }
  };
  widgets::draw_table("orders", columns, source, view.orders, size);
}

void draw_figures(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 3> columns{{{.title = "of what", .number = false},
                                                                {.title = "figure", .number = false},
                                                                {.title = "from", .number = false}}};
  widgets::TableSource source{.context = &out, .rows = out.figures.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const FigureRow& r = static_cast<const Outputs*>(context)->figures[row];
    if (column == 0) cell.text = r.what;
    if (column == 1) cell.text = r.said;
    if (column == 2) cell.text = r.source;
  };
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
