#include "widgets/charts/byte_strip.h"

#include <algorithm>

#include "widgets/charts/vessel.h"
#include "widgets/number/number.h"

namespace widgets {
namespace {

constexpr float ring_px = 26, figure_px = 120, max_row_px = 58;

double bytes_of(const ByteStripRow& row) {
  double sum = 0;
  for (const ByteRun& r : row.runs) sum += std::max(0.0, r.bytes);
  return sum;
}

/// A row's ground, its letter in a ring, and its words and figures over the strip.
void paint_strip_row(const Painter& p, const ByteStripRow& row, const Rect& r, float left, float bytes_right,
                     float right) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  if (row.chosen) p.rect(r.min, r.max, with_alpha(t.accent, 0.14f), t.px(4));
  if (row.letter != '\0') {
    const ImVec2 c{r.min.x + t.px(13), (r.min.y + r.max.y) / 2};
    const float d = t.px(8);
    p.rect({c.x - d, c.y - d}, {c.x + d, c.y + d}, row.letter == 'A' ? t.accent : t.card, d);
    p.frame({c.x - d, c.y - d}, {c.x + d, c.y + d}, t.accent, t.px(1.5f), d);
    p.text({c.x, c.y - small / 2}, {&row.letter, 1}, row.letter == 'A' ? text_on(t.accent, t) : t.text, Type::small,
           Font::bold, Align::center);
  }
  const float y = r.min.y + t.px(3);
  const NumberText bytes = format(bytes_of(row), "", 4);
  const float figures = std::min(bytes_right - text_size(bytes, Type::small, Font::mono).x - t.px(8), bytes_right);
  const float name = text_size(row.label, Type::small).x;
  fit_text(p, {left, y}, row.label, figures - left, t.text, Type::small);
  if (name + t.px(6) < figures - left)
    fit_text(p, {left + name + t.px(6), y}, row.note, figures - left - name - t.px(6), t.muted, Type::small);
  p.text({bytes_right, y}, bytes, t.text, Type::small, Font::mono, Align::right);
  fit_text(p, {right, y}, row.figure, t.px(figure_px) * 0.6f, t.text, Type::small, Font::mono, Align::right);
}

void record_byte_strip(Record& record, const char* label, std::span<const ByteStripRow> rows) {
  DataTable table{label, {"row", "part", "bytes"}, {}};
  for (const ByteStripRow& row : rows)
    for (const ByteRun& run : row.runs)
      table.rows.push_back({std::string(row.label), std::string(run.label), exact(run.bytes)});
  record.tables.push_back(std::move(table));
}

}  // namespace

void layout_byte_strip(std::span<const ByteStripRow> rows, const ByteStripOptions& options, Rect area,
                       ByteStripLayout& out) {
  const Theme& t = theme();
  out.cells.clear();
  out.rows.clear();
  out.shown.clear();
  if (rows.empty()) return;
  double most = std::isfinite(options.limit) ? std::max(0.0, options.limit) : 0;
  for (const ByteStripRow& r : rows) most = std::max(most, bytes_of(r));
  most = std::min(most, 64.0);
  out.left = area.min.x + t.px(ring_px);
  const float room = std::max(1.0f, area.max.x - t.px(10) - out.left);
  out.cell = std::min(t.px(22), room / static_cast<float>(std::max(most, 1.0)));
  const float line = t.type(Type::small), head = line + t.px(8), strip = t.px(15);
  const float least = line + strip + t.px(9);
  const float pitch = std::min(t.px(max_row_px), (area.height() - head) / static_cast<float>(rows.size()));
  const float each = std::max(pitch, least);
  // Where not all have room, the last ones that are not chosen go.
  const auto places = static_cast<std::size_t>(std::max(0.0f, (area.height() - head - least + 0.5f) / each + 1));
  for (std::size_t i = 0; i < rows.size(); ++i) out.shown.push_back(i);
  while (out.shown.size() > places) {
    auto last = std::find_if(out.shown.rbegin(), out.shown.rend(), [&](std::size_t i) { return !rows[i].chosen; });
    if (last == out.shown.rend()) last = out.shown.rbegin();
    out.shown.erase(std::next(last).base());
  }
  for (std::size_t place = 0; place < out.shown.size(); ++place) {
    const std::size_t i = out.shown[place];
    const float y = area.min.y + head + each * static_cast<float>(place);
    out.rows.push_back({{area.min.x, y}, {area.max.x, y + each - t.px(2)}});
    const float top = y + line + t.px(6);
    double at = 0;
    for (std::size_t k = 0; k < rows[i].runs.size(); ++k) {
      const double end = std::min(at + std::max(0.0, rows[i].runs[k].bytes), most);
      for (double from = at; from < end - 1e-9;) {
        const double to = std::min(end, std::floor(from + 1e-9) + 1);
        out.cells.push_back({i, k, {{out.x(from), top}, {out.x(to), top + strip}}});
        from = to;
      }
      at = end;
    }
  }
}

std::ptrdiff_t draw_byte_strip(const char* label, std::span<const ByteStripRow> rows, ByteStripView& view,
                               const ByteStripOptions& options) {
  const Theme& t = theme();
  const Rect area = canvas(label, options.size, {t.px(80), t.px(60)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  layout_byte_strip(rows, options, area, view.layout);
  const ByteStripLayout& l = view.layout;
  const Painter p = Painter::window();
  const float right = area.max.x - t.px(8), bytes_right = right - t.px(figure_px) * 0.62f;
  p.text({bytes_right, area.min.y}, "bytes", t.muted, Type::small, Font::sans, Align::right);
  p.text({right, area.min.y}, options.figure_title.empty() ? " " : options.figure_title, t.muted, Type::small,
         Font::sans, Align::right);
  for (std::size_t place = 0; place < l.rows.size(); ++place)
    paint_strip_row(p, rows[l.shown[place]], l.rows[place], l.left, bytes_right, right);
  for (const ByteCell& cell : l.cells) {
    const ByteRun& run = rows[cell.row].runs[cell.run];
    const float gap = cell.rect.width() > 4 ? 1.0f : 0.0f;
    p.rect(cell.rect.min, {cell.rect.max.x - gap, cell.rect.max.y}, vessel_colour(run.tint, run.pale, t));
  }
  if (options.limit > 0 && !l.rows.empty()) {
    const float x = l.x(options.limit);
    if (x < area.max.x)
      for (const ByteCell& cell : l.cells)
        if (cell.rect.min.x <= x || cell.rect.max.x >= x)
          p.line({x, cell.rect.min.y - t.px(3)}, {x, cell.rect.max.y + t.px(3)}, t.text, t.px(2));
  }
  std::ptrdiff_t pressed = -1;
  if (hovered) {
    const ImVec2 mouse = ImGui::GetMousePos();
    for (const ByteCell& cell : l.cells)
      if (cell.rect.contains(mouse)) {
        const ByteRun& run = rows[cell.row].runs[cell.run];
        tip(run.label, format(run.bytes, "B"), "of one parameter");
      }
    for (std::size_t i = 0; i < l.rows.size(); ++i)
      if (clicked && l.rows[i].contains(mouse)) pressed = static_cast<std::ptrdiff_t>(l.shown[i]);
  }
  if (Record* record = p.record()) record_byte_strip(*record, label, rows);
  return pressed;
}

}  // namespace widgets
