#pragma once
#include "widgets/base/parts.h"
#include "widgets/plot/plot_reference.h"
#include "widgets/table/table.h"

/// The parts of a table that need no screen.
namespace widgets {

/// "1,024.5 GB/s" -> "1,024", ".5", "GB/s". Text without a leading number is all `whole`.
struct CellParts {
  std::string_view whole, fraction, unit;
  bool number = false;
};
CellParts split_cell(std::string_view shown);

/// The cell as the table shows it: asks the source, and writes the number where the column has a scale.
void read_cell(const TableColumn& column, const ColumnLayout& layout, const TableSource& source, std::size_t row,
               std::size_t index, TableCell& out);
/// The table's cells in the scenario that was set aside; null: there is none.
const PlotReference::Rows* reference_rows(const char* id);
/// Leaves the cells where another scenario's picture is gathered; a table of more than 512 rows is left out.
void leave_rows(const char* id, std::span<const TableColumn> columns, const TableLayout& layout,
                const TableSource& source);
/// "A 12.3", in the column's unit: what the cell says there. Empty where it says the same, or there is no such row.
Line reference_words(const TableColumn& column, const ColumnLayout& layout, const PlotReference::Rows& rows,
                     std::string_view first_cell, std::size_t index, const TableCell& cell);
/// Writes those words beside what stands in the cell, whose text begins at `y`, where that leaves it whole; false where
/// there is no room. `table_x` is the table's left edge.
bool paint_reference(const Painter& painter, const TableColumn& column, const ColumnLayout& layout,
                     const TableCell& cell, float table_x, float y, std::string_view words);
/// Makes room for those words.
void measure_reference(std::span<const TableColumn> columns, const TableSource& source, const PlotReference::Rows& rows,
                       TableLayout& layout);
/// A number as a column with a scale writes it.
NumberText number_in_column(const ColumnLayout& column, double value);
/// What a column's numbers are written in, and its largest value; rows beyond 65,536 are asked only through `key`.
void scale_columns(std::span<const TableColumn> columns, const TableSource& source, TableLayout& layout);
/// Part of a whole bar that a value fills, 0 to 1; 0 for what is not a positive number.
double bar_share(const TableColumn& column, const ColumnLayout& layout, double value);
/// The unit that the head names.
std::string_view head_unit(const TableColumn& column, const ColumnLayout& layout);
/// Column positions for a table at most `width` pixels wide. All rows are measured up to 512, a spread sample of more.
TableLayout layout_table(std::span<const TableColumn> columns, const TableSource& source, float width,
                         const PlotReference::Rows* reference = nullptr);
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
/// Whether its cells stand from the left: texts, and number columns that hold words alone.
inline bool from_left(const TableColumn& column, const ColumnLayout& layout) { return !column.number || layout.words; }

}  // namespace widgets
