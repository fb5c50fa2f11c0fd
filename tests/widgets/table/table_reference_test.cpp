#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/widgets/prose/typeset_fixture.h"
#include "tests/widgets/table/text_rows.h"
#include "widgets/plot/plot_reference.h"

using table_fixture::table_of;
using table_fixture::TextRows;
using widgets::TableColumn;
using widgets::TableView;

TEST_CASE("beside a scenario that was set aside a cell that differs says A and its value there, in the column's unit") {
  const std::array<TableColumn, 3> columns{TableColumn{.title = "kernel", .number = false},
                                           TableColumn{.title = "time", .value_unit = "s"},
                                           TableColumn{.title = "bound", .number = false}};
  const std::vector<std::string_view> then{"scan",  "", "memory", "sum",   "", "memory",
                                           "twice", "", "memory", "twice", "", "memory"};
  const std::vector<std::string_view> now{"scan",  "", "compute", "sum", "", "memory",
                                          "twice", "", "launch",  "new", "", "memory"};
  const double none = std::nan("");
  const std::vector<double> then_s{none, 0.004, none, none, 0.002, none, none, 1, none, none, 2, none};
  const std::vector<double> now_s{none, 0.012, none, none, 0.002, none, none, 0.001, none, none, 0.003, none};
  const TextRows before{3, then, then_s}, after{3, now, now_s};
  TableView a, b;
  widgets::PlotReference reference;
  bool gather = true, show = true;
  float width = 460;
  support::UiDriver ui(typeset::in_window([&] {
                         if (gather) {
                           const widgets::GatherReference into(reference);
                           widgets::draw_table("t", columns, table_of(before, 1), a, {460, 0});
                         } else {
                           const widgets::ShowReference shown(show ? &reference : nullptr);
                           widgets::draw_table("t", columns, table_of(after, 1), b, {width, 0});
                         }
                       }),
                       {500, 400}, typeset::set_up);
  ui.frames(2);
  gather = false;
  ui.frames(2);
  const auto texts = [&] {
    std::string all;
    for (const widgets::Stroke& s : ui.record().strokes)
      if (s.text.starts_with("A ")) all += s.text + ";";
    return all;
  };
  // Milliseconds, as the column; rows that share a name, and a row that is new, are not compared.
  CHECK(texts() == "A 4;A memory;");
  const widgets::Record record = ui.record();
  for (const widgets::Stroke& s : record.strokes)
    if (s.text == "A 4") CHECK(s.points[0].x + s.points[1].x < 12 + b.layout.columns[1].point);
  width = 215;  // no room: the numbers stay whole
  ui.frames(2);
  CHECK(texts().find("memory") == std::string::npos);
  CHECK(ui.text_present("12"));
  width = 460;
  show = false;
  ui.frames(2);
  CHECK(texts().empty());
  CHECK(b.layout.columns[1].other == 0);
}
