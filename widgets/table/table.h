#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/base/marker.h"
#include "widgets/base/painter.h"
#include "widgets/base/tint.h"
#include "widgets/number/number.h"

/// Tables that sort, select, scroll over a million rows and copy. Numbers stand with their decimal points under each
/// other.
namespace widgets {

struct TableColumn {
  std::string_view title;
  std::string_view unit{};  ///< shown beside the title; leave empty where the cells carry their units
  bool number = true;       ///< aligned on the decimal point and sorted by value; else text, from the left
  bool mono = true;         ///< numbers and code in the mono face; has no effect on text columns unless `code`
  bool code = false;
  /// SI unit of TableCell::value, named in exports; empty: `unit`. A number column with a value unit and no `unit` is
  /// written by the table: one multiple is chosen for all its rows and said in its head, so that us and ms never mix.
  std::string_view value_unit{};
  Prefix prefix = Prefix::si;
  bool bar = false;  ///< a bar behind the number: its share of `full`
  double full = 0;   ///< value of a whole bar; 0: the column's largest
  Tint tint{};       ///< The bar's tint.
  int priority = 0;  ///< where there is no room, columns of the highest priority number go first; 0 goes last

  bool scaled() const { return number && unit.empty() && !value_unit.empty(); }
};

struct TableCell {
  NumberText number;      ///< storage for a formatted number
  std::string_view text;  ///< what is shown when not empty; else `number`
  double value =
      std::numeric_limits<double>::quiet_NaN();  ///< sorts a number column; NaN stands last in either direction

  std::string_view shown() const { return text.empty() ? number.view() : text; }
};

/// A number as a cell has it: what sorts it, and how it is written.
inline void put_number(TableCell& cell, double value, std::string_view unit, int significant = 3) {
  cell.value = value;
  cell.number = format(value, unit, significant);
}

/// The mark of the legend that a row belongs to.
struct RowMark {
  Marker shape = Marker::none;
  ImU32 colour = 0;
};

/// The marker about `centre`, `radius` px from its middle to a side.
void paint_row_mark(const Painter& painter, RowMark mark, ImVec2 centre, float radius);

/// What a table shows. Only visible rows are asked for (all of them when it sorts as text, copies or exports).
struct TableSource {
  const void* context = nullptr;
  std::size_t rows = 0;
  std::uint64_t version = 0;  ///< change it whenever a cell changed: widths and order are kept until then
  void (*cell)(const void* context, std::size_t row, std::size_t column, TableCell& out) = nullptr;
  double (*key)(const void* context, std::size_t row,
                std::size_t column) = nullptr;                      ///< optional: the cell's value without its text
  RowMark (*mark)(const void* context, std::size_t row) = nullptr;  ///< optional: legend mark before the first cell
  std::string_view (*hover)(const void* context, std::size_t row,
                            std::size_t column) = nullptr;  ///< optional: value, formula, source
};

enum class SortOrder : std::uint8_t { none, ascending, descending };

/// Extents of one column, in pixels from the left edge of the table.
struct ColumnLayout {
  float left = 0, width = 0;                          ///< content, without padding
  float point = 0;                                    ///< number columns: where decimal points stand
  float unit_left = 0;                                ///< number columns: where units inside cells begin
  float whole = 0, fraction = 0, unit = 0, text = 0;  ///< widest of each so far, pixels
  float other = 0;                                    ///< widest value of a scenario that was set aside, "A 12.3"
  float word = 0;                                     ///< number columns: the widest word in place of a number ("none")
  bool hidden = false;                                ///< there is no room for it
  bool words = false;  ///< a number column that holds words alone ("yes", "no"): set from the left like text
  UnitScale scale;     ///< The multiple of a column that the table writes.
  double largest = 0;  ///< largest value, for bars and the scale
};
struct TableLayout {
  std::vector<ColumnLayout> columns;
  float width = 0, header_height = 0, row_height = 0, pad = 0;
  std::size_t hidden = 0;  ///< columns without room; the header says how many, its hover which
};

struct TableView {
  int sort_column = -1;
  SortOrder order = SortOrder::none;
  std::int64_t selected = -1;  ///< row of the source, whatever the order; -1: none
  double scroll_rows = 0;      ///< rows above the first visible one

  // Kept between frames, made anew when what they were made from changes.
  TableLayout layout;
  std::vector<std::uint32_t> rows_in_order;  ///< empty: as the source has them
  std::uint64_t layout_version = 0, order_version = 0;
  std::size_t layout_rows = 0, order_rows = 0;
  int order_column = -1;
  SortOrder order_made = SortOrder::none;
  float layout_width = 0, scale = 0;
  std::uint64_t layout_reference = 0;  ///< Which scenario that was set aside it was laid out for; 0: none.
  ImFont* font = nullptr;
  std::uint64_t layouts = 0;  ///< how often it was laid out
};

struct TableResult {
  bool selection_changed = false, sort_changed = false, copied = false;
  std::int64_t hovered_row = -1;  ///< row of the source
  int hovered_column = -1;
  ImVec2 size;  ///< pixels taken
};

/// Where there is no room, columns go by their priority and then texts shorten in the middle; a number is never cut.
/// Beside a scenario that was set aside, a cell that differs from its cell there says "A" and that value; where there
/// is no room for it, the hover does. Draws at the cursor in a box of `size` and takes its place there; `size.y` 0: as
/// tall as its rows, `size.x` 0: the room there is. Headers are items labelled with their titles: a click sorts up,
/// then down, then not. Rows are items labelled with their first cell. With the focus: arrows, Page Up and Down, Home
/// and End select, Ctrl+C copies; the right button offers the same.
TableResult draw_table(const char* id, std::span<const TableColumn> columns, const TableSource& source, TableView& view,
                       ImVec2 size = {0, 0});

/// All rows in the order of the view, tab-separated with a header line; tabs and line ends inside cells become spaces.
std::string table_as_tsv(std::span<const TableColumn> columns, const TableSource& source, const TableView& view);

/// The same for export: numbers in SI units with all their digits.
DataTable table_data(std::string_view name, std::span<const TableColumn> columns, const TableSource& source,
                     const TableView& view);

}  // namespace widgets
