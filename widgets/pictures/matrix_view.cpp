#include "widgets/pictures/matrix_view.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

constexpr float least_matrix_cell_px = 3.0f;
constexpr std::size_t max_matrix_cells = 10'000;  ///< four corners each: a draw list may have 16-bit indices

/// Folds the pane's part of the data into as many cells as have room.
void fold_matrix(const MatrixData& d, float width, float height, MatrixPane& p) {
  const auto shown = [](float length, std::size_t n) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(length / least_matrix_cell_px), 1, n);
  };
  p.rows = shown(height, p.data_rows);
  p.cols = shown(width, p.data_cols);
  if (const double over = static_cast<double>(p.rows * p.cols) / static_cast<double>(max_matrix_cells); over > 1) {
    p.rows = std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(p.rows) / std::sqrt(over)));
    p.cols = std::clamp<std::size_t>(max_matrix_cells / p.rows, 1, p.cols);
  }
  p.cells.clear();
  for (std::size_t r = 0; r < p.rows; ++r)
    for (std::size_t c = 0; c < p.cols; ++c) {
      double sum = 0;
      std::size_t count = 0;
      for (std::size_t i = r * p.data_rows / p.rows; i < (r + 1) * p.data_rows / p.rows; ++i)
        for (std::size_t j = c * p.data_cols / p.cols; j < (c + 1) * p.data_cols / p.cols; ++j) {
          const double v = d.at(d.context, p.first_row + i, p.first_col + j);
          if (!std::isfinite(v)) continue;
          sum += v;
          ++count;
        }
      p.cells.push_back(count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN());
    }
}

/// The pane as large as fits with square cells; its top left stays.
void shape_pane(Rect room, float most_px, MatrixPane& p) {
  const auto rows = static_cast<float>(p.data_rows), cols = static_cast<float>(p.data_cols);
  float w = std::min(room.width(), cols * most_px), h = std::min(room.height(), rows * most_px);
  const float cell_w = w / cols, cell_h = h / rows;
  if (cell_w > cell_h) w = cell_h * cols;
  if (cell_h > cell_w) h = cell_w * rows;
  // Very long matrices keep a height or width that can be pointed at.
  w = std::min(std::max(w, theme().px(12)), room.width());
  h = std::min(std::max(h, theme().px(12)), room.height());
  p.grid = {room.min, {room.min.x + std::floor(w), room.min.y + std::floor(h)}};
}

ImU32 matrix_ink(double value, const MatrixOptions& o, Range range) {
  const Theme& t = theme();
  const double span = range.hi - range.lo;
  if (!std::isfinite(value) || (o.blank_zero && value == 0)) return t.card;
  return heat(t, std::clamp(span > 0 ? (value - range.lo) / span : 0.5, 0.0, 1.0));
}

void paint_pane(const Painter& painter, const MatrixPane& p, const MatrixOptions& o, Range range) {
  const Theme& t = theme();
  if (p.cells.empty()) return;
  const Rect first = p.cell(0, 0);
  const float gap = first.width() >= 6 && first.height() >= 6 ? 1.0f : 0.0f;
  for (std::size_t r = 0; r < p.rows; ++r)
    for (std::size_t c = 0; c < p.cols;) {
      const double value = p.cells[r * p.cols + c];
      const ImU32 ink = matrix_ink(value, o, range);
      std::size_t end = c + 1;
      while (gap == 0.0f && end < p.cols && matrix_ink(p.cells[r * p.cols + end], o, range) == ink) ++end;
      Rect cell = p.cell(r, c);
      cell.max.x = p.cell(r, end - 1).max.x;
      painter.rect(cell.min, {cell.max.x - gap, cell.max.y - gap}, ink);
      if (!std::isfinite(value) && cell.width() >= 8 && cell.height() >= 8) hatch(painter, cell, t.line, t.px(5));
      if (p.numbers && std::isfinite(value))
        painter.text({(cell.min.x + cell.max.x) / 2, (cell.min.y + cell.max.y - t.type(Type::small)) / 2},
                     format(value, o.unit, 2), text_on(ink, t), Type::small, Font::mono, Align::center);
      c = end;
    }
  painter.frame({p.grid.min.x - 1, p.grid.min.y - 1}, {p.grid.max.x + 1, p.grid.max.y + 1}, t.line);
}

