#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/bits/lab.h"
#include "widgets/base/painter.h"
#include "widgets/controls/button.h"

namespace chapters::precision::bits {
namespace {

using models::FloatFormat;
using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

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

void draw_bits(Inputs& in, const Outputs& out, float width) {
  const auto& t = widgets::theme();
  const FloatFormat& f = *out.format;
  const Painter p = Painter::window();
  const BitGrid g = grid_of(f, width);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool numbered = g.step >= t.px(22);
  const float label = t.type(Type::small) + t.px(6), height = std::min(g.box * 1.12f, t.px(58)),
              under = numbered ? t.type(Type::small) + t.px(5) : t.px(6);
  float clear_from = at.x - t.px(1);
  for (int bit = f.bits - 1; bit >= 0; --bit) {
    const int row = (f.bits - 1 - bit) / g.per_row;
    const BitPart part = part_of_bit(f, bit);
    const float top = at.y + label + static_cast<float>(row) * (height + under + t.px(4));
    const ImVec2 min{at.x + bit_x(f, g, bit), top}, max{min.x + g.box, top + height};
    const bool first_of_part = bit == f.bits - 1 || part_of_bit(f, bit + 1) != part;
    if (first_of_part) {  // names of the parts, each from where the one before has ended
      const std::string& name = part == BitPart::sign       ? out.sign_text
                                : part == BitPart::exponent ? out.exponent_text
                                                            : out.mantissa_text;
      const float x = std::max(min.x, clear_from);
      if (row == 0 && x + t.px(8) < at.x + width)
        clear_from = x + p.text({x, at.y}, name, text_colour_of(part), Type::small, Font::mono) + t.px(10);
    }
    widgets::Line name;
    name.add("bit ").add_integer(bit);
    ImGui::SetCursorScreenPos(min);
    if (ImGui::InvisibleButton(name.c_str(), {g.box, height}, ImGuiButtonFlags_EnableNav))
      show_code(in, f, out.bits ^ (std::uint64_t{1} << bit));
    const bool hovered = ImGui::IsItemHovered(), focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible,
               set = (out.bits >> bit & 1) != 0;
    const ImU32 colour = colour_of(part);
    const float round = std::min(t.px(6), g.box * 0.25f);
    p.rect(min, max, set ? colour : t.card, round);
    p.frame(min, max,
            hovered || focused ? t.text
            : set              ? colour
                               : widgets::with_alpha(colour, 0.75f),
            hovered || focused ? t.px(2) : t.px(1.3f), round);
    const Type type = g.box >= t.px(32) ? Type::title : g.box >= t.px(17) ? Type::body : Type::small;
    if (g.box >= t.px(8))
      p.text({(min.x + max.x) / 2, (min.y + max.y - t.type(type)) / 2 - t.px(1)}, set ? "1" : "0",
             set ? t.on_colour : t.muted, type, Font::mono, Align::center);
    if (numbered) {
      widgets::Line index;
      index.add_integer(bit);
      p.text({(min.x + max.x) / 2, max.y + t.px(2)}, index.view(), t.muted, Type::small, Font::mono, Align::center);
    }
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, label + static_cast<float>(g.rows) * (height + under + t.px(4))});
}

/// The value put together from the parts, each in its colour: sign x 2^power x significand = value.
void draw_formula(const Outputs& out, float width) {
  const auto& t = widgets::theme();
  const FloatFormat& f = *out.format;
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float x = at.x;
  const float y = at.y + t.px(5);
  const auto put = [&](std::string_view s, ImU32 colour, Type type = Type::body, float up = 0) {
    x += p.text({x, y - up}, s, colour, type, Font::mono);
  };
  if (!out.plain_formula.empty()) {
    put(out.plain_formula, t.text);
  } else {
    if (f.sign_bits) {
      put(out.sign ? "-1" : "+1", text_colour_of(BitPart::sign));
      put(" \xC3\x97 ", t.muted);
    }
    put("2", text_colour_of(BitPart::exponent));
    put(out.power_text, text_colour_of(BitPart::exponent), Type::small, t.px(6));
    if (!out.significand_text.empty()) {
      put(" \xC3\x97 ", t.muted);
      put(out.significand_text, text_colour_of(BitPart::mantissa));
    }
  }
  put(" = ", t.muted);
  // On a line of its own where the digits would be cut
  const float needed = widgets::text_size(out.exact, Type::body, Font::mono).x;
  const bool below = x + needed > at.x + width;
  const ImVec2 value_at = below ? ImVec2{at.x, y + t.px(22)} : ImVec2{x, y};
  widgets::fit_text(p, value_at, out.exact, at.x + width - value_at.x, t.text, Type::body, Font::mono);
  ImGui::Dummy({width, t.px(below ? 52 : 32)});
}

/// Values worth going to with one press.
void draw_steps(Inputs& in, const Outputs& out, View& view, float width) {
  const auto& t = widgets::theme();
  const FloatFormat& f = *out.format;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + width;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(6), t.px(6)});
  ImGui::SetNextItemWidth(t.px(190));
  ImGui::PushFont(widgets::font_of(Font::mono), t.type(Type::small));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(8), t.px(5)});
  if (ImGui::InputTextWithHint("##type a number", "0.1, -0, 1/3, 2^-24, inf", view.typed, sizeof view.typed,
                               ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll)) {
    const auto number = read_number(view.typed);
    view.bad = !number;
    if (number) in.value = *number, in.code.clear();
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
  if (view.bad && ImGui::IsItemHovered())
    widgets::tip("That reads as no number", "0.1, 6e-8, -0, 1/3, 2^-24, 0x1.8p3, inf and nan do");
  widgets::next_button("next down", right);
  ImGui::BeginDisabled(!out.down);
  if (widgets::button("next down") && out.down) show_code(in, f, *out.down);
  ImGui::EndDisabled();
  widgets::next_button("next up", right);
  ImGui::BeginDisabled(!out.up);
  if (widgets::button("next up") && out.up) show_code(in, f, *out.up);
  ImGui::EndDisabled();
  for (const Jump& jump : out.jumps) {
    widgets::next_button(jump.label, right);
    if (widgets::button(jump.label)) show_code(in, f, jump.code);
  }
  ImGui::PopStyleVar();
  ImGui::Dummy({width, t.px(8)});
}

void draw_title(const Outputs& out, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float code =
      p.text({at.x + width, at.y + t.px(3)}, out.code, t.text, Type::body, Font::mono, Align::right) + t.px(12);
  const float kind =
      p.text({at.x + width - code, at.y + t.px(5)}, out.kind, t.accent, Type::small, Font::sans, Align::right) +
      t.px(12);
  const float name = p.text(at, out.format->name, t.text, Type::title, Font::bold) + t.px(12);
  widgets::fit_text(p, {at.x + name, at.y + t.px(7)}, out.title_note, width - name - code - kind, t.muted, Type::small);
  ImGui::Dummy({width, t.type(Type::title) + t.px(10)});
}

}  // namespace

void draw(Inputs& in, const Outputs& out, View& view) {
  if (!out.reason.empty() || !out.format) return;
  const float width = ImGui::GetContentRegionAvail().x;
  draw_title(out, width);
  draw_bits(in, out, width);
  draw_formula(out, width);
  draw_steps(in, out, view, width);
  draw_rounding(in, out, width);
  draw_formats(in, out, width);
}

}  // namespace chapters::precision::bits
