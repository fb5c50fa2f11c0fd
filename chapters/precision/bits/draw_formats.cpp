#include <imgui.h>

#include <algorithm>
#include <array>
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
  float bits = 0, cell = 0, mantissa = 0, value = 0, value_end = 0, axis = 0, axis_width = 0, end = 0;
};

FormatColumns columns_of(const Picture& picture, float width) {
  const auto& t = widgets::theme();
  FormatColumns c;
  c.bits = t.px(86);
  c.end = width - t.px(8);
  const float outcome = t.px(86), axis = width >= t.px(640) ? t.px(190) : 0.0f;
  c.axis_width = axis;
  c.axis = c.end - outcome - axis;
  c.value_end = c.axis - t.px(14);
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

/// The ticks of the axis of errors: a grid line each, and its label over the rows.
struct ErrorTick {
  std::string_view label;
  double percent;
};
constexpr std::array<ErrorTick, 3> error_ticks{{{"1e-12 %", 1e-12}, {"1e-6 %", 1e-6}, {"1 %", 1}}};

float error_x(const FormatColumns& c, float left, double place) {
  return left + c.axis + c.axis_width * static_cast<float>(place);
}

void error_axis(const Painter& p, const FormatColumns& c, ImVec2 corner, float bottom) {
  const auto& t = widgets::theme();
  if (!(c.axis_width > 0)) return;
  for (const ErrorTick& tick : error_ticks) {
    const float x = error_x(c, corner.x, error_place(tick.percent));
    p.line({x, corner.y + t.type(Type::small) + t.px(4)}, {x, bottom}, t.grid, t.px(1));
    p.text({x, corner.y}, tick.label, t.muted, Type::small, Font::sans, Align::center);
  }
}

/// The error as a dot on its axis: a length would say nothing on a logarithm.
void error_dot(const Painter& p, float left, float y, const FormatColumns& c, const FormatLine& r) {
  const auto& t = widgets::theme();
  if (!(c.axis_width > 0) || !std::isfinite(r.error_at)) return;
  p.circle({error_x(c, left, r.error_at), y}, t.px(4), r.lost ? t.bad : t.text);
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
  p.text({corner.x + c.end, corner.y}, "error", t.muted, Type::small, Font::sans, Align::right);
  error_axis(p, c, corner, corner.y + head + row * static_cast<float>(picture.formats.size()));
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
    error_dot(p, at.x, at.y + height / 2, c, r);
    p.text({at.x + c.end, y}, r.outcome,
           r.lost    ? t.bad
           : r.exact ? t.good
                     : t.text,
           Type::small, Font::mono, Align::right);
  }
}

}  // namespace chapters::precision::bits
