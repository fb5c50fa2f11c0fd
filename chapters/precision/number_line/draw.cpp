#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/number_line/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::precision::number_line {
namespace {

using models::LineStretch, widgets::Font, widgets::Painter, widgets::Type;

/// Nearest value of the hovered row, in full.
void hover_tip(const Picture& picture, const Frame& frame, float first_row, float pitch) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (mouse.x < frame.left || mouse.x > frame.right || mouse.y < first_row) return;
  const auto at = static_cast<std::size_t>((mouse.y - first_row) / pitch);
  if (at >= picture.rows.size()) return;
  const RowPicture& r = picture.rows[at];
  const ValueWords words = words_at(*r.format, frame.axis, frame.coordinate(mouse.x));
  widgets::tip(words.code, words.value, words.step);
}

/// Where the parts of the picture stand, in screen pixels.
struct LineParts {
  float words = 0, curve = 0, curve_h = 0, first_row = 0, pitch = 0, row = 0, bottom = 0, legend = 0;
  std::size_t rows = 0;
};

LineParts place_parts(ImVec2 corner, ImVec2 size, float buttons_bottom, std::size_t rows, bool curve) {
  const auto& t = widgets::theme();
  LineParts l;
  const float line = t.type(Type::small) + t.px(5), end = corner.y + size.y;
  l.words = buttons_bottom;
  l.legend = end - t.type(Type::small) - t.px(3);
  l.bottom = l.legend - line - t.px(7);
  l.curve = l.words + (curve ? line + t.px(4) : 0.0f);
  const float room = l.bottom - l.curve, least = t.px(18);
  l.curve_h = curve ? std::clamp(room * 0.22f, t.px(16), t.px(120)) : t.px(4);
  const float each = std::max(room - l.curve_h - t.px(8), least);
  l.rows = std::min(rows, static_cast<std::size_t>(std::max(1.0f, each / least)));
  l.pitch = std::floor(each / static_cast<float>(std::max<std::size_t>(l.rows, 1)));
  l.first_row = l.curve + l.curve_h + t.px(8);
  l.row = l.pitch - t.px(l.pitch >= t.px(40) ? 10 : 3);
  return l;
}

void paint_name(const Painter& p, const RowPicture& r, bool chosen, float left, float room, float top, float height) {
  const auto& t = widgets::theme();
  const bool two = height >= t.type(Type::body) + t.type(Type::small) + t.px(6);
  const float block = two ? t.type(Type::body) + t.type(Type::small) + t.px(4) : t.type(Type::body);
  const float y = top + (height - block) / 2 - t.px(1);
  widgets::fit_text(p, {left, y}, r.format->name, room, chosen ? t.accent : t.text, Type::body, Font::bold);
  if (two && widgets::text_size(r.note, Type::small).x <= room)
    p.text({left, y + t.type(Type::body) + t.px(4)}, r.note, t.muted, Type::small);
}

/// At the left of the ticks: the rows that have no room, or else what the axis counts.
void paint_axis_name(const Painter& p, models::LineAxis axis, std::size_t left_out, ImVec2 at, float room) {
  const auto& t = widgets::theme();
  widgets::Line words;
  if (left_out > 0)
    words.add("and ").add_integer(static_cast<std::int64_t>(left_out)).add(" more");
  else
    words.add(axis == models::LineAxis::ordinal ? "share of the codes"
              : axis == models::LineAxis::log2  ? "magnitude"
                                                : "value");
  widgets::fit_text(p, at, words.view(), room, t.muted, Type::small);
}

/// The axis at the left of which the names of `size` px stand, and at whose right `fate_w` px stay free.
Frame frame_of(const Inputs& in, LineStretch stretch, ImVec2 corner, ImVec2 size, float fate_w) {
  const auto& t = widgets::theme();
  return {std::floor(corner.x + t.px(size.x > t.px(560) ? 146 : 84)), std::floor(corner.x + size.x - t.px(4) - fate_w),
          in.axis, stretch};
}

