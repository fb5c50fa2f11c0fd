#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/bits/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"

namespace chapters::precision::bits {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// Columns of the table, in px from its left; bits stand with the beginnings of their mantissas under each other, so
/// that a shorter format reads as the longer one cut off.
struct FormatColumns {
  float bits = 0, cell = 0, mantissa = 0, value = 0, value_end = 0, bar = 0, bar_half = 0, end = 0;
};

FormatColumns columns_of(const Picture& picture, float width) {
  const auto& t = widgets::theme();
  FormatColumns c;
  c.bits = t.px(86);
  c.end = width - t.px(8);
  const float outcome = t.px(86), bars = width >= t.px(640) ? t.px(120) : 0.0f;
  c.bar_half = bars / 2;
  c.bar = c.end - outcome - c.bar_half;
  c.value_end = c.bar - c.bar_half - t.px(10);
  const float cells = static_cast<float>(picture.widest_exponent + picture.widest_mantissa);
  c.cell = std::min(t.px(9), (std::min(width * 0.4f, c.value_end - c.bits - t.px(150)) - t.px(6)) / cells);
  c.cell = std::max(c.cell, 1.0f);
  c.mantissa = c.bits + c.cell * static_cast<float>(picture.widest_exponent) + t.px(3);
  c.value = c.mantissa + c.cell * static_cast<float>(picture.widest_mantissa) + t.px(14);
  return c;
}

/// The bits of a row as small cells, coloured by part: high for a one, low for a zero.
void mini_bits(const Painter& p, float left, float top, float height, const FormatColumns& c, const FormatLine& r) {
  const auto& t = widgets::theme();
  const models::FloatFormat& f = *r.format;
  const int mantissa = f.exponent_bits > 0 ? f.mantissa_bits : f.bits - f.sign_bits;
  for (int bit = 0; bit < f.bits; ++bit) {
    const ImU32 colour = colour_of(part_of_bit(f, bit));
    const int from_left = mantissa - 1 - bit;  // below 0: left of where the mantissa begins
    const float x = left + c.mantissa + c.cell * static_cast<float>(from_left) - (from_left < 0 ? t.px(3) : 0.0f);
    const bool set = (r.bits >> bit & 1) != 0;
    p.rect({x, top + (set ? 0 : height * 0.62f)}, {x + std::max(c.cell - t.px(1), 1.0f), top + height},
           set ? colour : widgets::with_alpha(colour, 0.45f));
  }
}

/// The signed error from the middle: to the left where the stored value is smaller.
void error_bar(const Painter& p, float centre, float top, float height, const FormatColumns& c, const FormatLine& r) {
  const auto& t = widgets::theme();
  if (!(c.bar_half > 0)) return;
  p.line({centre, top}, {centre, top + height}, t.line, t.px(1));
  const float tip = centre + c.bar_half * static_cast<float>(r.bar);
  if (std::abs(tip - centre) > 0.5f)
    p.rect({std::min(centre, tip), top + height * 0.22f}, {std::max(centre, tip), top + height * 0.78f},
           r.lost ? t.bad : t.muted, t.px(1));
}

}  // namespace

void draw_formats(Inputs& in, const Picture& picture, ImVec2 size) {
  if (picture.formats.empty()) return;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const FormatColumns c = columns_of(picture, size.x);
  const float small = t.type(Type::small), head = small + t.px(6);
  const float row = std::min((size.y - head) / static_cast<float>(picture.formats.size()), t.px(32));
  p.text({corner.x + c.bits, corner.y}, "bits, by where the mantissa begins", t.muted, Type::small);
  if (c.bar_half > 0)
    p.text({corner.x + c.bar, corner.y}, "error, log", t.muted, Type::small, Font::sans, Align::center);
  for (std::size_t i = 0; i < picture.formats.size(); ++i) {
    const FormatLine& r = picture.formats[i];
    const ImVec2 at{corner.x, corner.y + head + row * static_cast<float>(i)};
    const float height = row - t.px(2);
    if (height < small) break;
    widgets::Line label;
    label.add("edit ").add(r.format->id);
    ImGui::SetCursorScreenPos(at);
    if (widgets::press_area(label.c_str(), {size.x, height}) && in.format != r.format->id) {
      in.format = r.format->id;
      if (!in.code.empty()) {
        in.value = picture.run->number.value;
        in.code.clear();
      }
    }
    const bool hovered = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible),
               current = r.format == picture.format;
    if (current || hovered) p.rect(at, {at.x + size.x, at.y + height}, t.card, t.px(5));
    if (current) p.rect(at, {at.x + t.px(3), at.y + height}, t.accent, t.px(1));
    const float y = at.y + (height - small) / 2 - t.px(1), bits = std::min(height - t.px(4), t.px(18));
    p.text({at.x + t.px(10), y}, r.format->name, t.text, Type::small, Font::bold);
    mini_bits(p, at.x, at.y + (height - bits) / 2, bits, c, r);
    widgets::fit_text(p, {at.x + c.value, y}, r.value, c.value_end - c.value, r.lost ? t.bad : t.text, Type::small,
                      Font::mono);
    error_bar(p, at.x + c.bar, at.y, height, c, r);
    p.text({at.x + c.end, y}, r.outcome,
           r.lost    ? t.bad
           : r.exact ? t.good
                     : t.text,
           Type::small, Font::mono, Align::right);
  }
}

}  // namespace chapters::precision::bits
