#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "widgets/base/picture_version.h"
#include "widgets/table/table.h"

namespace widgets {

/// A number with a unit of its own, in the digits of `put_number`.
struct CellFigure {
  double value = 0;
  std::string_view unit{};
};

/// Takes the values of a row in the order of the columns, and puts the one of its column into its cell: a text, which
/// must outlive the table's drawing, a number that the column writes in its unit, or one as it is written.
struct RowCells {
  TableCell& cell;
  std::size_t column = 0;

  template <class... Values>
  void operator()(const Values&... values) const {
    std::size_t at = 0;
    const auto put_at = [&](const auto& value) {
      if (at++ == column) put(value);
    };
    (put_at(values), ...);
  }

 private:
  void put(std::string_view text) const { cell.text = text; }
  void put(double value) const { cell.value = value; }
  void put(CellFigure figure) const { put_number(cell, figure.value, figure.unit); }
};

/// What a table shows of rows that lie in memory: `write(row, cells)`, which captures nothing, calls `cells` once with
/// the row's values.
template <class Row, class Write>
TableSource table_of(const std::vector<Row>& rows, std::uint64_t version, Write) {
  TableSource source{.context = &rows, .rows = rows.size(), .version = version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, TableCell& cell) {
    Write{}((*static_cast<const std::vector<Row>*>(context))[row], RowCells{cell, column});
  };
  return source;
}
/// The same of rows that belong to the picture that is painted.
template <class Row, class Write>
TableSource table_of(const std::vector<Row>& rows, Write write) {
  return table_of(rows, picture_version(), write);
}

}  // namespace widgets