/// Row and column of the cursor through a pane, ending at its sides.
void paint_cursor(const Painter& painter, const MatrixPane& p, std::int64_t row, std::int64_t col) {
  const Theme& t = theme();
  if (p.cells.empty()) return;
  const bool has_row = p.shows(row, -1), has_col = p.shows(-1, col);
  const auto pair = [&](ImVec2 a, ImVec2 b) {  // a light line on a dark one is seen on any cell
    painter.line(a, b, with_alpha(t.background, 0.8f), t.px(3));
    painter.line(a, b, t.text, t.px(1));
  };
  if (has_row) pair({p.grid.min.x, p.row_px(row)}, {p.grid.max.x, p.row_px(row)});
  if (has_col) pair({p.col_px(col), p.grid.min.y}, {p.col_px(col), p.grid.max.y});
}

bool cell_under(const MatrixPane& p, ImVec2 mouse, std::int64_t& row, std::int64_t& col) {
  if (p.cells.empty() || !p.grid.contains(mouse)) return false;
  const auto at = [](float offset, float length, std::size_t n) {
    return std::min(static_cast<std::size_t>(offset / length * static_cast<float>(n)), n - 1);
  };
  row = static_cast<std::int64_t>(p.first_row + at(mouse.y - p.grid.min.y, p.grid.height(), p.data_rows));
  col = static_cast<std::int64_t>(p.first_col + at(mouse.x - p.grid.min.x, p.grid.width(), p.data_cols));
  return true;
}

void record_matrix(Record& record, const char* label, const MatrixData& d, const MatrixOptions& o) {
  constexpr std::size_t max_recorded = 100'000;
  DataTable table{label, {std::string(o.row_title), std::string(o.col_title), std::string(o.value_title)}, {}};
  for (std::size_t r = 0; r < d.rows; ++r)
    for (std::size_t c = 0; c < d.cols && table.rows.size() < max_recorded; ++c)
      table.rows.push_back({std::to_string(r), std::to_string(c), exact(d.at(d.context, r, c))});
  record.tables.push_back(std::move(table));
}

std::uint64_t matrix_fingerprint(const MatrixData& d, const MatrixOptions& o, const MatrixView& v, Rect area) {
  Fingerprint f;
  for (const std::size_t x : {d.rows, d.cols, o.group_rows, o.group_cols}) f.add(std::uint64_t{x});
  f.add(d.revision);
  f.add(static_cast<std::uint64_t>(v.zoom_row));
  f.add(static_cast<std::uint64_t>(v.zoom_col));
  for (const float x : {area.min.x, area.min.y, area.max.x, area.max.y, theme().scale, theme().type(Type::small)})
    f.add(static_cast<double>(x));
  f.add(o.lo);
  f.add(o.hi);
  return f.value;
}

/// "mask: 4,096 x 4,096, a cell is 41 x 41", the shorter wordings after it.
Line matrix_words(const MatrixPane& p, const MatrixOptions& o, int wording) {
  Line text;
  if (wording == 0) text.add(o.value_title).add(", ");
  text.add(format(static_cast<double>(p.data_rows), "", 8)).add(" \xC3\x97 ");
  text.add(format(static_cast<double>(p.data_cols), "", 8));
  if (wording < 2 && (p.rows < p.data_rows || p.cols < p.data_cols)) text.add(", means of neighbours");
  return text;
}

/// Widens [lo, hi] by the finite values of `cells`; `any`: it holds one already.
void widen_matrix_range(std::span<const double> cells, double& lo, double& hi, bool& any) {
  for (const double v : cells) {
    if (!std::isfinite(v)) continue;
    lo = any ? std::min(lo, v) : v;
    hi = any ? std::max(hi, v) : v;
    any = true;
  }
}

}  // namespace

