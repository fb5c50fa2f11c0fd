#pragma once
#include <span>
#include <string_view>

#include "widgets/table/table.h"

/// A table's rows that are at hand as text.
namespace table_fixture {

/// `cells` row by row; `values`, if not empty, the same shape. Must outlive the source made of it.
struct TextRows {
  std::size_t columns = 0;
  std::span<const std::string_view> cells;
  std::span<const double> values{};
};

inline widgets::TableSource table_of(const TextRows& rows, std::uint64_t version) {
  widgets::TableSource source;
  source.context = &rows;
  source.rows = rows.columns ? rows.cells.size() / rows.columns : 0;
  source.version = version;
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& out) {
    const TextRows& r = *static_cast<const TextRows*>(context);
    const std::size_t i = row * r.columns + column;
    out.text = r.cells[i];
    if (i < r.values.size()) out.value = r.values[i];
  };
  return source;
}

}  // namespace table_fixture
