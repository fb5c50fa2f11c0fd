#include "widgets/table/table.h"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/widgets/prose/typeset_fixture.h"
#include "tests/widgets/table/text_rows.h"
#include "widgets/table/table_layout.h"

using table_fixture::table_of;
using table_fixture::TextRows;
using widgets::SortOrder;
using widgets::TableCell;
using widgets::TableColumn;
using widgets::TableSource;
using widgets::TableView;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

const std::array<TableColumn, 2> columns{TableColumn{.title = "Name", .number = false},
                                         TableColumn{.title = "Rate", .unit = "GB/s"}};
// In this order: stable sorting by rate must keep "b" before "d".
const std::vector<std::string_view> cells{"b", "2.5", "a", "1,024", "d", "2.5", "c", "—", "e", "0.125"};
const std::vector<double> values{nan_value, 2.5,       nan_value, 1024,      nan_value,
                                 2.5,       nan_value, nan_value, nan_value, 0.125};
const TextRows text_rows{2, cells, values};

/// How many cells were asked for.
struct Asked {
  mutable std::size_t cells = 0;
};

/// Row i of a million: its number, and its square.
TableSource million(const Asked& asked) {
  TableSource s;
  s.context = &asked;
  s.rows = 1'000'000;
  s.version = 1;
  s.cell = [](const void* context, std::size_t row, std::size_t column, TableCell& out) {
    ++static_cast<const Asked*>(context)->cells;
    const auto x = static_cast<double>(row);
    if (column == 0)
      out.number = widgets::format(x, "", 7);
    else
      out.number = widgets::format(x * x, "B");
    out.value = column == 0 ? x : x * x;
  };
  return s;
}

struct Drawn {
  TableSource source;
  TableView view;
  ImVec2 size;
  std::string last_hover;
  support::UiDriver ui;
  explicit Drawn(const TableSource& s, ImVec2 box = {300, 0})
      : source(s),
        size(box),
        ui(typeset::in_window([this] { widgets::draw_table("table", columns, source, view, size); }), {500, 400},
           typeset::set_up) {}
};

std::vector<std::string> first_cells(const TableSource& source, const std::vector<std::uint32_t>& order) {
  std::vector<std::string> out;
  for (const std::uint32_t row : order) {
    TableCell cell;
    source.cell(source.context, row, 0, cell);
    out.emplace_back(cell.shown());
  }
  return out;
}

}  // namespace

TEST_CASE("a cell splits into what stands before and after the decimal point, and its unit") {
  const auto parts = [](std::string_view s) {
    const auto p = widgets::split_cell(s);
    return std::string(p.whole) + "|" + std::string(p.fraction) + "|" + std::string(p.unit);
  };
  CHECK(parts("1,024.5 GB/s") == "1,024|.5|GB/s");
  CHECK(parts("-0.25") == "-0|.25|");
  CHECK(parts("310 ms") == "310||ms");
  CHECK(parts("7.02e-12") == "7|.02e-12|");
  CHECK(parts("—") == "—||");
  CHECK(parts("memory") == "memory||");
  CHECK(parts("") == "||");
  CHECK(parts("3, 4") == "3||, 4");
}

TEST_CASE("decimal points of a column stand under each other, texts start at the left") {
  Drawn t(table_of(text_rows, 1));
  const widgets::Record record = t.ui.record();
  const auto stroke = [&](std::string_view text) -> const widgets::Stroke& {
    for (const widgets::Stroke& s : record.strokes)
      if (s.kind == widgets::Stroke::Kind::text && s.text == text) return s;
    FAIL("not drawn: " << text);
    return record.strokes.front();
  };
  const auto right = [](const widgets::Stroke& s) { return s.points[0].x + s.points[1].x; };  // top left and size
  CHECK(std::abs(right(stroke("1,024")) - stroke(".5").points[0].x) <= 1);
  CHECK(std::abs(right(stroke("0")) - stroke(".125").points[0].x) <= 1);
  CHECK(std::abs(stroke(".5").points[0].x - stroke(".125").points[0].x) <= 1);
  CHECK(stroke("a").points[0].x == stroke("e").points[0].x);
}