/// What a question gives: the axis, the numbers over it, and the formats by name.
void draw_given(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 inset = veil_inset(), at = ImGui::GetCursorScreenPos(), corner{at.x + inset.x, at.y + inset.y};
  size = {size.x - 2 * inset.x, size.y - 2 * inset.y};
  const Frame frame = frame_of(in, picture.whole, corner, size, 0);
  const bool curve = picture.run->tensor.spread != models::ValueSpread::none;
  const LineParts l = place_parts(corner, size, corner.y, picture.rows.size(), curve);
  if (curve) widgets::fit_text(p, {corner.x, l.words}, picture.spread_text, size.x, t.muted, Type::small);
  paint_ticks(p, frame, l.curve, l.bottom);
  refresh_curve(out, picture, view, frame);
  paint_curve(p, view, frame, l.curve, l.curve_h, false);
  for (std::size_t i = 0; i < l.rows && i < picture.rows.size(); ++i) {
    const float y = l.first_row + l.pitch * static_cast<float>(i);
    p.frame({frame.left, y}, {frame.right, y + l.row}, widgets::with_alpha(t.muted, 0.55f), t.px(1.3f), t.px(2));
    paint_name(p, picture.rows[i], picture.rows[i].format == picture.format, corner.x, frame.left - corner.x - t.px(8),
               y, l.row);
  }
}

/// The bell of the numbers over the values of each format, on one axis.
void draw_line(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  if (view.drawn && view.axis != in.axis) {  // A stretch of the other axis says nothing on this one.
    view.from = 0;
    view.to = 0;
  }
  view.axis = in.axis;
  view.drawn = true;
  const bool curve = picture.run->tensor.spread != models::ValueSpread::none;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float fate_w = curve && size.x > t.px(600) ? t.px(128) : 0;
  const Frame frame =
      frame_of(in, view.to > view.from ? LineStretch{view.from, view.to} : picture.whole, corner, size, fate_w);
  float top = corner.y;
  if (size.y >= t.px(300)) {
    draw_buttons(out, picture, view, frame, size.x);
    top += t.px(38);
  }
  const LineParts l = place_parts(corner, size, top, out.rows.size(), curve);
  ImGui::SetCursorScreenPos({corner.x, top});
  const widgets::Rect area =
      widgets::canvas("number line", {size.x, std::max(1.0f, l.legend - top - t.px(2))}, {1.0f, 1.0f});
  if (!drag_bell(in, view, frame, l.curve, l.curve + l.curve_h)) take_input(view, frame);
  const bool hovered = ImGui::IsItemHovered() && !ImGui::IsItemActive();
  if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible) p.frame(area.min, area.max, t.accent, 1, t.px(4));
  view.rows.resize(std::max(view.rows.size(), out.rows.size()));
  if (curve) {
    widgets::fit_text(p, {corner.x, l.words}, picture.spread_text, frame.right - corner.x, t.muted, Type::small);
    const float after = corner.x + widgets::text_size(picture.spread_text, Type::small).x + t.px(14);
    if (after + widgets::text_size(picture.bell_text, Type::small).x <= frame.right)
      p.text({after, l.words}, picture.bell_text, t.muted, Type::small);
    if (fate_w > 0 && !out.rows.empty())
      p.text({frame.right + t.px(12), l.first_row - t.px(20)}, "what they become", t.muted, Type::small);
  }
  paint_ticks(p, frame, l.curve, l.bottom);
  paint_axis_name(p, in.axis, l.rows < out.rows.size() ? out.rows.size() - l.rows : 0, {corner.x, l.bottom + t.px(6)},
                  frame.left - t.px(24) - corner.x);
  refresh_curve(out, picture, view, frame);
  paint_unscaled(p, in.scale, view, frame, l.curve, l.curve_h);
  paint_curve(p, view, frame, l.curve, l.curve_h, true);
  for (std::size_t i = 0; i < l.rows && i < out.rows.size(); ++i) {
    const RowPicture& r = picture.rows[i];
    const float y = l.first_row + l.pitch * static_cast<float>(i);
    refresh_row(view.rows[i], *r.format, frame);
    paint_row(p, out.rows[i], r, view.rows[i], frame, y, l.row);
    if (fate_w > 0)
      paint_fate(p, out.rows[i], r.fate_text, r.format == picture.format, frame.right + t.px(12), corner.x + size.x, y,
                 l.row);
    paint_name(p, r, r.format == picture.format, corner.x, frame.left - corner.x - t.px(8), y, l.row);
  }
  if (out.rows.empty()) p.text({frame.left, l.first_row}, "Choose a format under Rows.", t.muted, Type::small);
  if (hovered) hover_tip(picture, frame, l.first_row, l.pitch);
  paint_legend(p, {frame.left, l.legend}, frame.right);
  widgets::drew("rows of values");
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "line",
      {.title = "The formats and your numbers", .least = {640, 330}, .answers = true, .marks = "rows of values"},
      [&](ImVec2 size) {
        if (!picture.format) return;
        if (widgets::veiled()) return draw_given(in, out, picture, view, size);
        draw_line(in, out, picture, view, size);
      });
}

}  // namespace chapters::precision::number_line