Rect MatrixPane::cell(std::size_t row, std::size_t col) const {
  const auto part = [](float from, float length, std::size_t i, std::size_t n) {
    return std::round(from + length * static_cast<float>(i) / static_cast<float>(n));
  };
  return {{part(grid.min.x, grid.width(), col, cols), part(grid.min.y, grid.height(), row, rows)},
          {part(grid.min.x, grid.width(), col + 1, cols), part(grid.min.y, grid.height(), row + 1, rows)}};
}
float MatrixPane::row_px(std::int64_t row) const {
  return grid.min.y + grid.height() * (static_cast<float>(row - static_cast<std::int64_t>(first_row)) + 0.5f) /
                          static_cast<float>(data_rows);
}
float MatrixPane::col_px(std::int64_t col) const {
  return grid.min.x + grid.width() * (static_cast<float>(col - static_cast<std::int64_t>(first_col)) + 0.5f) /
                          static_cast<float>(data_cols);
}
bool MatrixPane::shows(std::int64_t row, std::int64_t col) const {
  const auto within = [](std::int64_t at, std::size_t first, std::size_t count) {
    return at >= static_cast<std::int64_t>(first) && at < static_cast<std::int64_t>(first + count);
  };
  if (row >= 0 && !within(row, first_row, data_rows)) return false;
  if (col >= 0 && !within(col, first_col, data_cols)) return false;
  return row >= 0 || col >= 0;
}

void layout_matrix(const MatrixData& data, const MatrixOptions& o, std::int64_t zoom_row, std::int64_t zoom_col,
                   Rect area, Measure measure, MatrixLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  out.problem = {};
  out.group = {};
  out.whole.cells.clear();
  out.zoom.cells.clear();
  out.whole.numbers = out.zoom.numbers = false;
  if (data.rows == 0 || data.cols == 0 || !data.at) {
    out.problem.add("Nothing to show: the matrix is empty.");
    return;
  }
  const auto group_of = [](std::size_t asked, std::size_t side) {
    return std::clamp<std::size_t>(asked > 0 ? asked : side / 8, 1, side);
  };
  out.group_rows = group_of(o.group_rows, data.rows);
  out.group_cols = group_of(o.group_cols, data.cols);
  const bool zoomed = zoom_row >= 0 && zoom_col >= 0 && zoom_row < static_cast<std::int64_t>(data.rows) &&
                      zoom_col < static_cast<std::int64_t>(data.cols);
  const float foot = area.height() >= 3 * small ? small + t.px(5) : 0.0f, gap = t.px(28);
  const Rect room{{area.min.x + 1, area.min.y + 1}, {area.max.x - 1, area.max.y - foot - 1}};
  const float half = zoomed ? std::max(1.0f, (room.width() - gap) / 2) : room.width();
  const auto pane = [&](MatrixPane& p, float left, std::size_t row, std::size_t col, std::size_t rows,
                        std::size_t cols) {
    p.first_row = row;
    p.first_col = col;
    p.data_rows = rows;
    p.data_cols = cols;
    shape_pane({{left, room.min.y}, {left + half, std::max(room.max.y, room.min.y + 1)}}, t.px(48), p);
    fold_matrix(data, p.grid.width(), p.grid.height(), p);
    p.numbers = p.rows == p.data_rows && p.cols == p.data_cols && p.cell(0, 0).height() >= small + t.px(4);
    for (std::size_t i = 0; p.numbers && i < p.cells.size(); ++i)
      p.numbers = measure(format(p.cells[i], o.unit, 2), Type::small) + t.px(6) <= p.cell(0, 0).width();
  };
  pane(out.whole, room.min.x, 0, 0, data.rows, data.cols);
  double lo = 0, hi = 0;
  bool any = false;
  widen_matrix_range(out.whole.cells, lo, hi, any);
  if (zoomed) {
    const auto row = static_cast<std::size_t>(zoom_row), col = static_cast<std::size_t>(zoom_col);
    pane(out.zoom, out.whole.grid.max.x + gap, row, col, std::min(out.group_rows, data.rows - row),
         std::min(out.group_cols, data.cols - col));
    // A group's own values may lie beyond the means of the whole.
    widen_matrix_range(out.zoom.cells, lo, hi, any);
    const auto x = [&](std::size_t c) {
      return out.whole.grid.min.x + out.whole.grid.width() * static_cast<float>(c) / static_cast<float>(data.cols);
    };
    const auto y = [&](std::size_t r) {
      return out.whole.grid.min.y + out.whole.grid.height() * static_cast<float>(r) / static_cast<float>(data.rows);
    };
    out.group = {{x(col), y(row)}, {x(col + out.zoom.data_cols), y(row + out.zoom.data_rows)}};
  }
  out.range = {std::isfinite(o.lo) ? o.lo : lo, std::isfinite(o.hi) ? o.hi : hi};
  out.title_y =
      foot > 0 ? std::max(out.whole.grid.max.y, out.zoom.cells.empty() ? 0.0f : out.zoom.grid.max.y) + t.px(4) : 0.0f;
}

