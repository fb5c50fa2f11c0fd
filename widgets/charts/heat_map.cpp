#include "widgets/charts/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/shorten.h"

namespace widgets {
namespace {

using Ramp = std::array<ImU32, 256>;

Ramp make_ramp() {
  Ramp ramp{};
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = heat(theme(), static_cast<double>(i) / 255.0);
  return ramp;
}
int shade(double position) { return std::isfinite(position) ? static_cast<int>(position * 255.0 + 0.5) : -1; }

std::uint64_t fingerprint(const HeatData& d, const HeatMapOptions& o, Rect area) {
  Fingerprint f;
  f.add(d.revision);
  f.add(std::uint64_t{d.rows});
  f.add(std::uint64_t{d.cols});
  f.add(static_cast<double>(d.first_col));
  f.add(std::uint64_t{d.values.size()});
  const std::size_t step = d.values.size() <= 65536 ? 1 : d.values.size() / 4096;
  for (std::size_t i = 0; i < d.values.size(); i += step) f.add(d.values[i]);
  for (const auto labels : {d.row_labels, d.col_labels})
    for (const std::string_view s : labels) f.add(s);
  for (const float x : {area.min.x, area.min.y, area.max.x, area.max.y, theme().scale}) f.add(static_cast<double>(x));
  for (const double x : {o.lo, o.hi}) f.add(x);
  f.add(std::uint64_t{o.log} | std::uint64_t{o.rows_up} << 1 | std::uint64_t{o.numbers} << 2 |
        static_cast<std::uint64_t>(o.fold) << 3);
  for (const std::string_view s : {o.unit, o.row_title, o.col_title, o.value_title}) f.add(s);
  return f.value;
}

/// Name of a data row or column.
void add_name(Line& line, std::span<const std::string_view> labels, std::size_t i, std::int64_t first = 0) {
  if (i < labels.size()) {
    line.add(labels[i]);
  } else {
    line.add_integer(first + static_cast<std::int64_t>(i));
  }
}

void paint_cells(const Painter& painter, const HeatMapLayout& l, std::string_view unit) {
  const Theme& t = theme();
  const Ramp ramp = make_ramp();
  const float gap = l.cell(0, 0).width() > 8 && l.cell(0, 0).height() > 8 ? 1.0f : 0.0f;
  for (std::size_t r = 0; r < l.rows; ++r)
    for (std::size_t c = 0; c < l.cols;) {
      const double value = l.cells[r * l.cols + c];
      const int tone = shade(l.position(value));
      std::size_t end = c + 1;
      // Without gaps a run of one tone is one rectangle.
      while (gap == 0.0f && end < l.cols && shade(l.position(l.cells[r * l.cols + end])) == tone) ++end;
      Rect rect = l.cell(r, c);
      rect.max = {l.cell(r, end - 1).max.x - gap, rect.max.y - gap};
      if (tone >= 0) {
        const ImU32 fill = ramp[static_cast<std::size_t>(tone)];
        painter.rect(rect.min, rect.max, fill);
        if (l.numbers)
          painter.text({(rect.min.x + rect.max.x) / 2, (rect.min.y + rect.max.y - t.type(Type::small)) / 2},
                       format(value, unit), text_on(fill, t), Type::small, Font::mono, Align::center);
      } else {
        painter.rect(rect.min, rect.max, t.card);
        hatch(painter, rect, t.line);
      }
      c = end;
    }
}

void paint_labels(const Painter& painter, const HeatData& d, const HeatMapLayout& l, const HeatMapOptions& o,
                  Rect area) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  for (std::size_t r = 0; r < d.rows; r += l.row_label_stride) {
    const Rect cell = l.cell(l.shown_row(r, d.rows), 0);
    Line name;
    add_name(name, d.row_labels, r);
    fit_text(painter, {l.grid.min.x - t.px(6), (cell.min.y + cell.max.y - small) / 2}, name.view(),
             l.grid.min.x - t.px(6) - area.min.x, t.muted, Type::small, Font::sans, Align::right);
  }
  float free_from = l.grid.min.x - small;
  for (std::size_t c = 0; c < d.cols; c += l.col_label_stride) {
    const Rect cell = l.cell(0, l.shown_col(c, d.cols));
    Line name;
    add_name(name, d.col_labels, c, d.first_col);
    const float w = text_size(name.view(), Type::small).x, x = (cell.min.x + cell.max.x - w) / 2;
    if (x < free_from) continue;
    painter.text({x, l.grid.max.y + t.px(4)}, name.view(), t.muted, Type::small);
    free_from = x + w + t.px(6);
  }
  painter.text({(l.grid.min.x + l.grid.max.x) / 2, area.max.y - small - t.px(1)},
               fitting_title(o.col_title, l.grid.width()), t.muted, Type::small, Font::sans, Align::center);
}

void paint_ramp(const Painter& painter, const HeatMapLayout& l, const HeatMapOptions& o, Rect area) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  constexpr int steps = 64;
  for (int i = 0; i < steps; ++i) {
    const float h = l.ramp.height() / static_cast<float>(steps), y = l.ramp.max.y - h * static_cast<float>(i + 1);
    painter.rect({l.ramp.min.x, y}, {l.ramp.max.x, y + h + 0.5f}, heat(t, (static_cast<double>(i) + 0.5) / steps));
  }
  const AxisSpec spec{.kind = o.log ? AxisKind::log10 : AxisKind::linear, .unit = o.unit};
  AxisTicks ticks;
  layout_ticks(spec, l.range,
               AxisMap(spec.kind, l.range, static_cast<double>(l.ramp.max.y), static_cast<double>(l.ramp.min.y)),
               {[](std::string_view s) { return measure_text(s, Type::small); }, small, true}, ticks);
  for (const Tick& tick : ticks.major()) {
    const auto y = static_cast<float>(tick.pixel);
    painter.line({l.ramp.max.x, y}, {l.ramp.max.x + t.px(4), y}, t.muted);
    fit_text(painter, {l.ramp.max.x + t.px(7), y - small / 2}, tick.label, area.max.x - l.ramp.max.x - t.px(7), t.muted,
             Type::small, Font::mono);
  }
  Line title;
  title.add(o.value_title);
  if (ticks.unit.length > 0)
    title.add(title.length > 0 ? " (" : "").add(ticks.unit).add(o.value_title.empty() ? "" : ")");
  // Over the rows their title, from the left; over the ramp that of the colours, up to the right edge, which has the
  // first claim on the room: the columns' title already says half of what the rows are.
  float taken = 0;
  if (!o.value_title.empty()) {
    const std::string_view values = fitting_title(title.view(), area.width());
    taken = painter.text({area.max.x, area.min.y}, values, t.muted, Type::small, Font::sans, Align::right);
  } else {
    painter.text({l.ramp.min.x, l.ramp.max.y + t.px(4)}, fitting_title(title.view(), area.max.x - l.ramp.min.x),
                 t.muted, Type::small);
  }
  painter.text(area.min, fitting_title(o.row_title, area.width() - taken - (taken > 0 ? t.px(12) : 0)), t.muted,
               Type::small);
}

