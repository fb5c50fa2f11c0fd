#pragma once
#include "widgets/table/table.h"

/// The parts of a table that need no screen.
namespace widgets {

/// "1,024.5 GB/s" -> "1,024", ".5", "GB/s". Text without a leading number is all `whole`.
struct CellParts {
  std::string_view whole, fraction, unit;
};
CellParts split_cell(std::string_view shown);

/// Column positions for a table at most `width` pixels wide. All rows are measured up to 512, a spread sample of more.
TableLayout layout_table(std::span<const TableColumn> columns, const TableSource& source, float width);
/// Positions from the widest contents already in `layout.columns`, after these grew.
void arrange_columns(std::span<const TableColumn> columns, TableLayout& layout, float width, bool marks);

/// Stable order of the rows by a column; rows without a value are last in either direction.
void sort_rows(std::span<const TableColumn> columns, const TableSource& source, int column, SortOrder order,
               std::vector<std::uint32_t>& rows_in_order);

struct RowWindow {
  std::size_t first = 0, end = 0;  ///< rows that are at least partly visible
  float offset = 0;                ///< y of the first one from the top of the body, <= 0, pixels
};
/// Also brings `scroll_rows` into what can be scrolled to.
RowWindow visible_rows(std::size_t rows, float row_height, float body_height, double& scroll_rows);

inline std::size_t row_at(const TableView& view, std::size_t position) {
  return view.rows_in_order.empty() ? position : view.rows_in_order[position];
}

/// Width in pixels; 0 for an empty view, which text_size cannot take.
inline float width_of(std::string_view s, Type type = Type::body, Font font = Font::sans) {
  return s.empty() ? 0.0f : text_size(s, type, font).x;
}

Font cell_font(const TableColumn& column);

}  // namespace widgets
