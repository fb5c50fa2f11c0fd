#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "widgets/base/picture_version.h"
#include "widgets/table/table.h"

/// Tables of described rows: what a column is called, its unit and how its numbers are written is said by
/// `describe(Fields&, Row&)` and nowhere else.
namespace chapters {

/// One column of such a table.
struct DescribedColumn {
  std::string_view key;      ///< key of a field of the row
  std::string_view title{};  ///< empty: the field's label
  bool bar = false;          ///< a bar behind the number: its share of `full`
  double full = 0;           ///< value of a whole bar; 0: the column's largest
  widgets::Tint tint{};      ///< colour of the bar
  int priority = 0;          ///< where there is no room, columns of the highest priority number go first; 0 goes last
  bool code = false;         ///< a text in the face of code: names of kernels and calls
  int digits = 0;            ///< significant digits of each number, with its own unit; 0: the table's, in one unit
  bool whole = false;        ///< numbers are rounded to whole ones and written in full: means of what is counted
  std::string_view missing = "\xE2\x80\x94";  ///< what stands where a number is missing
};

namespace detail {

widgets::TableColumn table_column(const DescribedColumn& column, const Field* field);
void fill_cell(const Field& field, const DescribedColumn& column, widgets::TableCell& out);

}  // namespace detail

/// Such a table as a View keeps it. Allocates nothing once it has seen its rows.
template <class Row>
class DescribedTable {
 public:
  widgets::TableView view;

  /// What may be added to the rows; its functions capture nothing.
  struct Options {
    widgets::RowMark (*mark)(const Row& row) = nullptr;  ///< the legend's mark before the first cell
    /// What a cell says under the pointer, by its row and the key of its column.
    std::string_view (*hover)(const Row& row, std::string_view key) = nullptr;
  };

  widgets::TableResult draw(const char* id, const std::vector<Row>& rows, std::span<const DescribedColumn> columns,
                            ImVec2 size, const Options& options = {}) {
    rows_ = &rows;
    columns_ = columns;
    options_ = options;
    row_ = none;
    if (columns_made_ != columns.data() || made_.size() != columns.size()) make_columns();
    widgets::TableSource source{.context = this, .rows = rows.size(), .version = widgets::picture_version()};
    source.cell = [](const void* self, std::size_t row, std::size_t column, widgets::TableCell& out) {
      const auto& table = *static_cast<const DescribedTable*>(self);
      table.describe_row(row);
      if (const Field* field = table.fields_.find(table.columns_[column].key))
        detail::fill_cell(*field, table.columns_[column], out);
    };
    if (options.mark)
      source.mark = [](const void* self, std::size_t row) {
        const auto& table = *static_cast<const DescribedTable*>(self);
        return table.options_.mark((*table.rows_)[row]);
      };
    if (options.hover)
      source.hover = [](const void* self, std::size_t row, std::size_t column) {
        const auto& table = *static_cast<const DescribedTable*>(self);
        return table.options_.hover((*table.rows_)[row], table.columns_[column].key);
      };
    return widgets::draw_table(id, made_, source, view, size);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void make_columns() {
    Row row{};
    Fields fields;
    describe(fields, row);
    made_.clear();
    for (const DescribedColumn& column : columns_)
      made_.push_back(detail::table_column(column, fields.find(column.key)));
    columns_made_ = columns_.data();
  }
  void describe_row(std::size_t row) const {
    if (row == row_) return;
    fields_.clear();
    describe(fields_, const_cast<Row&>((*rows_)[row]));  // it says where the values lie, and changes none
    row_ = row;
  }

  const std::vector<Row>* rows_ = nullptr;
  std::span<const DescribedColumn> columns_;
  const DescribedColumn* columns_made_ = nullptr;
  std::vector<widgets::TableColumn> made_;
  Options options_;
  mutable Fields fields_;
  mutable std::size_t row_ = none;
};

}  // namespace chapters
