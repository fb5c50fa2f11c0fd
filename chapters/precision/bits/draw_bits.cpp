#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/bits/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"

namespace chapters::precision::bits {
namespace {

using models::FloatFormat, widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// Sizes of the row of bits; codes of more than 32 bits take two rows.
struct BitGrid {
  int per_row = 1, rows = 1;
  float box = 0, step = 0, group = 0;
};

BitGrid grid_of(const FloatFormat& f, float width) {
  const auto& t = widgets::theme();
  BitGrid g;
  g.rows = f.bits > 32 ? 2 : 1;
  g.per_row = (f.bits + g.rows - 1) / g.rows;
  g.group = t.px(12);
  const float each = (width - 2 * g.group - t.px(4)) / static_cast<float>(g.per_row);
  g.step = std::floor(std::clamp(each, t.px(11), t.px(74)));
  g.box = g.step - t.px(each < t.px(24) ? 2 : 5);
  return g;
}

/// Left edge of each bit within its row, with a gap where a part ends.
float bit_x(const FloatFormat& f, const BitGrid& g, int bit) {
  const int first = f.bits - 1 - (f.bits - 1 - bit) / g.per_row * g.per_row;
  float x = 0;
  for (int b = first; b > bit; --b) x += g.step + (part_of_bit(f, b) != part_of_bit(f, b - 1) ? g.group : 0);
  return x;
}

/// The name of a part with what it reads; its bare name while nothing is to be read.
std::string_view part_name(const Picture& picture, BitPart part, bool empty) {
  if (empty) return part == BitPart::sign ? "sign" : part == BitPart::exponent ? "exponent" : "mantissa";
  return part == BitPart::sign       ? picture.sign_text
         : part == BitPart::exponent ? picture.exponent_text
                                     : picture.mantissa_text;
}

}  // namespace

float draw_bits(Inputs& in, const Picture& picture, ImVec2 at, float width, float tallest) {
  const auto& t = widgets::theme();
  const FloatFormat& f = *picture.format;
  const Painter p = Painter::window();
  const bool empty = widgets::veiled();  // the tiles are given, their bits are not
  const BitGrid g = grid_of(f, width);
  const bool numbered = g.step >= t.px(22);
  const float label = t.type(Type::small) + t.px(6), height = std::min({g.box * 1.12f, tallest, t.px(58)}),
              under = numbered ? t.type(Type::small) + t.px(5) : t.px(6);
  float clear_from = at.x - t.px(1);
  for (int bit = f.bits - 1; bit >= 0; --bit) {
    const int row = (f.bits - 1 - bit) / g.per_row;
    const BitPart part = part_of_bit(f, bit);
    const float top = at.y + label + static_cast<float>(row) * (height + under + t.px(4));
    const ImVec2 min{at.x + bit_x(f, g, bit), top}, max{min.x + g.box, top + height};
    const bool first_of_part = bit == f.bits - 1 || part_of_bit(f, bit + 1) != part;
    if (first_of_part) {  // names of the parts, each from where the one before has ended
      const std::string_view name = part_name(picture, part, empty);
      const float x = std::max(min.x, clear_from);
      if (row == 0 && x + widgets::text_size(name, Type::small, Font::mono).x <= at.x + width)
        clear_from = x + p.text({x, at.y}, name, colour_of(part), Type::small, Font::mono) + t.px(10);
    }
    widgets::Line name;
    name.add("bit ").add_integer(bit);
    if (!empty) ImGui::SetCursorScreenPos(min);
    if (!empty && widgets::press_area(name.c_str(), {g.box, height}))
      show_code(in, f, picture.run->study.code ^ (std::uint64_t{1} << bit));
    const bool hovered = !empty && ImGui::IsItemHovered(),
               focused = !empty && ImGui::IsItemFocused() && ImGui::GetIO().NavVisible,
               set = !empty && (picture.run->study.code >> bit & 1) != 0;
    const ImU32 colour = colour_of(part);
    const float round = std::min(t.px(6), g.box * 0.25f);
    p.rect(min, max, set ? colour : t.card, round);
    p.frame(min, max,
            hovered || focused ? t.text
            : set              ? colour
                               : widgets::with_alpha(colour, 0.75f),
            hovered || focused ? t.px(2) : t.px(1.3f), round);
    const float least = std::min(g.box, height);
    const Type type = least >= t.px(32) ? Type::title : least >= t.px(17) ? Type::body : Type::small;
    if (!empty && g.box >= t.px(8) && height >= t.type(Type::small))
      p.text({(min.x + max.x) / 2, (min.y + max.y - t.type(type)) / 2 - t.px(1)}, set ? "1" : "0",
             set ? widgets::text_on(colour, t) : t.muted, type, Font::mono, Align::center);
    if (numbered) {
      widgets::Line index;
      index.add_integer(bit);
      p.text({(min.x + max.x) / 2, max.y + t.px(2)}, index.view(), t.muted, Type::small, Font::mono, Align::center);
    }
  }
  return label + static_cast<float>(g.rows) * (height + under + t.px(4));
}

}  // namespace chapters::precision::bits
