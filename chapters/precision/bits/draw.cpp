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

/// The value put together from the parts, each in its colour: sign x 2^power x significand = value.
void draw_formula(const Outputs& out, const Picture& picture, float width) {
  const auto& t = widgets::theme();
  const FloatFormat& f = *picture.format;
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float x = at.x;
  const float y = at.y + t.px(5);
  const auto put = [&](std::string_view s, ImU32 colour, Type type = Type::body, float up = 0) {
    x += p.text({x, y - up}, s, colour, type, Font::mono);
  };
  if (!picture.plain_formula.empty()) {
    put(picture.plain_formula, t.text);
  } else {
    if (f.sign_bits) {
      put(out.sign ? "-1" : "+1", text_colour_of(BitPart::sign));
      put(" \xC3\x97 ", t.muted);
    }
    put("2", text_colour_of(BitPart::exponent));
    put(picture.power_text, text_colour_of(BitPart::exponent), Type::small, t.px(6));
    if (!picture.significand_text.empty()) {
      put(" \xC3\x97 ", t.muted);
      put(picture.significand_text, text_colour_of(BitPart::mantissa));
    }
  }
  put(" = ", t.muted);
  // The digits take a line of their own where they would be cut.
  const float needed = widgets::text_size(out.exact, Type::body, Font::mono).x;
  const bool below = x + needed > at.x + width;
  const ImVec2 value_at = below ? ImVec2{at.x, y + t.px(22)} : ImVec2{x, y};
  widgets::fit_text(p, value_at, out.exact, at.x + width - value_at.x, t.text, Type::body, Font::mono);
  ImGui::Dummy({width, t.px(below ? 52 : 32)});
}

/// Values worth going to with one press.
void draw_steps(Inputs& in, const Picture& picture, View& view, float width) {
  const auto& t = widgets::theme();
  const FloatFormat& f = *picture.format;
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
    if (number) {
      in.value = *number;
      in.code.clear();
    }
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
  if (view.bad && ImGui::IsItemHovered())
    widgets::tip("That reads as no number", "0.1, 6e-8, -0, 1/3, 2^-24, 0x1.8p3, inf and nan do");
  widgets::next_button("next down", right);
  ImGui::BeginDisabled(!picture.down);
  if (widgets::button("next down") && picture.down) show_code(in, f, *picture.down);
  ImGui::EndDisabled();
  widgets::next_button("next up", right);
  ImGui::BeginDisabled(!picture.up);
  if (widgets::button("next up") && picture.up) show_code(in, f, *picture.up);
  ImGui::EndDisabled();
  for (const Jump& jump : picture.jumps) {
    widgets::next_button(jump.label, right);
    if (widgets::button(jump.label)) show_code(in, f, jump.code);
  }
  ImGui::PopStyleVar();
  ImGui::Dummy({width, t.px(8)});
}

void draw_title(const Outputs& out, const Picture& picture, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float code =
      p.text({at.x + width, at.y + t.px(3)}, out.code, t.text, Type::body, Font::mono, Align::right) + t.px(12);
  const float kind =
      p.text({at.x + width - code, at.y + t.px(5)}, out.kind, t.accent, Type::small, Font::sans, Align::right) +
      t.px(12);
  const float name = p.text(at, picture.format->name, t.text, Type::title, Font::bold) + t.px(12);
  widgets::fit_text(p, {at.x + name, at.y + t.px(7)}, picture.title_note, width - name - code - kind, t.muted,
                    Type::small);
  ImGui::Dummy({width, t.type(Type::title) + t.px(10)});
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || !picture.format) return;
  const float width = ImGui::GetContentRegionAvail().x;
  draw_title(out, picture, width);
  draw_bits(in, out, picture, width);
  draw_formula(out, picture, width);
  draw_steps(in, picture, view, width);
  draw_rounding(in, out, picture, width);
  draw_formats(in, picture, width);
}

}  // namespace chapters::precision::bits
