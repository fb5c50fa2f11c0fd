#include "widgets/charts/step_bites.h"

#include <algorithm>
#include <cmath>

#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace widgets {
namespace {

ImU32 bite_fill(const BitePart& part) { return colour(part.tint, theme()); }

void paint_piece(const Painter& p, const BitePiece& piece, const BitePart& part, double value, std::string_view unit) {
  const Theme& t = theme();
  const ImU32 fill = bite_fill(part), ink = text_on(fill, t);
  const float small = t.type(Type::small), gap = piece.rect.width() > 4 ? 1.0f : 0.0f;
  const Rect r{piece.rect.min, {piece.rect.max.x - gap, piece.rect.max.y}};
  p.rect(r.min, r.max, fill, t.px(2));
  const NumberText number = format(value, unit);
  const float x = (r.min.x + r.max.x) / 2, y = (r.min.y + r.max.y) / 2;
  const bool two = piece.caption == BiteCaption::both && r.height() >= 2 * small + t.px(4);
  const float half = two ? small + t.px(1) : small / 2;
  if (part.wait && piece.caption != BiteCaption::none) {  // the hatching does not cross the words
    hatch(p, {r.min, {r.max.x, y - half - t.px(1)}}, ink, t.px(7));
    hatch(p, {{r.min.x, y + half + t.px(1)}, r.max}, ink, t.px(7));
  } else if (part.wait) {
    hatch(p, r, ink, t.px(7));
  }
  const auto word = [&](std::string_view s, float at_x, float at_y, Font font) {
    if (!s.empty()) p.text({at_x, at_y}, s, ink, Type::small, font, Align::center);
  };
  if (two) {
    word(part.label, x, y - small - t.px(1), Font::sans);
    word(number, x, y + t.px(1), Font::mono);
  } else if (piece.caption == BiteCaption::both) {
    p.text({r.min.x + t.px(4), y - half}, part.label, ink, Type::small);
    p.text({r.max.x - t.px(4), y - half}, number, ink, Type::small, Font::mono, Align::right);
  } else if (piece.caption == BiteCaption::value) {
    word(number, x, y - half, Font::mono);
  } else if (piece.caption == BiteCaption::name) {
    word(part.label, x, y - half, Font::sans);
  }
}

void paint_slab(const Painter& p, const BiteBar& bar, const std::vector<BitePiece>& pieces, Rect rect, float label_x,
                const BiteOptions& options, Rect area, bool main) {
  const Theme& t = theme();
  const float size = t.type(main ? Type::body : Type::small), small = t.type(Type::small);
  const float y = (rect.min.y + rect.max.y) / 2;
  const float room = rect.min.x - label_x - t.px(8);
  const bool two = main && !bar.note.empty() && rect.height() >= size + small + t.px(2);
  fit_text(p, {rect.min.x - t.px(8), y - (two ? size : size / 2)}, bar.label, room, t.text,
           main ? Type::body : Type::small, main ? Font::bold : Font::sans, Align::right);
  if (two)
    fit_text(p, {rect.min.x - t.px(8), y + t.px(1)}, bar.note, room, t.muted, Type::small, Font::sans, Align::right);
  float end = rect.min.x;
  for (const BitePiece& piece : pieces) {
    paint_piece(p, piece, options.parts[piece.part], bar.values[piece.part], options.unit);
    end = piece.rect.max.x;
  }
  if (!bar.total.empty())
    fit_text(p, {end + t.px(8), y - size / 2}, bar.total, area.max.x - end - t.px(8), t.text,
             main ? Type::body : Type::small, main ? Font::bold : Font::mono);
}

void paint_switch(const Painter& p, Rect row, bool on, bool possible) {
  const Theme& t = theme();
  const float h = std::min(t.px(14), row.height() - t.px(3)), w = h * 1.8f, x = row.min.x + t.px(4),
              y = (row.min.y + row.max.y - h) / 2;
  const ImU32 track = on ? t.accent : t.line;
  p.rect({x, y}, {x + w, y + h}, possible ? track : with_alpha(track, 0.4f), h / 2);
  p.circle({on ? x + w - h / 2 : x + h / 2, y + h / 2}, h / 2 - t.px(2), possible ? t.panel : t.card);
}

void paint_bite(const Painter& p, const PlacedBite& bite, const BitePart& part, bool on) {
  const Theme& t = theme();
  const ImU32 fill = bite_fill(part);
  const Rect& r = bite.rect;
  if (bite.given) {
    const ImVec2 corners[] = {r.min, {r.max.x, r.min.y}, r.max, {r.min.x, r.max.y}, r.min};
    p.rect(r.min, r.max, with_alpha(fill, 0.22f), t.px(2));
    p.dashed_polyline(corners, fill, t.px(1.5f), t.px(4));
    return;
  }
  p.rect(r.min, r.max, with_alpha(fill, on ? 0.4f : 1.0f), t.px(2));
  if (on)
    p.frame(r.min, r.max, fill, t.px(1), t.px(2));
  else
    hatch(p, r, text_on(fill, t), t.px(7));
}

void export_bites(Record& record, const char* label, std::span<const BiteRow> rows, const BiteOptions& options) {
  DataTable table{label, {"row", "part", "before", "after"}, {}};
  const auto add = [&](std::string_view name, std::size_t part, double before, double after) {
    table.rows.push_back({std::string(name), std::string(options.parts[part].label), exact(before), exact(after)});
  };
  for (std::size_t i = 0; i < options.parts.size() && i < options.main.values.size(); ++i)
    add(options.main.label, i, i < options.first.values.size() ? options.first.values[i] : 0, options.main.values[i]);
  for (const BiteRow& row : rows)
    for (std::size_t i = 0; i < row.before.size() && i < row.after.size(); ++i)
      add(row.label, i, row.before[i], row.after[i]);
  record.tables.push_back(std::move(table));
}

void paint_row(const Painter& p, const BiteRow& row, const Rect& r, const BiteLayout& l, std::size_t index,
               const BiteOptions& options) {
  const Theme& t = theme();
  const float small = t.type(Type::small), y = (r.min.y + r.max.y - small) / 2;
  const bool possible = !row.before.empty();
  paint_switch(p, r, row.on, possible);
  fit_text(p, {l.label_left, y}, row.label, l.slab.min.x - l.label_left - t.px(4), possible ? t.text : t.muted,
           Type::small, row.lit ? Font::bold : Font::sans);
  float end = l.slab.min.x;
  for (const PlacedBite& bite : l.bites) {
    if (bite.row != index) continue;
    paint_bite(p, bite, options.parts[bite.part], row.on);
    end = std::max(end, bite.rect.max.x);
  }
  float note_x = end > l.slab.min.x ? end + t.px(8) : l.slab.min.x;
  if (l.floor_x > 0 && note_x < l.floor_x + t.px(4) && note_x > l.floor_x - measure_text(row.note, Type::small))
    note_x = l.floor_x + t.px(6);
  if (!row.note.empty() && note_x + measure_text(row.note, Type::small) <= l.slab.max.x + t.px(8))
    p.text({note_x, y}, row.note, t.muted, Type::small);
  for (std::size_t c = 0; c < bite_columns; ++c)
    if (l.column_right[c] > 0 && !row.figures[c].empty())
      p.text({l.column_right[c], y}, row.figures[c], c == 0 || c == 2 ? t.text : t.muted, Type::small, Font::mono,
             Align::right);
}

void hover_slab(const BiteBar& bar, const std::vector<BitePiece>& pieces, const BiteOptions& options) {
  const ImVec2 mouse = ImGui::GetMousePos();
  for (const BitePiece& piece : pieces)
    if (piece.rect.contains(mouse))
      tip(options.parts[piece.part].label, format(bar.values[piece.part], options.unit),
          options.parts[piece.part].info);
}

}  // namespace

