#include <algorithm>
#include <cmath>

#include "widgets/charts/heat_map.h"

namespace widgets {
namespace {

constexpr float least_cell_px = 3.0f;
/// Four corners each, and what else is in the window: a draw list has 16-bit indices where the renderer cannot do more.
constexpr double max_cells = 10000;

bool has_colour(double v, bool log) { return std::isfinite(v) && (!log || v > 0); }

/// The widest of some labels, in pixels.
float widest(std::span<const std::string_view> labels, std::size_t count, Measure measure) {
  if (labels.empty()) return measure(format(static_cast<double>(count), ""), Type::small);
  float most = 0;
  for (const std::string_view s : labels.first(std::min(labels.size(), count)))
    most = std::max(most, measure(s, Type::small));
  return most;
}

/// The least of 1, 2, 5, 10, ... cells that have room for a label.
std::size_t stride_for(float label_px, float length_px, std::size_t cells) {
  const float least = label_px * static_cast<float>(cells) / std::max(length_px, 1.0f);
  for (std::size_t power = 1; power < 1'000'000'000'000; power *= 10)
    for (const std::size_t m : {1u, 2u, 5u})
      if (static_cast<float>(m * power) >= least) return m * power;
  return cells;
}

double folded(const HeatData& d, bool log, HeatFold fold, std::size_t r0, std::size_t r1, std::size_t c0,
              std::size_t c1) {
  double sum = 0, most = 0;
  std::size_t count = 0;
  for (std::size_t r = r0; r < r1; ++r)
    for (std::size_t c = c0; c < c1; ++c) {
      const double v = d.values[r * d.cols + c];
      if (!has_colour(v, log)) continue;
      most = count == 0 ? v : std::max(most, v);
      sum += v;
      ++count;
    }
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  return fold == HeatFold::max ? most : sum / static_cast<double>(count);
}

/// The range of the colours: of the values that have one, or as asked for.
void find_range(const HeatData& data, const HeatMapOptions& o, HeatMapLayout& out) {
  double lo = 0, hi = 0;
  bool any = false;
  for (const double v : data.values.first(data.rows * data.cols)) {
    if (!has_colour(v, o.log)) continue;
    lo = any ? std::min(lo, v) : v;
    hi = any ? std::max(hi, v) : v;
    any = true;
  }
  if (!any)
    out.problem.add(o.log ? "No value is positive and finite, so a log scale has nothing to show."
                          : "No value is finite.");
  if (has_colour(o.lo, o.log)) lo = o.lo;
  if (has_colour(o.hi, o.log)) hi = o.hi;
  out.range = sane_range(o.log ? AxisKind::log10 : AxisKind::linear, any ? Range{lo, hi} : Range{1, 10});
}

/// As many cells as have room, each of the values that fall into it.
void fold_cells(const HeatData& data, const HeatMapOptions& o, HeatMapLayout& out) {
  const auto shown = [](float length, std::size_t n) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(length / least_cell_px), 1, n);
  };
  out.rows = shown(out.grid.height(), data.rows);
  out.cols = shown(out.grid.width(), data.cols);
  if (const double over = static_cast<double>(out.rows * out.cols) / max_cells; over > 1) {
    const double shrink = 1 / std::sqrt(over);
    out.rows = std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(out.rows) * shrink));
    out.cols = std::clamp<std::size_t>(static_cast<std::size_t>(max_cells) / out.rows, 1, out.cols);
  }
  out.cells.reserve(out.rows * out.cols);
  for (std::size_t r = 0; r < out.rows; ++r)
    for (std::size_t c = 0; c < out.cols; ++c)
      out.cells.push_back(folded(data, o.log, o.fold, r * data.rows / out.rows, (r + 1) * data.rows / out.rows,
                                 c * data.cols / out.cols, (c + 1) * data.cols / out.cols));
}

}  // namespace

Rect HeatMapLayout::cell(std::size_t row, std::size_t col) const {
  const std::size_t from_top = up ? rows - 1 - row : row;
  const auto part = [](float from, float length, std::size_t i, std::size_t n) {
    return std::round(from + length * static_cast<float>(i) / static_cast<float>(n));
  };
  return {{part(grid.min.x, grid.width(), col, cols), part(grid.min.y, grid.height(), from_top, rows)},
          {part(grid.min.x, grid.width(), col + 1, cols), part(grid.min.y, grid.height(), from_top + 1, rows)}};
}

double HeatMapLayout::position(double value) const {
  if (!has_colour(value, log)) return std::numeric_limits<double>::quiet_NaN();
  const AxisKind kind = log ? AxisKind::log10 : AxisKind::linear;
  const double from = axis_forward(kind, range.lo), to = axis_forward(kind, range.hi);
  return std::clamp((axis_forward(kind, value) - from) / (to - from), 0.0, 1.0);
}

void layout_heat_map(const HeatData& data, const HeatMapOptions& o, Rect area, Measure measure, HeatMapLayout& out) {
  const Theme& t = theme();
  out.cells.clear();
  out.rows = out.cols = 0;
  out.problem = {};
  out.log = o.log;
  out.up = o.rows_up;
  out.numbers = false;
  const float small = t.type(Type::small);
  const float left = std::min(widest(data.row_labels, data.rows, measure) + t.px(8), area.width() * 0.3f);
  // What rows and colours are stands in a line above the grid.
  const float top = o.row_title.empty() && o.value_title.empty() ? t.px(2) : small + t.px(6);
  const float bottom = small + t.px(6) + (o.col_title.empty() ? 0.0f : small + t.px(4));
  const float right = t.px(14 + 10 + 8) + small * 3.6f;
  out.grid = {{area.min.x + left, area.min.y + top}, {area.max.x - right, area.max.y - bottom}};
  out.grid.max.x = std::max(out.grid.max.x, out.grid.min.x + 1);
  out.grid.max.y = std::max(out.grid.max.y, out.grid.min.y + 1);
  out.ramp = {{out.grid.max.x + t.px(14), out.grid.min.y}, {out.grid.max.x + t.px(24), out.grid.max.y}};
  if (data.rows == 0 || data.cols == 0) {
    out.problem.add("Nothing to show: the matrix is empty.");
    return;
  }
  if (data.values.size() / data.cols < data.rows) {
    out.problem.add("The matrix should have ").add_integer(static_cast<std::int64_t>(data.rows)).add(" × ");
    out.problem.add_integer(static_cast<std::int64_t>(data.cols))
        .add(" values and has ")
        .add_integer(static_cast<std::int64_t>(data.values.size()))
        .add(".");
    return;
  }

  find_range(data, o, out);
  fold_cells(data, o, out);
  const float cell_w = out.grid.width() / static_cast<float>(out.cols),
              cell_h = out.grid.height() / static_cast<float>(out.rows);
  out.row_label_stride = stride_for(small * 1.25f, out.grid.height(), data.rows);
  out.col_label_stride = stride_for(widest(data.col_labels, data.cols, measure) + t.px(8), out.grid.width(), data.cols);
  // Numbers in all cells or in none: a few would look like a finding.
  out.numbers = o.numbers && out.rows == data.rows && out.cols == data.cols && out.cells.size() <= 1024 &&
                cell_h >= small + t.px(4);
  for (std::size_t i = 0; out.numbers && i < out.cells.size(); ++i)
    out.numbers = measure(format(out.cells[i], o.unit), Type::small) + t.px(6) <= cell_w;
}

}  // namespace widgets
