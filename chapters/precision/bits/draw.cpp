#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/bits/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/controls/button.h"

namespace chapters::precision::bits {
namespace {

using models::FloatFormat, widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// The value put together from the parts, each in its colour: sign x 2^power x significand = value. Two lines where one
/// is too short. Returns the height in px.
float draw_formula(const Outputs& out, const Picture& picture, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const FloatFormat& f = *picture.format;
  const Painter p = Painter::window();
  float x = at.x;
  const float y = at.y + t.px(5);
  const auto put = [&](std::string_view s, ImU32 colour, Type type = Type::body, float up = 0) {
    x += p.text({x, y - up}, s, colour, type, Font::mono);
  };
  if (!picture.plain_formula.empty()) {
    put(picture.plain_formula, t.text);
  } else {
    if (f.sign_bits) {
      put(out.sign ? "-1" : "+1", colour_of(BitPart::sign));
      put(" \xC3\x97 ", t.muted);
    }
    put("2", colour_of(BitPart::exponent));
    put(picture.power_text, colour_of(BitPart::exponent), Type::small, t.px(6));
    if (!picture.significand_text.empty()) {
      put(" \xC3\x97 ", t.muted);
      put(picture.significand_text, colour_of(BitPart::mantissa));
    }
  }
  put(" = ", t.muted);
  const float needed = widgets::text_size(picture.value_text, Type::body, Font::mono).x;
  const bool below = x + needed > at.x + width;
  const ImVec2 value_at = below ? ImVec2{at.x, y + t.px(22)} : ImVec2{x, y};
  widgets::fit_text(p, value_at, picture.value_text, at.x + width - value_at.x, t.text, Type::body, Font::mono);
  return t.px(below ? 52 : 30);
}

/// A number to type, and values worth going to with one press, in one row: those without room are left out.
void draw_steps(Inputs& in, const Picture& picture, View& view, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const FloatFormat& f = *picture.format;
  ImGui::SetCursorScreenPos(at);
  const float box = std::min(t.px(176), width);
  ImGui::SetNextItemWidth(box);
  ImGui::PushFont(widgets::font_of(Font::mono), t.type(Type::small));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(8), t.px(6)});
  if (ImGui::InputTextWithHint("##type a number", "0.1, 1/3, 2^-24, inf", view.typed, sizeof view.typed,
                               ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll)) {
    view.bad = !take_typed(in, view.typed);
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
  if (view.bad && ImGui::IsItemHovered())
    widgets::tip("That reads as no number between 5e-324 and 1.8e308",
                 "0.1, 6e-8, -0, 1/3, 2^-24, 0x1.8p3, inf and nan do");
  float x = at.x + box;
  bool full = false;
  const auto button = [&](const char* label) {
    const float wide = widgets::button_size(label).x;
    full = full || x + t.px(6) + wide > at.x + width;
    if (full) return false;
    ImGui::SetCursorScreenPos({x + t.px(6), at.y});
    x += t.px(6) + wide;
    return widgets::button(label);
  };
  if (picture.down && button("next down")) show_code(in, f, *picture.down);
  if (picture.up && button("next up")) show_code(in, f, *picture.up);
  for (const Jump& jump : picture.jumps)
    if (button(jump.label)) show_code(in, f, jump.code);
}

/// The format's name and layout, the kind of the value and its code. Returns the height in px.
float draw_title(const Outputs& out, const Picture& picture, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float y = at.y + (t.type(Type::title) - t.type(Type::body)) / 2;
  const float code = p.text({at.x + width, y}, out.code, t.text, Type::body, Font::mono, Align::right) + t.px(12);
  const float kind =
      p.text({at.x + width - code, y + t.px(1)}, out.kind, t.accent, Type::small, Font::sans, Align::right) + t.px(12);
  const float name = p.text(at, picture.format->name, t.text, Type::title, Font::bold) + t.px(12);
  const float room = width - name - code - kind;
  if (widgets::text_size(picture.title_note, Type::small).x <= room)
    p.text({at.x + name, y + t.px(2)}, picture.title_note, t.muted, Type::small);
  return t.type(Type::title) + t.px(9);
}

/// What a question gives: the format, its empty tiles and the number that is stored.
void draw_given(Inputs& in, const Picture& picture, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 inset = veil_inset(), at = ImGui::GetCursorScreenPos(), corner{at.x + inset.x, at.y + inset.y};
  size.x -= 2 * inset.x;
  const float name = p.text(corner, picture.format->name, t.text, Type::title, Font::bold) + t.px(12);
  widgets::fit_text(p, {corner.x + name, corner.y + t.px(4)}, picture.title_note, size.x - name, t.muted, Type::small);
  const float head = t.type(Type::title) + t.px(12);
  const float bits = draw_bits(in, picture, {corner.x, corner.y + head}, size.x, t.px(58));
  if (!gives_code(in))
    widgets::fit_text(p, {corner.x, corner.y + head + bits + t.px(10)}, picture.given_text, size.x, t.text, Type::body,
                      Font::mono);
}

/// From the top: the code bit by bit, what it is worth, buttons, and the rounding that led to it. The parts that there
/// is no room for are left out, the code and the rounding last.
void draw_code(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float rounding = rounding_height(), bits = t.px(picture.format->bits > 32 ? 116 : 84), formula = t.px(52);
  float y = corner.y;
  if (size.y >= bits + rounding + formula + t.px(30)) y += draw_title(out, picture, {corner.x, y}, size.x);
  const float end = corner.y + size.y;
  const bool steps = end - y >= bits + rounding + formula + t.px(40);
  const float tallest = std::clamp(end - y - rounding - formula - t.px(steps ? 78 : 38), t.px(20), t.px(58));
  y += draw_bits(in, picture, {corner.x, y}, size.x, tallest);
  if (end - y >= rounding + formula) y += draw_formula(out, picture, {corner.x, y}, size.x);
  if (steps) {
    draw_steps(in, picture, view, {corner.x, y + t.px(4)}, size.x);
    y += t.px(44);
  }
  const float spare = std::max(0.0f, end - y - rounding);
  if (picture.octave && spare >= octave_height() + t.px(8)) {
    const float top = y + octave_height() + std::min(spare - octave_height(), t.px(64));
    draw_octave(picture, {corner.x, y + t.px(6)}, size.x, top - t.px(4));
    draw_rounding(in, picture, {corner.x, top}, size.x);
    return;
  }
  draw_rounding(in, picture, {corner.x, y + std::min(spare / 2, t.px(24))}, size.x);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("code",
              {.title = "The code and its rounding",
               .least = {600, 330},
               .ideal = {0, 500},
               .answers = true,
               .marks = "bits of the code, line of the rounding"},
              [&](ImVec2 size) {
                if (!picture.format) return;
                if (widgets::veiled()) return draw_given(in, picture, size);
                draw_code(in, out, picture, view, size);
                widgets::drew("bits of the code");
                widgets::drew("line of the rounding");
              });
  const float rows = static_cast<float>(std::max<std::size_t>(picture.formats.size(), 1)), high = 20 * rows + 22;
  stage.panel("formats", {.title = "In other formats", .least = {520, high}, .ideal = {0, 30 * rows + 24}},
              [&](ImVec2 size) { draw_formats(in, picture, size); });
}

}  // namespace chapters::precision::bits
