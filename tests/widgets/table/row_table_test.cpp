#include "widgets/table/row_table.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace {

struct Rung {
  std::string name;
  double time_s = 0;
  int loads = 0;
};

TEST_CASE("a table of rows in memory puts each value into its column: texts, numbers and figures with a unit") {
  const std::vector<Rung> rungs{{"naive", 2, 3}, {"blocked", 0.5, 4}};
  const widgets::TableSource source = widgets::table_of(rungs, 7, [](const Rung& r, const widgets::RowCells& cells) {
    cells(r.name, r.time_s, widgets::CellFigure{static_cast<double>(r.loads) * 1e3, "B"});
  });
  CHECK(source.rows == 2);
  CHECK(source.version == 7);
  const auto cell = [&](std::size_t row, std::size_t column) {
    widgets::TableCell out;
    source.cell(source.context, row, column, out);
    return out;
  };
  CHECK(cell(0, 0).shown() == "naive");
  CHECK(std::isnan(cell(0, 0).value));
  CHECK(cell(1, 1).value == 0.5);
  CHECK(cell(1, 1).shown().empty());  // the column writes it
  CHECK(cell(1, 2).value == 4e3);
  CHECK(cell(1, 2).shown() == widgets::format(4e3, "B").view());
  CHECK(cell(1, 3).shown().empty());
}

}  // namespace
