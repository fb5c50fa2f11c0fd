#include <imgui.h>

#include <algorithm>

#include "chapters/kernels/layouts/draw.h"
#include "widgets/base/painter.h"

/// A and the result of an operation, each cell in the tint of the part of A that it belongs to.
namespace chapters::kernels::layouts {
namespace {

using widgets::Font, widgets::Painter, widgets::Type;

/// Parts have the tints of nominal series in turn; a line parts those that touch.
ImU32 tint_of_part(std::int64_t part) {
  const auto& t = widgets::theme();
  if (part < 0) return t.card;
  return widgets::with_alpha(t.series_at(static_cast<std::size_t>(part % 6)), 0.28f);
}

void paint_side_cells(const Painter& p, const PartsMap& map, const CellGrid& grid) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  for (int row = 0; row < grid.rows; ++row)
    for (int column = 0; column < grid.columns; ++column) {
      const auto cell = static_cast<std::size_t>(row * grid.columns + column);
      if (map.places[cell] < 0) continue;
      const ImVec2 min = grid.min(row, column), max{min.x + grid.step - grid.gap(), min.y + grid.step - grid.gap()};
      p.rect(min, max, t.card);
      p.rect(min, max, tint_of_part(map.parts[cell]));
      widgets::Line place;
      place.add_integer(map.places[cell]);
      const ImVec2 text = widgets::text_size(place.view(), Type::small, Font::mono);
      if (text.x + t.px(2) <= grid.step && small <= grid.step)
        p.text({(min.x + max.x) / 2, (min.y + max.y - text.y) / 2}, place.view(), t.text, Type::small, Font::mono,
               widgets::Align::center);
    }
}

void say_cell(const PartsMap& map, const CellGrid& grid) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int row = grid.row_at(mouse), column = grid.column_at(mouse);
  if (!ImGui::IsWindowHovered() || row < 0 || column < 0) return;
  const auto cell = static_cast<std::size_t>(row * grid.columns + column);
  if (map.places[cell] < 0) return;
  widgets::Line name, value;
  name.add("row ").add_integer(row).add(", column ").add_integer(column);
  value.add("place ").add_integer(map.places[cell]);
  if (map.parts[cell] >= 0) value.add(", part ").add_integer(map.parts[cell]);
  widgets::tip(name.view(), value.view());
}

}  // namespace

void paint_part_lines(const PartsMap& map, const CellGrid& grid) {
  const Painter p = Painter::window();
  const auto& t = widgets::theme();
  const auto part = [&](int row, int column) {
    return map.parts[static_cast<std::size_t>(row * grid.columns + column)];
  };
  const float wide = t.px(grid.step > 10 ? 2.0f : 1.0f), half = grid.gap() / 2;
  for (int row = 0; row < grid.rows; ++row)
    for (int column = 0; column < grid.columns; ++column) {
      const ImVec2 at = grid.min(row, column);
      if (column > 0 && part(row, column) != part(row, column - 1))
        p.line({at.x - half, at.y}, {at.x - half, at.y + grid.step}, t.text, wide);
      if (row > 0 && part(row, column) != part(row - 1, column))
        p.line({at.x, at.y - half}, {at.x + grid.step, at.y - half}, t.text, wide);
    }
}

void draw_sides(const Picture& pic, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(6), gap = t.px(28), wide = (size.x - gap) / 2;
  p.text_fit(corner, pic.parts_words, size.x, t.text, Type::small);
  for (std::size_t side = 0; side < 2 && pic.run; ++side) {
    const PartsMap& map = pic.run->sides[side];
    if (map.rows < 1 || map.columns < 1) continue;
    const ImVec2 at{corner.x + static_cast<float>(side) * (wide + gap), corner.y + line};
    p.text_fit(at, pic.side_names[side], wide, t.muted, Type::small, Font::mono);
    // Cells larger than this say no more.
    const float most = t.px(44);
    const ImVec2 room{std::min(wide, most * static_cast<float>(map.columns)),
                      std::min(size.y - 2 * line, most * static_cast<float>(map.rows))};
    const CellGrid grid({at.x, at.y + line}, room, map.rows, map.columns);
    paint_side_cells(p, map, grid);
    paint_part_lines(map, grid);
    say_cell(map, grid);
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::kernels::layouts
