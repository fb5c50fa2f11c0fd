#include <imgui.h>

#include <algorithm>

#include "chapters/precision/bits/lab.h"
#include "widgets/base/heading.h"
#include "widgets/base/painter.h"

namespace chapters::precision::bits {
namespace {

using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

/// The bits of a row as small cells, coloured by part.
void mini_bits(const Painter& p, ImVec2 at, float width, float height, const FormatLine& r) {
  const auto& t = widgets::theme();
  const float cell = std::min(width / static_cast<float>(r.format->bits), t.px(9));
  for (int i = 0; i < r.format->bits; ++i) {
    const int bit = r.format->bits - 1 - i;
    const ImU32 colour = colour_of(part_of_bit(*r.format, bit));
    const float x = at.x + cell * static_cast<float>(i);
    const bool set = (r.bits >> bit & 1) != 0;
    p.rect({x, at.y + (set ? 0 : height * 0.62f)}, {x + std::max(cell - t.px(1), 1.0f), at.y + height},
           set ? colour : widgets::with_alpha(colour, 0.4f));
  }
}

}  // namespace

void draw_formats(Inputs& in, const Picture& picture, float width) {
  if (picture.formats.empty()) return;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  widgets::heading("The same number in other formats", "press one to edit it", width, widgets::HeadingMore::beside);
  const float row = t.px(27), name_w = t.px(92), bits_w = std::clamp(width * 0.3f, t.px(110), t.px(300)),
              code_w = t.px(width > t.px(700) ? 168 : 0), error_w = t.px(92);
  for (const FormatLine& r : picture.formats) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    widgets::Line label;
    label.add("edit ").add(r.format->id);
    if (ImGui::InvisibleButton(label.c_str(), {width, row - t.px(2)}, ImGuiButtonFlags_EnableNav) &&
        in.format != r.format->id) {
      in.format = r.format->id;
      if (!in.code.empty()) {
        in.value = picture.number;
        in.code.clear();
      }
    }
    const bool hovered = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible),
               current = r.format == picture.format;
    p.rect(at, {at.x + width, at.y + row - t.px(2)}, current || hovered ? t.card : 0, t.px(5));
    if (current) p.rect(at, {at.x + t.px(3), at.y + row - t.px(2)}, t.accent, t.px(1));
    const float y = at.y + (row - t.px(2) - t.type(Type::small)) / 2 - t.px(1);
    float x = at.x + t.px(10);
    p.text({x, y}, r.format->name, t.text, Type::small, Font::bold);
    x += name_w;
    mini_bits(p, {x, at.y + t.px(5)}, bits_w - t.px(14), row - t.px(12), r);
    x += bits_w;
    if (code_w > 0) widgets::fit_text(p, {x, y}, r.code, code_w - t.px(8), t.muted, Type::small, Font::mono);
    x += code_w;
    widgets::fit_text(p, {x, y}, r.value, at.x + width - error_w - x, r.lost ? t.bad : t.text, Type::small, Font::mono);
    p.text({at.x + width - t.px(8), y}, r.outcome,
           r.lost    ? t.bad
           : r.exact ? t.good
                     : t.muted,
           Type::small, Font::mono, Align::right);
  }
}

}  // namespace chapters::precision::bits