void record_heat_map(Record& record, const char* label, const HeatData& d, const HeatMapOptions& o) {
  DataTable table{label, {o.row_title.empty() ? "row" : std::string(o.row_title)}, {}};
  for (std::size_t c = 0; c < d.cols; ++c) {
    Line name;
    add_name(name, d.col_labels, c, d.first_col);
    table.columns.emplace_back(name.view());
  }
  for (std::size_t r = 0; r < d.rows; ++r) {
    Line name;
    add_name(name, d.row_labels, r);
    std::vector<std::string> row{std::string(name.view())};
    for (std::size_t c = 0; c < d.cols; ++c) row.push_back(exact(d.values[r * d.cols + c]));
    table.rows.push_back(std::move(row));
  }
  record.tables.push_back(std::move(table));
}

}  // namespace

HeatMapEvents draw_heat_map(const char* label, const HeatData& data, HeatMapView& view, const HeatMapOptions& o) {
  const Theme& t = theme();
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : t.px(300)}, {t.px(140), t.px(70)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  HeatMapLayout& l = view.layout;
  if (const std::uint64_t now = fingerprint(data, o, area); now != view.layout_of) {
    layout_heat_map(data, o, area, measure_text, l);
    view.layout_of = now;
  }
  const Painter painter = Painter::window();
  if (l.problem.length > 0) fit_text(painter, area.min, l.problem.view(), area.width(), t.muted);
  HeatMapEvents events;
  if (l.cells.empty()) return events;
  paint_cells(painter, l, o.unit);
  paint_labels(painter, data, l, o, area);
  paint_ramp(painter, l, o, area);
  if (Record* record = painter.record()) record_heat_map(*record, label, data, o);

  const auto mark = [&](std::int64_t row, std::int64_t col, ImU32 ink, float width) {
    if (row < 0 || col < 0 || static_cast<std::size_t>(row) >= data.rows || static_cast<std::size_t>(col) >= data.cols)
      return;
    const Rect cell = l.cell(l.shown_row(static_cast<std::size_t>(row), data.rows),
                             l.shown_col(static_cast<std::size_t>(col), data.cols));
    painter.frame({cell.min.x - 1, cell.min.y - 1}, {cell.max.x + 1, cell.max.y + 1}, ink, width);
  };
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (hovered && l.grid.contains(mouse)) {
    const auto at = [](float offset, float length, std::size_t n) {
      return std::min(static_cast<std::size_t>(offset / length * static_cast<float>(n)), n - 1);
    };
    const std::size_t c = at(mouse.x - l.grid.min.x, l.grid.width(), l.cols),
                      from_top = at(mouse.y - l.grid.min.y, l.grid.height(), l.rows);
    const std::size_t r = o.rows_up ? l.rows - 1 - from_top : from_top;
    events.row = static_cast<std::int64_t>(r * data.rows / l.rows);
    events.col = static_cast<std::int64_t>(c * data.cols / l.cols);
    Line name, value;
    name.add(o.row_title.empty() ? "row" : o.row_title).add(" ");
    add_name(name, data.row_labels, static_cast<std::size_t>(events.row));
    name.add(", ").add(o.col_title.empty() ? "column" : o.col_title).add(" ");
    add_name(name, data.col_labels, static_cast<std::size_t>(events.col), data.first_col);
    value.add(o.value_title).add(o.value_title.empty() ? "" : ": ").add(format(l.cells[r * l.cols + c], o.unit, 4));
    if (l.cells.size() < data.rows * data.cols)
      value.add(o.fold == HeatFold::max ? ", largest of its cells" : ", mean of its cells");
    tip(name.view(), value.view());
    mark(events.row, events.col, t.muted, t.px(1));
    if (clicked) {
      events.clicked = true;
      view.row = events.row;
      view.col = events.col;
    }
  }
  mark(view.row, view.col, t.text, t.px(2));
  return events;
}

}  // namespace widgets
