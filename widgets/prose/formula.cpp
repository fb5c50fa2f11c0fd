#include "widgets/prose/formula.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/times_sign.h"

namespace widgets {

void paint_formula(const Painter& painter, const FormulaLayout& layout, ImVec2 baseline) {
  const Theme& t = theme();
  for (const FormulaText& piece : layout.texts) {
    const ImU32 colour = piece.role == FormulaRole::value     ? t.accent
                         : piece.role == FormulaRole::unknown ? t.warning
                                                              : t.text;
    painter.text_sized(
        {baseline.x + piece.baseline.x, baseline.y + piece.baseline.y - baseline_at(piece.size, piece.font)},
        piece.text, colour, piece.size, piece.font);
  }
  ImVec2 moved[16];
  for (const FormulaStroke& stroke : layout.strokes) {
    const std::size_t n = std::min(stroke.points.size(), std::size(moved));
    for (std::size_t i = 0; i < n; ++i) moved[i] = {baseline.x + stroke.points[i].x, baseline.y + stroke.points[i].y};
    // A level bar is snapped to whole pixels so that it is as dark as the text beside it.
    const bool bar = n == 2 && stroke.points[0].y == stroke.points[1].y;
    if (bar)
      painter.rect({moved[0].x, std::floor(moved[0].y)},
                   {moved[1].x, std::floor(moved[0].y) + std::max(1.0f, std::round(stroke.width))}, t.text);
    else
      painter.polyline({moved, n}, t.text, stroke.width);
  }
}

ImVec2 draw_formula(const char* id, std::string_view source, const ValueSource& values, FormulaView& view,
                    const FormulaStyle& style) {
  const Theme& t = theme();
  const bool new_source = view.layouts == 0 || view.source != source;
  if (new_source) {
    view.source.assign(source);
    view.formula = parse_formula(source);
  }
  const bool new_values = view.formula.values.refresh(values);
  if (new_source || new_values || view.scale != t.type(style.type) || view.max_width != style.max_width ||
      view.font != font_of(Font::sans)) {
    view.layout = layout_formula(view.formula, style);
    view.scale = t.type(style.type);
    view.max_width = style.max_width;
    view.font = font_of(Font::sans);
    ++view.layouts;
  }
  const Painter painter = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImVec2 size{view.layout.width, view.layout.ascent + view.layout.descent};
  if (view.formula.error.empty()) {
    paint_formula(painter, view.layout, {at.x, at.y + view.layout.ascent});
  } else {
    size = text_size(view.formula.error);
    painter.text(at, view.formula.error, t.warning);
  }
  ImGui::PushID(id);
  ImGui::Dummy(size);
  if (values.explain && ImGui::IsItemHovered()) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (const FormulaText& piece : view.layout.texts) {
      if (piece.role == FormulaRole::symbol) continue;
      const float x = at.x + piece.baseline.x, y = at.y + view.layout.ascent + piece.baseline.y;
      if (mouse.x < x || mouse.x > x + piece.width || mouse.y > y + 0.3f * piece.size || mouse.y < y - piece.size)
        continue;
      std::array<char, 512> room;
      const std::string_view why =
          with_times_signs(values.explain(values.context, view.formula.values.keys[piece.slot]), room);
      if (!why.empty()) ImGui::SetTooltip("%.*s", static_cast<int>(why.size()), why.data());
    }
  }
  ImGui::PopID();
  if (Record* record = painter.record(); record && !view.formula.values.keys.empty()) {
    DataTable table{.name = id, .columns = {"key", "value"}, .rows = {}};
    for (std::size_t i = 0; i < view.formula.values.keys.size(); ++i)
      table.rows.push_back({view.formula.values.keys[i], view.formula.values.texts[i]});
    record->tables.push_back(std::move(table));
  }
  return size;
}

}  // namespace widgets