TEST_CASE("sorting is stable, and rows without a value come last in both directions") {
  const TableSource source = table_of(text_rows, 1);
  std::vector<std::uint32_t> order;
  widgets::sort_rows(columns, source, 1, SortOrder::ascending, order);
  CHECK(first_cells(source, order) == std::vector<std::string>{"e", "b", "d", "a", "c"});
  widgets::sort_rows(columns, source, 1, SortOrder::descending, order);
  CHECK(first_cells(source, order) == std::vector<std::string>{"a", "b", "d", "e", "c"});
  widgets::sort_rows(columns, source, 0, SortOrder::descending, order);
  CHECK(first_cells(source, order) == std::vector<std::string>{"e", "d", "c", "b", "a"});
  widgets::sort_rows(columns, source, 7, SortOrder::ascending, order);
  CHECK(order.empty());
}

TEST_CASE("a click on a header sorts up, then down, then not; a click on a row selects it whatever the order") {
  Drawn t(table_of(text_rows, 1));
  t.ui.click("Rate");
  CHECK(t.view.order == SortOrder::ascending);
  CHECK(t.view.sort_column == 1);
  CHECK(t.view.rows_in_order.front() == 4);
  t.ui.click("e");
  CHECK(t.view.selected == 4);
  t.ui.click("Rate");
  CHECK(t.view.order == SortOrder::descending);
  CHECK(t.view.rows_in_order.front() == 1);
  CHECK(t.view.selected == 4);
  t.ui.click("Rate");
  CHECK(t.view.order == SortOrder::none);
  CHECK(t.view.rows_in_order.empty());
}

TEST_CASE("arrows walk the rows as they are shown, and Ctrl+C copies them so") {
  Drawn t(table_of(text_rows, 1));
  t.ui.click("Rate");
  t.ui.click("e");
  t.ui.key(ImGuiKey_DownArrow);
  CHECK(t.view.selected == 0);  // "b" is second by rate
  t.ui.key(ImGuiKey_End);
  CHECK(t.view.selected == 3);
  t.ui.key(ImGuiKey_UpArrow);
  CHECK(t.view.selected == 1);
  t.ui.key(ImGuiKey_C, ImGuiMod_Ctrl);
  CHECK(std::string(ImGui::GetClipboardText()) == "Name\tRate (GB/s)\ne\t0.125\nb\t2.5\nd\t2.5\na\t1,024\nc\t—\n");
}

TEST_CASE("the right button offers to copy") {
  Drawn t(table_of(text_rows, 1));
  t.ui.click("a", ImGuiMouseButton_Right);
  t.ui.click("Copy");
  CHECK(std::string(ImGui::GetClipboardText()).starts_with("Name\tRate (GB/s)\nb\t2.5\n"));
}