std::ptrdiff_t draw_bites(const char* label, std::span<const BiteRow> rows, BiteView& view,
                          const BiteOptions& options) {
  const Theme& t = theme();
  const Rect area = reserve(options.size, {t.px(120), t.px(120)});
  layout_bites(rows, options, area, measure_text, view.layout);
  const BiteLayout& l = view.layout;
  const Painter p = Painter::window();
  p.clip(area.min, area.max);
  paint_legend(p, area.min, area.width(), l.legend, l.placed_legend);
  if (l.first_rect.height() > 0) paint_slab(p, options.first, l.first, l.first_rect, area.min.x, options, area, false);
  paint_slab(p, options.main, l.main, l.main_rect, area.min.x, options, area, true);
  if (l.floor_x > l.slab.min.x && l.floor_rect.height() > 0) {
    const ImU32 fill = t.of(Meaning::data_loading);
    const float y = l.floor_rect.min.y, h = l.floor_rect.height();
    p.rect({l.slab.min.x, y + h * 0.2f}, {l.floor_x, y + h * 0.8f}, fill, t.px(2));
    fit_text(p, {l.slab.min.x - t.px(8), y}, options.floor_label, l.slab.min.x - area.min.x - t.px(8), t.text,
             Type::small, Font::sans, Align::right);
    fit_text(p, {l.floor_x + t.px(8), y}, options.floor_note, area.max.x - l.floor_x - t.px(8), t.muted, Type::small);
  }
  fit_text(p, {area.min.x, l.heads_y}, options.rows_title, l.slab.min.x - area.min.x - t.px(8), t.text, Type::small,
           Font::bold);
  fit_text(p, {l.slab.min.x, l.heads_y}, options.bites_title, l.slab.width() - t.px(8), t.muted, Type::small);
  for (std::size_t c = 0; c < bite_columns; ++c)
    if (l.column_right[c] > 0)
      p.text({l.column_right[c], l.heads_y}, options.titles[c], t.muted, Type::small, Font::sans, Align::right);
  std::ptrdiff_t pressed = -1;
  view.hovered = -1;
  ImGui::PushID(label);
  for (std::size_t i = 0; i < l.rows.size(); ++i) {
    const Rect& r = l.rows[i];
    ImGui::SetCursorScreenPos(r.min);
    if (press_area(rows[i].id, {r.width(), r.height()})) pressed = static_cast<std::ptrdiff_t>(i);
    const bool hovered = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
    if (rows[i].lit) p.rect(r.min, r.max, with_alpha(t.accent, 0.14f), t.px(4));
    if (hovered) p.frame(r.min, r.max, t.accent, t.px(1), t.px(4));
    if (!rows[i].lit && i % 2 == 0) p.rect(r.min, r.max, with_alpha(t.grid, 0.5f), t.px(4));
    paint_row(p, rows[i], r, l, i, options);
    if (!ImGui::IsItemHovered()) continue;
    view.hovered = static_cast<std::ptrdiff_t>(i);
    tip(rows[i].label, rows[i].note, rows[i].info);
  }
  ImGui::PopID();
  if (l.floor_x > l.slab.min.x && l.floor_rect.height() > 0 && !l.rows.empty())
    p.dashed_line({l.floor_x, l.rows_top}, {l.floor_x, l.rows.back().max.y}, t.of(Meaning::data_loading), t.px(1.5f),
                  t.px(5));
  p.unclip();
  hover_slab(options.first, l.first, options);
  hover_slab(options.main, l.main, options);
  if (Record* record = p.record()) export_bites(*record, label, rows, options);
  ImGui::SetCursorScreenPos(area.min);
  ImGui::Dummy({area.width(), area.height()});
  return pressed;
}

}  // namespace widgets
