#include "chapters/distributed/tensor_parallel/cut_layout.h"

#include <algorithm>

namespace chapters::distributed::tensor_parallel {
namespace {

constexpr float glyph_px = 22, capsule_gap_px = 7, sheet_gap_cells = 0.6f, highest_cell = 1.8f;
constexpr float low_cell_px = 6, least_cell_px = 3;  // heights of a cell for which texts give way

float height_in_cells(const CutMatrix& m) {
  const auto rows = static_cast<float>(m.rows);
  if (!m.sheets) return rows;
  const auto sheets = static_cast<float>(m.pieces.size());
  return rows * sheets + (sheets - 1) * sheet_gap_cells;
}

bool has_capsule(const CutScene& scene, std::size_t matrix) {
  return std::ranges::any_of(scene.capsules, [&](const CutCapsule& c) { return c.before == matrix; });
}

/// Width of all slots where a cell is `cell` px.
float width_at(const CutScene& scene, float cell, float least_px, float scale, float capsule_px) {
  float width = 0;
  for (std::size_t i = 0; i < scene.matrices.size(); ++i) {
    width += std::max(static_cast<float>(scene.matrices[i].cols) * cell, least_px);
    if (i == 0) continue;
    width += has_capsule(scene, i) ? capsule_px + 2 * capsule_gap_px * scale : scale * glyph_px;
  }
  return width;
}

/// The widest cell with which all slots fit, px.
float widest_cell(const CutScene& scene, float width, float least_px, float scale, float capsule_px) {
  float lo = 0.5f, hi = 80 * scale;
  for (int i = 0; i < 24; ++i) {
    const float mid = (lo + hi) / 2;
    (width_at(scene, mid, least_px, scale, capsule_px) <= width ? lo : hi) = mid;
  }
  return lo;
}

}  // namespace

void layout_cut(const CutScene& scene, widgets::Rect area, float scale, const CutTexts& texts, CutPlaces& out) {
  out.matrices.resize(scene.matrices.size());
  out.capsules.resize(scene.capsules.size());
  if (scene.matrices.empty()) return;
  float tallest = 1;
  for (const CutMatrix& m : scene.matrices) tallest = std::max(tallest, height_in_cells(m));
  const float capsule_px = texts.capsule + 10 * scale;
  const float one_px = widest_cell(scene, area.width(), texts.shape, scale, capsule_px),
              two_px = widest_cell(scene, area.width(), texts.half_shape, scale, capsule_px),
              no_px = widest_cell(scene, area.width(), 0, scale, capsule_px);
  out.shape_lines = two_px < 3 * scale ? 0 : two_px > 1.15f * one_px ? 2 : 1;
  const float line = texts.line * 1.25f;
  const auto above_px = [&](int lines) { return line * (1.15f + static_cast<float>(lines)) + 4 * scale; };
  const auto below_px = [&](int lines, bool texts_under) {
    return (texts_under ? line * (1 + static_cast<float>(lines)) : 0) + 4 * scale;
  };
  const auto room_px = [&](int lines, bool texts_under) {
    return std::max(1.0f, (area.height() - above_px(lines) - below_px(lines, texts_under)) / tallest);
  };
  out.piece_texts = out.shape_lines > 0 && room_px(out.shape_lines, true) >= low_cell_px * scale;
  if (!out.piece_texts && room_px(out.shape_lines, false) < least_cell_px * scale) out.shape_lines = 0;
  const float least_px = out.shape_lines == 0 ? 0 : out.shape_lines == 2 ? texts.half_shape : texts.shape;
  const float above = above_px(out.shape_lines), below = below_px(out.shape_lines, out.piece_texts);
  const float room = room_px(out.shape_lines, out.piece_texts);
  out.cell = std::min(out.shape_lines == 0 ? no_px : out.shape_lines == 2 ? two_px : one_px, room);
  out.cell_high = std::min(room, highest_cell * out.cell);
  const float width = width_at(scene, out.cell, least_px, scale, capsule_px);
  float x = area.min.x + std::max(0.0f, (area.width() - width) / 2);
  const float height = tallest * out.cell_high;
  const float top = area.min.y + above + std::max(0.0f, (area.height() - above - below - height) / 2);
  const float middle_y = top + height / 2;
  out.pieces_area = {{area.min.x, top}, {area.max.x, top + height}};
  out.name_y = top - above + 2 * scale;
  out.whole_y = out.name_y + line * 1.15f;
  out.piece_y = top + height + 4 * scale;
  for (std::size_t i = 0; i < scene.matrices.size(); ++i) {
    const CutMatrix& m = scene.matrices[i];
    PlacedMatrix& placed = out.matrices[i];
    placed.glyph_x = 0;
    if (i > 0 && has_capsule(scene, i)) {
      for (std::size_t c = 0; c < scene.capsules.size(); ++c)
        if (scene.capsules[c].before == i)
          out.capsules[c] = {{x + capsule_gap_px * scale, top},
                             {x + capsule_gap_px * scale + capsule_px, top + height}};
      x += capsule_px + 2 * capsule_gap_px * scale;
    } else if (i > 0) {
      placed.glyph_x = x + scale * glyph_px / 2;
      x += scale * glyph_px;
    }
    const float cells_px = static_cast<float>(m.cols) * out.cell, slot = std::max(cells_px, least_px);
    const float left = x + (slot - cells_px) / 2, high = height_in_cells(m) * out.cell_high;
    placed.middle = x + slot / 2;
    placed.area = {{left, middle_y - high / 2}, {left + cells_px, middle_y + high / 2}};
    placed.pieces.resize(m.pieces.size());
    for (std::size_t p = 0; p < m.pieces.size(); ++p) {
      const CutPiece& piece = m.pieces[p];
      const float sheet = m.sheets ? static_cast<float>(p) * (static_cast<float>(m.rows) + sheet_gap_cells) : 0;
      const ImVec2 at{left + static_cast<float>(piece.first_col) * out.cell,
                      placed.area.min.y + (sheet + static_cast<float>(piece.first_row)) * out.cell_high};
      placed.pieces[p] = {
          at,
          {at.x + static_cast<float>(piece.cols) * out.cell, at.y + static_cast<float>(piece.rows) * out.cell_high}};
    }
    x += slot;
  }
}

}  // namespace chapters::distributed::tensor_parallel