TEST_CASE("of a million rows only the visible ones are asked for, and the last can be reached") {
  const Asked asked;
  Drawn t(million(asked), {300, 200});
  const float row_height = t.view.layout.row_height;
  const auto visible = static_cast<std::size_t>((200 - t.view.layout.header_height) / row_height) + 2;
  asked.cells = 0;
  t.ui.frames(1);
  CHECK(asked.cells <= 2 * visible);
  CHECK(asked.cells >= visible);
  t.ui.click_at({150, 150});
  REQUIRE(t.view.selected >= 0);
  t.ui.key(ImGuiKey_End);
  CHECK(t.view.selected == 999'999);
  CHECK(t.ui.has("999,999"));
  t.ui.wheel_at({150, 150}, 1);
  CHECK(t.view.scroll_rows <
        999'999 - (200 - static_cast<double>(t.view.layout.header_height)) / static_cast<double>(row_height));
  t.ui.key(ImGuiKey_Home);
  CHECK(t.view.scroll_rows == 0);
}

TEST_CASE("scrolling positions stay exact at a million rows") {
  double scroll = 999'990.25;
  const auto window = widgets::visible_rows(1'000'000, 20, 100, scroll);
  CHECK(window.first == 999'990);
  CHECK(window.end == 999'996);
  CHECK(std::abs(window.offset + 5) <= 1e-3f);  // a quarter of a row of 20 pixels is above the edge
  scroll = 2e6;
  CHECK(widgets::visible_rows(1'000'000, 20, 100, scroll).end == 1'000'000);
  CHECK(scroll == 999'995);
  scroll = nan_value;
  CHECK(widgets::visible_rows(10, 20, 100, scroll).first == 0);
}

TEST_CASE("a table narrower than its contents cuts texts before numbers and stays in its box") {
  const std::vector<std::string_view> wide{"a name that is far too long for the narrow box that it is given",
                                           "1,234.5"};
  const std::vector<double> wide_values{nan_value, 1234.5};
  const TextRows rows{2, wide, wide_values};
  Drawn t(table_of(rows, 1), {200, 0});
  CHECK(t.view.layout.width <= 200);
  CHECK(t.view.layout.columns[1].width >= widgets::text_size("1,234.5", widgets::Type::body, widgets::Font::mono).x);
  CHECK(t.ui.text_present("1,234"));
}

TEST_CASE("an export has every row in order and every digit") {
  const std::vector<std::string_view> shown{"x", "0.333"};
  const std::vector<double> exact{nan_value, 1.0 / 3.0};
  const TextRows rows{2, shown, exact};
  Drawn t(table_of(rows, 1));
  const widgets::Record record = t.ui.record();
  REQUIRE(record.tables.size() == 1);
  CHECK(record.tables[0].columns == std::vector<std::string>{"Name", "Rate (GB/s)"});
  CHECK(record.tables[0].rows == std::vector<std::vector<std::string>>{{"x", "0.3333333333333333"}});
}

TEST_CASE("columns are measured again when the values changed, not before") {
  Drawn t(table_of(text_rows, 1));
  t.ui.frames(3);
  CHECK(t.view.layouts == 1);
  t.source.version = 2;
  t.ui.frames(3);
  CHECK(t.view.layouts == 2);
}

namespace {

/// Four columns: a name, and three of seconds.
struct Times {
  std::vector<std::string> names{"a_very_long_kernel_name_with_its_arguments<float, 128>", "short"};
  std::vector<double> seconds{0.00695, 940e-6};
};
constexpr std::array<TableColumn, 4> time_columns{TableColumn{.title = "kernel", .number = false},
                                                  TableColumn{.title = "total", .value_unit = "s", .bar = true},
                                                  TableColumn{.title = "mean", .value_unit = "s", .priority = 1},
                                                  TableColumn{.title = "longest", .value_unit = "s", .priority = 2}};

TableSource source_of(const Times& times) {
  TableSource s;
  s.context = &times;
  s.rows = times.names.size();
  s.version = 1;
  s.cell = [](const void* context, std::size_t row, std::size_t column, TableCell& out) {
    const Times& t = *static_cast<const Times*>(context);
    if (column == 0)
      out.text = t.names[row];
    else
      out.value = t.seconds[row];
  };
  return s;
}

std::string cell_text(const TableSource& source, const widgets::TableLayout& layout, std::size_t row) {
  TableCell cell;
  widgets::read_cell(time_columns[1], layout.columns[1], source, row, 1, cell);
  return std::string(cell.shown());
}

}  // namespace

TEST_CASE("a column of times has one unit, said in its head: milliseconds and microseconds never mix") {
  const typeset::Page page;
  Times times;
  const TableSource source = source_of(times);
  widgets::TableLayout layout = widgets::layout_table(time_columns, source, 900);
  CHECK(widgets::head_unit(time_columns[1], layout.columns[1]) == "ms");
  CHECK(cell_text(source, layout, 0) == "6.95");
  CHECK(cell_text(source, layout, 1) == "0.94");
  CHECK(layout.columns[1].unit == 0);  // no unit inside the cells
  times.seconds = {0.1413, 0.07274};   // three digits of each, though the largest has no decimals
  layout = widgets::layout_table(time_columns, source, 900);
  CHECK(cell_text(source, layout, 0) == "141");
  CHECK(cell_text(source, layout, 1) == "72.7");
  times.seconds = {0.00695, 0};
  layout = widgets::layout_table(time_columns, source, 900);
  CHECK(cell_text(source, layout, 1) == "0");
  times.seconds = {0.00695, 1e-9};  // far under what is written: never a false zero
  layout = widgets::layout_table(time_columns, source, 900);
  CHECK(cell_text(source, layout, 1) == "<0.00001");
  CHECK(widgets::split_cell("<0.00001").number);
  CHECK(widgets::table_as_tsv(time_columns, source, {}).starts_with("kernel\ttotal (ms)\t"));
}

TEST_CASE("a bar is the share of the column's largest value, or of the whole that it was given") {
  widgets::ColumnLayout layout;
  layout.largest = 8;
  CHECK(widgets::bar_share({.title = "x", .bar = true}, layout, 2) == 0.25);
  CHECK(widgets::bar_share({.title = "x", .bar = true, .full = 100}, layout, 25) == 0.25);
  CHECK(widgets::bar_share({.title = "x", .bar = true, .full = 100}, layout, 250) == 1);
  CHECK(widgets::bar_share({.title = "x", .bar = true}, layout, -2) == 0);
  CHECK(widgets::bar_share({.title = "x", .bar = true}, layout, nan_value) == 0);
}

TEST_CASE("where there is no room columns go by priority, and the text column is the last to shrink") {
  const typeset::Page page;
  const Times times;
  const TableSource source = source_of(times);
  const auto hidden = [&](float width) {
    const widgets::TableLayout l = widgets::layout_table(time_columns, source, width);
    CHECK(l.width <= width + 0.5f);
    std::string out;
    for (std::size_t i = 0; i < l.columns.size(); ++i)
      if (l.columns[i].hidden) out += std::to_string(i);
    return out;
  };
  const widgets::TableLayout whole = widgets::layout_table(time_columns, source, 2000);
  const float name = whole.columns[0].width, body = widgets::theme().type(widgets::Type::body);
  CHECK(hidden(2000).empty());
  const float numbers = whole.columns[1].width + whole.columns[2].width + whole.columns[3].width;
  // Long names shorten to what still reads before any column goes.
  const float all = numbers + 11 * body + 8 * 0.55f * body;
  CHECK(hidden(all + 2).empty());
  const widgets::TableLayout shortened = widgets::layout_table(time_columns, source, all + 2);
  CHECK(shortened.columns[0].width < name);
  CHECK(shortened.columns[0].width >= 11 * body - 0.5f);
  for (std::size_t i = 1; i < 4; ++i) CHECK(shortened.columns[i].width == whole.columns[i].width);
  CHECK(hidden(all - whole.columns[3].width * 0.9f) == "3");
  CHECK(hidden(all - (whole.columns[2].width + whole.columns[3].width) * 0.97f) == "23");
  const widgets::TableLayout small =
      widgets::layout_table(time_columns, source, whole.columns[1].width + 6 * body + 5 * body);
  CHECK_FALSE(small.columns[1].hidden);  // a number is never cut: its column is whole or not there
  CHECK(small.columns[1].width >= widgets::text_size("6.95", widgets::Type::body, widgets::Font::mono).x);
}

TEST_CASE("a name without room is cut in its middle, and the head counts the columns that went") {
  const Times times;
  TableView view;
  support::UiDriver ui(typeset::in_window([&] {
                         widgets::draw_table("t", time_columns, source_of(times), view, {190, 0});
                       }),
                       {500, 400}, typeset::set_up);
  const widgets::Record record = ui.record();
  bool middle = false, count = false;
  for (const widgets::Stroke& s : record.strokes) {
    if (s.kind != widgets::Stroke::Kind::text) continue;
    const std::size_t at = s.text.find("\xE2\x80\xA6");
    middle = middle || (at != std::string::npos && at > 0 && s.text.ends_with("128>"));
    count = count || s.text == "+2";
    for (std::size_t i = 0; i < s.text.size(); ++i)  // no number ends in an ellipsis
      CHECK_FALSE((at == i && i > 0 && s.text[i - 1] >= '0' && s.text[i - 1] <= '9' && s.text.size() == i + 3));
  }
  CHECK(view.layout.hidden == 2);
  CHECK(middle);
  CHECK(count);
}

TEST_CASE("words in place of numbers stand from the left when the column has only words, else where numbers end") {
  const typeset::Page page;
  const std::array<TableColumn, 2> two{TableColumn{.title = "fits"}, TableColumn{.title = "loss of all"}};
  const std::vector<std::string_view> cells_of{"yes", "0.25", "no", "none"};
  const TextRows rows{2, cells_of};
  const widgets::TableLayout l = widgets::layout_table(two, table_of(rows, 1), 400);
  CHECK(widgets::from_left(two[0], l.columns[0]));
  CHECK_FALSE(widgets::from_left(two[1], l.columns[1]));
}
