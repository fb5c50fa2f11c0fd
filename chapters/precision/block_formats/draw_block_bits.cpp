#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/block_formats/lab.h"
#include "widgets/base/painter.h"
#include "widgets/number/number.h"

namespace chapters::precision::block_formats {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// A bit as a cell of `side` px: filled for a one, outlined for a zero.
void paint_bit_cell(const Painter& p, ImVec2 at, float side, bool one, ImU32 colour) {
  const auto& t = widgets::theme();
  const ImVec2 max{at.x + side - t.px(1), at.y + side - t.px(1)};
  p.rect(at, max, one ? colour : widgets::with_alpha(colour, 0.10f), t.px(2));
  p.frame(at, max, widgets::with_alpha(colour, one ? 1.0f : 0.7f), 1.0f, t.px(2));
  if (side >= t.type(Type::small) + t.px(1))
    p.text({(at.x + max.x) / 2, (at.y + max.y - t.type(Type::small)) / 2 - t.px(0.5f)}, one ? "1" : "0",
           one ? widgets::text_on(colour, t) : t.muted, Type::small, Font::mono, Align::center);
}

/// How the codes of a block stand: so many a row, each of `cell` px bits.
struct CodeGrid {
  std::size_t per_row = 1, rows = 1;
  float cell = 0, pitch = 0, row = 0;
  bool values = false;  ///< what a code is worth stands under it
};

CodeGrid grid_of(std::size_t codes, int bits, ImVec2 room) {
  const auto& t = widgets::theme();
  CodeGrid best;
  const float under = t.type(Type::small) + t.px(7);
  // The largest cells with which all codes have room.
  for (float cell = t.px(20); cell >= t.px(4); cell -= t.px(1))
    for (const bool values : {true, false}) {
      const float pitch = cell * static_cast<float>(bits) + t.px(8);
      if (values && pitch < t.px(52)) continue;
      const auto per_row = static_cast<std::size_t>(std::max(1.0f, (room.x + t.px(8)) / pitch));
      const std::size_t rows = (codes + per_row - 1) / per_row;
      const float row = cell + (values ? under : t.px(6));
      best = {per_row, rows, cell, pitch, row, values};
      if (static_cast<float>(rows) * row <= room.y) return best;
    }
  return best;
}

}  // namespace

void draw_block_bits(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const models::FloatFormat& element = *picture.element;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const std::size_t blocks = out.stored.scales.size(), length = static_cast<std::size_t>(out.stored.block_size);
  const std::size_t block = view.block >= 0 && static_cast<std::size_t>(view.block) < blocks
                                ? static_cast<std::size_t>(view.block)
                                : picture.largest_block;
  const std::size_t first = block * length, end = std::min(first + length, picture.run->exact.size());
  const float small = t.type(Type::small);
  widgets::Line head;
  head.add("block ")
      .add_integer(static_cast<std::int64_t>(block))
      .add(": one ")
      .add(picture.scale_name)
      .add(" scale, ");
  head.add_integer(static_cast<std::int64_t>(end - first)).add(" codes of ").add(element.name);
  head.add("; press a block above to see another");
  widgets::fit_text(p, corner, head.view(), size.x, t.muted, Type::small);
  // The scale.
  float x = corner.x, y = corner.y + small + t.px(7);
  const std::string& scale = picture.scale_codes[block];
  const float side =
      std::min(t.px(18), (size.x - t.px(180)) / static_cast<float>(std::max<std::size_t>(scale.size(), 1)));
  for (const char c : scale) {
    paint_bit_cell(p, {x, y}, side, c == '1', colour_of(BitPart::exponent));
    x += side;
  }
  widgets::Line worth;
  worth.add("scale ").add(picture.scale_texts[block]);
  p.text({x + t.px(10), y + (side - small) / 2 - t.px(1)}, worth.view(), t.text, Type::small, Font::mono);
  y += side + t.px(9);
  const CodeGrid g = grid_of(end - first, element.bits, {size.x, corner.y + size.y - y});
  for (std::size_t i = first; i < end; ++i) {
    const std::size_t at = i - first;
    const ImVec2 from{corner.x + g.pitch * static_cast<float>(at % g.per_row),
                      y + g.row * static_cast<float>(at / g.per_row)};
    if (from.y + g.row > corner.y + size.y + 1) break;
    const std::uint32_t code = out.stored.codes[i];
    for (int bit = element.bits - 1; bit >= 0; --bit)
      paint_bit_cell(p, {from.x + g.cell * static_cast<float>(element.bits - 1 - bit), from.y}, g.cell,
                     (code >> bit & 1) != 0, picture.lost[i] != 0 ? t.bad : colour_of(part_of_bit(element, bit)));
    if (g.values)
      p.text({from.x + (g.pitch - t.px(8)) / 2, from.y + g.cell + t.px(1)},
             widgets::format(out.stored.values[i], "", 3), picture.lost[i] != 0 ? t.bad : t.muted, Type::small,
             Font::mono, Align::center);
  }
}

}  // namespace chapters::precision::block_formats
