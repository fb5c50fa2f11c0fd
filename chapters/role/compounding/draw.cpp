#include <array>

#include "chapters/role/compounding/lab.h"
#include "widgets/number/number.h"

namespace chapters::role::compounding {
namespace {

void draw_stages(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 7> columns{{{.title = "technique", .number = false},
                                                                {.title = "own factor", .priority = 1},
                                                                {.title = "saves", .value_unit = "s"},
                                                                {.title = "gain here", .bar = true},
                                                                {.title = "as the first"},
                                                                {.title = "as the last"},
                                                                {.title = "step", .value_unit = "s", .priority = 2}}};
  widgets::TableSource source{.context = &out, .rows = out.stages.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const StageRow& r = static_cast<const Outputs*>(context)->stages[row];
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const std::array<double, 6> values{r.own_factor, r.saved_s, r.gain, r.first_gain, r.last_gain, r.step_s};
    cell.value = values[column - 1];
    if (column != 2 && column != 6) cell.number = widgets::format(cell.value, "");
  };
  widgets::draw_table("stages", columns, source, view.stages, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("bars", {.title = "What each takes off the step", .least = {480, 300}, .answers = true},
              [&](ImVec2 size) { draw_bars(in, out, picture, view, size); });
  stage.panel("stages", {.title = "In this order", .least = {440, 150}, .ideal = {0, 190}, .scrolls = true},
              [&](ImVec2 size) { draw_stages(out, picture, view, size); });
  published_panel(stage, "Measured stacks", picture.published);
}

}  // namespace chapters::role::compounding