bool draw_matrix(const char* label, const MatrixData& data, MatrixView& view, const MatrixOptions& o) {
  const Theme& t = theme();
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : t.px(260)}, {t.px(40), t.px(24)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  MatrixLayout& l = view.layout;
  if (const std::uint64_t now = matrix_fingerprint(data, o, view, area); now != view.layout_of) {
    layout_matrix(data, o, view.zoom_row, view.zoom_col, area, measure_text, l);
    view.layout_of = now;
  }
  const Painter painter = Painter::window();
  if (l.whole.cells.empty()) {
    paint_nothing(painter, area, l.problem.view());
    return false;
  }
  if (Record* record = painter.record()) record_matrix(*record, label, data, o);
  paint_pane(painter, l.whole, o, l.range);
  paint_pane(painter, l.zoom, o, l.range);
  if (!l.zoom.cells.empty()) {
    // From the group's right corners to the pane's left ones: this is that, enlarged.
    painter.line({l.group.max.x, l.group.min.y}, l.zoom.grid.min, t.muted);
    painter.line(l.group.max, {l.zoom.grid.min.x, l.zoom.grid.max.y}, t.muted);
    painter.frame({l.group.min.x - 1, l.group.min.y - 1}, {l.group.max.x + 1, l.group.max.y + 1}, t.text, t.px(2));
  }
  for (const MatrixPane* p : {&l.whole, &l.zoom}) paint_cursor(painter, *p, view.cursor_row, view.cursor_col);
  if (l.title_y > 0) {
    const bool two = !l.zoom.cells.empty();
    for (int wording = 0; wording < 3; ++wording)
      if (paint_whole(painter, {l.whole.grid.min.x, l.title_y}, matrix_words(l.whole, o, wording).view(),
                      (two ? l.zoom.grid.min.x - t.px(8) : area.max.x) - l.whole.grid.min.x, t.muted))
        break;
    Line group;
    if (two) {
      group.add("from ").add(o.row_title).add(" ").add_integer(view.zoom_row);
      group.add(", ").add(o.col_title).add(" ").add_integer(view.zoom_col);
      paint_whole(painter, {l.zoom.grid.min.x, l.title_y}, group.view(), area.max.x - l.zoom.grid.min.x, t.muted);
    }
  }

  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::int64_t row = -1, col = -1;
  const bool in_zoom = hovered && cell_under(l.zoom, mouse, row, col);
  if (!in_zoom && !(hovered && cell_under(l.whole, mouse, row, col))) return false;
  const bool moved = row != view.cursor_row || col != view.cursor_col;
  view.cursor_row = row;
  view.cursor_col = col;
  Line name, value;
  name.add(o.row_title).add(" ").add_integer(row).add(", ").add(o.col_title).add(" ").add_integer(col);
  const double v = data.at(data.context, static_cast<std::size_t>(row), static_cast<std::size_t>(col));
  value.add(o.value_title).add(" ").add(std::isfinite(v) ? format(v, o.unit, 4).view() : std::string_view("none"));
  tip(name.view(), value.view(), in_zoom ? std::string_view{} : "A click shows its group.");
  if (!clicked || in_zoom) return moved;
  const auto first = [](std::int64_t at, std::size_t group) {
    return at / static_cast<std::int64_t>(group) * static_cast<std::int64_t>(group);
  };
  const std::int64_t zoom_row = first(row, l.group_rows), zoom_col = first(col, l.group_cols);
  const bool same = zoom_row == view.zoom_row && zoom_col == view.zoom_col;  // a second click closes it
  view.zoom_row = same ? -1 : zoom_row;
  view.zoom_col = same ? -1 : zoom_col;
  return true;
}

}  // namespace widgets
