#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "chapters/debugging/hang/lab.h"
#include "widgets/base/arrow.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// Ranks by calls: completed calls are knots between the rows, and what is missing is a hole.
namespace chapters::debugging::hang {
namespace {

using widgets::Align, widgets::Font, widgets::Line, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

/// The parts of the picture, in screen pixels.
struct MatrixPlan {
  Rect legend, heads, cells, ring, arcs;
  float left = 0, column = 1, row = 1, gap = 0, band_gap = 0;
  std::size_t rows = 0;
};

MatrixPlan plan_of(Rect area, const Picture& picture) {
  const auto& t = theme();
  MatrixPlan out;
  const float small = t.type(Type::small);
  const float legend = area.height() > t.px(220) ? small + t.px(12) : 0, heads = 2 * small + t.px(12);
  float label = 0, ring = 0;
  for (const MatrixRow& r : picture.rows) {
    label = std::max(label, widgets::text_size(r.label, Type::small, Font::bold).x);
    ring = std::max(ring, widgets::text_size(r.ring, Type::small).x);
  }
  label += t.px(12);
  ring += ring > 0 ? t.px(28) : 0;
  const bool wide = area.width() > t.px(420);
  if (!wide) ring = 0;
  const float arcs = wide && ring > 0 ? t.px(70) : 0;
  out.left = label;
  out.legend = {area.min, {area.max.x, area.min.y + legend}};
  out.heads = {{area.min.x + label, area.min.y + legend}, {area.max.x - ring - arcs, area.min.y + legend + heads}};
  out.cells = {{area.min.x + label, out.heads.max.y}, {area.max.x - ring - arcs, area.max.y}};
  out.ring = {{out.cells.max.x, out.cells.min.y}, {out.cells.max.x + ring, area.max.y}};
  out.arcs = {{out.ring.max.x, out.cells.min.y}, {area.max.x, area.max.y}};
  out.rows = picture.rows.size();
  out.band_gap = t.px(14);
  const float gaps = out.band_gap * static_cast<float>(picture.bands.empty() ? 0 : picture.bands.size() - 1);
  const float columns = static_cast<float>(std::max<std::size_t>(1, picture.columns));
  out.column = std::min(t.px(104), std::max(1.0f, (out.cells.width() - gaps) / columns));
  out.row =
      std::min(t.px(150), std::max(1.0f, out.cells.height() / static_cast<float>(std::max<std::size_t>(1, out.rows))));
  out.gap = std::min(t.px(9), 0.18f * std::min(out.column, out.row));
  return out;
}

float x_of(const MatrixPlan& plan, const Picture& picture, std::size_t column) {
  float x = plan.cells.min.x + plan.column * static_cast<float>(column);
  for (const Band& b : picture.bands)
    if (b.first > 0 && column >= b.first) x += plan.band_gap;
  return x;
}
float y_of(const MatrixPlan& plan, std::size_t row) { return plan.cells.min.y + plan.row * static_cast<float>(row); }

Rect cell_rect(const MatrixPlan& plan, const Picture& picture, std::size_t row, std::size_t column) {
  const float x = x_of(plan, picture, column), y = y_of(plan, row), half = plan.gap / 2;
  return {{x + half, y + half}, {x + std::max(plan.column - half, half + 1), y + std::max(plan.row - half, half + 1)}};
}

void paint_dashes(const Painter& p, Rect r, ImU32 colour) {
  const std::array<ImVec2, 5> corners{r.min, ImVec2{r.max.x, r.min.y}, r.max, ImVec2{r.min.x, r.max.y}, r.min};
  p.dashed_polyline(corners, colour, 1, theme().px(4));
}

/// One or two lines in the middle of a cell, where they have room.
void paint_words(const Painter& p, Rect r, std::string_view first, std::string_view second, ImU32 colour) {
  const auto& t = theme();
  const ImVec2 a = widgets::text_size(first, Type::small), b = widgets::text_size(second, Type::small, Font::mono);
  if (first.empty() || r.width() < a.x + t.px(4) || r.height() < a.y + t.px(2)) return;
  const bool both = !second.empty() && r.width() >= b.x + t.px(4) && r.height() >= a.y + b.y + t.px(4);
  const float x = (r.min.x + r.max.x) / 2, middle = (r.min.y + r.max.y) / 2;
  float y = middle - (both ? a.y + b.y : a.y) / 2;
  p.text({x, y}, first, colour, Type::small, Font::sans, Align::center);
  if (both) p.text({x, y + a.y}, second, colour, Type::small, Font::mono, Align::center);
}

void paint_cell(const Painter& p, Rect r, const Cell& cell, const Picture& picture, bool culprit) {
  const auto& t = theme();
  const float round = t.px(4);
  const CallKind* kind = cell.call >= 0 ? &picture.calls[static_cast<std::size_t>(cell.call)] : nullptr;
  const ImU32 hue = kind ? widgets::colour(kind->tint, t) : t.muted;
  switch (cell.state) {
    case Cell::State::none:
      return;
    case Cell::State::dropped:
      return paint_dashes(p, r, t.grid);
    case Cell::State::done:
      p.rect(r.min, r.max, hue, round);
      paint_words(p, r, kind->brief, kind->size, widgets::text_on(hue, t));
      break;
    case Cell::State::parted:
      p.rect(r.min, r.max, widgets::with_alpha(hue, 0.18f), round);
      paint_dashes(p, r, hue);
      paint_words(p, r, "retired", kind->size, t.text);
      break;
    case Cell::State::waits:
      p.rect(r.min, r.max, widgets::with_alpha(hue, 0.18f), round);
      p.frame(r.min, r.max, hue, t.px(2), round);
      paint_words(p, r, "waits", kind->size, t.text);
      break;
    case Cell::State::queued:
      p.frame(r.min, r.max, widgets::with_alpha(hue, 0.6f), 1, round);
      paint_words(p, r, kind->brief, {}, t.muted);
      break;
    case Cell::State::hole:
    case Cell::State::no_dump:
      if (!culprit) return paint_dashes(p, r, t.muted);
      p.rect(r.min, r.max, widgets::with_alpha(t.bad, 0.14f), round);
      p.frame(r.min, r.max, t.bad, t.px(2), round);
      paint_words(p, r, cell.state == Cell::State::hole ? "none" : "no dump", {}, t.bad);
      break;
  }
  if (cell.differs) {
    p.frame(r.min, r.max, t.panel, t.px(5), round);
    p.frame(r.min, r.max, t.bad, t.px(3), round);
  }
}

/// Between rows whose call is the same and has ended.
void paint_knots(const Painter& p, const MatrixPlan& plan, const Picture& picture) {
  for (std::size_t r = 0; r + 1 < picture.rows.size(); ++r)
    for (std::size_t c = 0; c < picture.columns; ++c) {
      const Cell &a = picture.rows[r].cells[c], &b = picture.rows[r + 1].cells[c];
      if (a.state != Cell::State::done || b.state != Cell::State::done || a.call != b.call || a.group != b.group)
        continue;
      const Rect top = cell_rect(plan, picture, r, c);
      const float x = (top.min.x + top.max.x) / 2, half = std::min(theme().px(4), top.width() / 5);
      p.rect({x - half, top.max.y}, {x + half, top.max.y + plan.gap + 1},
             widgets::with_alpha(widgets::colour(picture.calls[static_cast<std::size_t>(a.call)].tint, theme()), 0.7f));
    }
}

void paint_heads(const Painter& p, const MatrixPlan& plan, const Picture& picture) {
  const auto& t = theme();
  const float small = t.type(Type::small);
  for (const Band& b : picture.bands) {
    if (b.columns == 0) continue;
    const float x0 = x_of(plan, picture, b.first), x1 = x_of(plan, picture, b.first + b.columns - 1) + plan.column;
    if (widgets::text_size(b.title, Type::small, Font::bold).x <= x1 - x0)
      p.text({x0 + t.px(2), plan.heads.min.y}, b.title, t.muted, Type::small, Font::bold);
    p.line({x0 + t.px(2), plan.heads.min.y + small + t.px(4)}, {x1 - t.px(2), plan.heads.min.y + small + t.px(4)},
           t.grid);
    float free = x0;
    for (std::size_t i = 0; i < b.columns; ++i) {
      Line number;
      number.add_integer(b.sequences[i]);
      const float x = x_of(plan, picture, b.first + i) + plan.column / 2,
                  width = widgets::text_size(number.view(), Type::small, Font::mono).x;
      if (x - width / 2 < free || x + width / 2 > x1) continue;
      p.text({x, plan.heads.min.y + small + t.px(7)}, number.view(), t.muted, Type::small, Font::mono, Align::center);
      free = x + width / 2 + t.px(6);
    }
  }
}

void paint_legend_row(const Painter& p, const MatrixPlan& plan, const Picture& picture) {
  const auto& t = theme();
  if (plan.legend.height() <= 0) return;
  float x = plan.legend.min.x + plan.left;
  const float side = t.px(11), line = t.type(Type::small);
  for (const CallKind& kind : picture.calls) {
    Line words;
    words.add(kind.name).add(" ").add(kind.size).add(" ").add(kind.dtype);
    const float need = side + t.px(6) + widgets::text_size(words.view(), Type::small).x;
    if (x + need > plan.legend.max.x) return;
    p.rect({x, plan.legend.min.y + (line - side) / 2}, {x + side, plan.legend.min.y + (line + side) / 2},
           widgets::colour(kind.tint, t), t.px(2));
    p.text({x + side + t.px(6), plan.legend.min.y}, words.view(), t.muted, Type::small);
    x += need + t.px(16);
  }
}

/// Where rows are lower than a line, every second or third has its name, and always one that matters.
bool is_named(const MatrixPlan& plan, const Picture& picture, std::size_t row) {
  const auto every = static_cast<std::size_t>(std::ceil(theme().type(Type::small) / std::max(1.0f, plan.row)));
  const auto matters = [&](std::size_t r) { return picture.rows[r].culprit || picture.rows[r].rings_first; };
  if (every <= 1 || matters(row)) return true;
  if (row % every != 0) return false;
  for (std::size_t r = row >= every - 1 ? row - (every - 1) : 0; r < std::min(picture.rows.size(), row + every); ++r)
    if (matters(r)) return false;
  return true;
}

void paint_rows(const Painter& p, const MatrixPlan& plan, const Picture& picture) {
  const auto& t = theme();
  const float small = t.type(Type::small);
  for (std::size_t r = 0; r < picture.rows.size(); ++r) {
    const MatrixRow& row = picture.rows[r];
    const float y = y_of(plan, r) + (plan.row - small) / 2;
    if (is_named(plan, picture, r))
      p.text({plan.cells.min.x - t.px(10), y}, row.label, row.culprit ? t.bad : t.text, Type::small, Font::bold,
             Align::right);
    for (std::size_t c = 0; c < picture.columns; ++c)
      paint_cell(p, cell_rect(plan, picture, r, c), row.cells[c], picture, row.culprit);
    if (row.ring.empty() || plan.ring.width() <= 0 || !is_named(plan, picture, r)) continue;
    const ImU32 hue = row.rings_first ? t.warning : t.muted;
    const float x = plan.ring.min.x + t.px(10);
    if (row.rings_first) {
      const float side = t.px(5), m = y + small / 2;
      const std::array<ImVec2, 3> bell{ImVec2{x, m - side}, ImVec2{x + side, m + side}, ImVec2{x - side, m + side}};
      p.polygon(bell, hue);
    }
    p.text({x + t.px(10), y}, row.ring, hue, Type::small, row.rings_first ? Font::bold : Font::sans);
  }
}

/// From each row that waits to those it waits for.
void paint_arcs(const Painter& p, const MatrixPlan& plan, const Picture& picture) {
  const auto& t = theme();
  if (plan.arcs.width() < t.px(20)) return;
  for (std::size_t r = 0; r < picture.rows.size(); ++r)
    for (const std::int32_t to : picture.rows[r].waits_for) {
      const auto target = static_cast<std::size_t>(to);
      const float y0 = y_of(plan, r) + plan.row / 2, y1 = y_of(plan, target) + plan.row / 2;
      const float far = static_cast<float>(std::abs(static_cast<std::int64_t>(r) - to)) /
                        static_cast<float>(std::max<std::size_t>(1, picture.rows.size()));
      const float x0 = plan.arcs.min.x, bulge = plan.arcs.width() * (0.35f + 0.6f * far);
      std::array<ImVec2, 13> path;
      for (std::size_t i = 0; i < path.size(); ++i) {
        const float s = static_cast<float>(i) / static_cast<float>(path.size() - 1);
        path[i] = {x0 + bulge * std::sin(3.14159265f * s), y0 + (y1 - y0) * (0.5f - 0.5f * std::cos(3.14159265f * s))};
      }
      widgets::draw_arrow(p, path, picture.rows[target].culprit ? t.bad : t.muted, t.px(1.5f));
    }
}

/// What a question gives: ranks, the number of each call and what each rank has completed. Rows that are folded are
/// apart because of what is asked, and then there is nothing to give.
void paint_given(const Painter& p, const MatrixPlan& plan, const Picture& picture) {
  const auto& t = theme();
  const float small = t.type(Type::small);
  for (const MatrixRow& row : picture.rows)
    if (row.folded) return;
  const widgets::GivenMarks given;
  paint_heads(p, plan, picture);
  for (std::size_t r = 0; r < picture.rows.size(); ++r) {
    const MatrixRow& row = picture.rows[r];
    if (plan.row >= small)
      p.text({plan.cells.min.x - t.px(10), y_of(plan, r) + (plan.row - small) / 2}, row.label, t.text, Type::small,
             Font::bold, Align::right);
    for (std::size_t c = 0; c < picture.columns; ++c) {
      Cell cell = row.cells[c];
      if (cell.state != Cell::State::done) continue;
      cell.differs = false;
      paint_cell(p, cell_rect(plan, picture, r, c), cell, picture, false);
    }
  }
}

/// The cell under the pointer: its row and column.
bool cell_at(const MatrixPlan& plan, const Picture& picture, ImVec2 at, std::size_t& row, std::size_t& column) {
  if (plan.row <= 0 || at.y < plan.cells.min.y) return false;
  row = static_cast<std::size_t>((at.y - plan.cells.min.y) / plan.row);
  if (row >= picture.rows.size()) return false;
  for (column = 0; column < picture.columns; ++column)
    if (const float x = x_of(plan, picture, column); at.x >= x && at.x < x + plan.column) return true;
  return false;
}

std::string_view state_words(Cell::State state) {
  switch (state) {
    case Cell::State::none:
      return "nobody made it";
    case Cell::State::done:
      return "ended";
    case Cell::State::parted:
      return "retired here, and another rank is still in it: a call that failed is retired, too";
    case Cell::State::waits:
      return "it waits here";
    case Cell::State::queued:
      return "enqueued behind the call in which it waits";
    case Cell::State::hole:
      return "others made this call, this rank did not";
    case Cell::State::dropped:
      return "older than what the ring holds";
    case Cell::State::no_dump:
      break;
  }
  return "the rank left no dump";
}

void take_cells(const MatrixPlan& plan, const Picture& picture, View& view) {
  ImGui::SetCursorScreenPos(plan.cells.min);
  const bool pressed = widgets::press_area("cells", {plan.cells.width(), plan.cells.height()});
  std::size_t row = 0, column = 0;
  if (!ImGui::IsItemHovered() || !cell_at(plan, picture, ImGui::GetMousePos(), row, column)) return;
  if (pressed) {
    const bool same =
        view.accused_row == static_cast<double>(row) && view.accused_column == static_cast<double>(column);
    view.accused_row = same ? -1 : static_cast<double>(row);
    view.accused_column = same ? -1 : static_cast<double>(column);
  }
  const Cell& cell = picture.rows[row].cells[column];
  Line name, value;
  name.add(picture.rows[row].ranks).add(", call ").add_integer(cell.sequence);
  if (cell.call >= 0) {
    const CallKind& kind = picture.calls[static_cast<std::size_t>(cell.call)];
    value.add(kind.name).add(" ").add(kind.size).add(" ").add(kind.dtype);
  }
  widgets::tip(name.view(), value.view(), state_words(cell.state));
}

/// What was pressed, and what the records say of that rank.
void paint_accused(const Painter& p, const MatrixPlan& plan, const Picture& picture, const View& view, Rect area) {
  const auto& t = theme();
  if (view.accused_row < 0 || view.accused_column < 0) return;
  const auto row = static_cast<std::size_t>(view.accused_row), column = static_cast<std::size_t>(view.accused_column);
  if (row >= picture.rows.size() || column >= picture.columns) return;
  const Rect r = cell_rect(plan, picture, row, column);
  p.frame(r.min, r.max, t.accent, t.px(2.5f), t.px(4));
  const MatrixRow& accused = picture.rows[row];
  const float pad = t.px(10), line = t.type(Type::small) + t.px(4);
  const float want = std::max(widgets::text_size(accused.verdict, Type::small).x,
                              widgets::text_size(accused.ranks, Type::small, Font::bold).x) +
                     2 * pad;
  const float width = std::min(area.width(), want), height = 2 * line + 2 * pad - t.px(4);
  const float x = std::clamp(r.min.x, area.min.x, std::max(area.min.x, area.max.x - width));
  float y = r.max.y + t.px(6);
  if (y + height > area.max.y) y = std::max(area.min.y, r.min.y - height - t.px(6));
  p.rect({x, y}, {x + width, y + height}, t.panel, t.px(6));
  p.frame({x, y}, {x + width, y + height}, t.accent, t.px(1.5f), t.px(6));
  widgets::fit_text(p, {x + pad, y + pad}, accused.ranks, width - 2 * pad, t.text, Type::small, Font::bold);
  widgets::fit_text(p, {x + pad, y + pad + line}, accused.verdict, width - 2 * pad, t.text, Type::small);
}

void add_matrix_table(const Painter& p, const Picture& picture) {
  widgets::Record* record = p.record();
  if (!record) return;
  widgets::DataTable table{"matrix", {"ranks", "group", "call", "operation", "state"}, {}};
  for (const MatrixRow& row : picture.rows)
    for (const Band& b : picture.bands)
      for (std::size_t i = 0; i < b.columns; ++i) {
        const Cell& cell = row.cells[b.first + i];
        table.rows.push_back({row.ranks, b.title, std::to_string(b.sequences[i]),
                              cell.call >= 0 ? picture.calls[static_cast<std::size_t>(cell.call)].name : std::string(),
                              std::string(state_words(cell.state))});
      }
  record->tables.push_back(std::move(table));
}

}  // namespace

void draw_matrix(const Picture& picture, View& view, ImVec2 size) {
  const Rect area = widgets::reserve(size, {16, 16});
  if (picture.rows.empty()) return;
  const MatrixPlan plan = plan_of(area, picture);
  if (widgets::veiled()) return paint_given(Painter::window(), plan, picture);
  take_cells(plan, picture, view);
  const Painter p = Painter::window();
  p.clip(area.min, area.max);
  paint_legend_row(p, plan, picture);
  paint_heads(p, plan, picture);
  paint_knots(p, plan, picture);
  paint_rows(p, plan, picture);
  paint_arcs(p, plan, picture);
  paint_accused(p, plan, picture, view, area);
  p.unclip();
  widgets::drew("matrix");
  add_matrix_table(p, picture);
}

}  // namespace chapters::debugging::hang
