#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/number_line/lab.h"
#include "models/numerics/rounding.h"
#include "widgets/base/heading.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::precision::number_line {
namespace {

using models::LineStretch;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

/// Nearest value of the hovered row, in full.
void hover_tip(const Picture& picture, const Frame& frame, float first_row, float pitch) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (mouse.x < frame.left || mouse.x > frame.right || mouse.y < first_row) return;
  const auto at = static_cast<std::size_t>((mouse.y - first_row) / pitch);
  if (at >= picture.rows.size()) return;
  const RowPicture& r = picture.rows[at];
  const double x = models::value_at(*r.format, frame.axis, frame.coordinate(mouse.x));
  const models::NearestValue nearest = models::nearest_value(*r.format, x);
  widgets::Line step, count;
  step.add("step ").add(widgets::format(nearest.step, "")).add(", ").add(models::kind_text(nearest.kind));
  count.add(r.format->name).add(" ").add(code_text(*r.format, nearest.code));
  if (ImGui::BeginTooltip()) {
    ImGui::TextUnformatted(count.c_str());
    const std::string value = models::exact_decimal(nearest.value, 30);
    ImGui::TextUnformatted(value.c_str());
    ImGui::TextUnformatted(step.c_str());
    ImGui::EndTooltip();
  }
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || !picture.format) return;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float width = ImGui::GetContentRegionAvail().x;
  if (view.drawn && view.axis != in.axis) {  // A stretch of the other axis says nothing on this one.
    view.from = 0;
    view.to = 0;
  }
  view.axis = in.axis;
  view.drawn = true;
  Frame frame{0, 0, in.axis,
              view.to > view.from ? LineStretch{view.from, view.to} : models::whole_line(picture.formats, in.axis)};
  const bool curve = out.tensor.spread != models::ValueSpread::none;
  static constexpr std::string_view titles[] = {"Magnitudes by power of two", "By value",
                                                "By ULP: from zero to the largest value of each format"};
  static_assert(std::size(titles) == static_cast<std::size_t>(models::LineAxis::ordinal) + 1);
  widgets::heading(titles[static_cast<std::size_t>(in.axis)],
                   curve ? std::string_view(picture.spread_text)
                         : std::string_view("a line a value; brighter where many share a pixel"),
                   width, widgets::HeadingMore::beside);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  frame.left = std::floor(corner.x + t.px(width > t.px(560) ? 142 : 84));
  const float fate_w = curve && width > t.px(640) ? t.px(128) : 0;
  frame.right = std::floor(corner.x + width - t.px(4) - fate_w);
  draw_buttons(out, picture, view, frame, width);

  const float curve_h = curve ? t.px(88) : t.px(6), axis_h = t.px(28),
              rows = static_cast<float>(std::max<std::size_t>(out.rows.size(), 1));
  // Rows are taller where the canvas has room.
  const float spare = ImGui::GetContentRegionAvail().y - curve_h - axis_h - t.px(34) - rows * t.px(52);
  const float pitch = t.px(52) + std::floor(std::clamp(spare / rows, 0.0f, t.px(20))), row = pitch - t.px(12);
  const float height = curve_h + pitch * rows + axis_h;
  const widgets::Rect area = widgets::canvas("number line", {width, height}, {t.px(200), height});
  take_input(view, frame);
  const bool hovered = ImGui::IsItemHovered() && !ImGui::IsItemActive();
  if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible) p.frame(area.min, area.max, t.accent, 1, t.px(4));
  const float first_row = area.min.y + curve_h + t.px(8),
              bottom = first_row + pitch * static_cast<float>(out.rows.size()) - t.px(6);
  view.rows.resize(std::max(view.rows.size(), out.rows.size()));
  paint_curve(p, out, picture, view, frame, area.min.y, curve_h);
  paint_ticks(p, frame, area.min.y, std::max(bottom, first_row));
  for (std::size_t i = 0; i < out.rows.size(); ++i) {
    const RowPicture& r = picture.rows[i];
    const float top = first_row + pitch * static_cast<float>(i);
    refresh_row(view.rows[i], *r.format, frame);
    paint_row(p, out.rows[i], r, view.rows[i], frame, top, row);
    if (fate_w > 0)
      paint_fate(p, out.rows[i], r.fate_text, frame.right + t.px(16), area.max.x, top + (row - t.px(40)) / 2);
    const bool focus = r.format == picture.format;
    widgets::fit_text(p, {area.min.x, top + (row - t.px(40)) / 2 + t.px(1)}, r.format->name,
                      frame.left - area.min.x - t.px(8), focus ? t.accent : t.text, Type::body, Font::bold);
    widgets::fit_text(p, {area.min.x, top + (row - t.px(40)) / 2 + t.px(20)}, r.note, frame.left - area.min.x - t.px(6),
                      t.muted, Type::small);
  }
  if (fate_w > 0 && !out.rows.empty())
    p.text({frame.right + t.px(16), first_row - t.px(22)}, "what becomes of them", t.muted, Type::small);
  if (out.rows.empty()) p.text({frame.left, first_row}, "Choose a format under Rows.", t.muted, Type::small);
  if (hovered) hover_tip(picture, frame, first_row, pitch);
  const auto square = [&](ImVec2 at, ImU32 colour, std::string_view text) {
    p.rect({at.x, at.y + t.px(3)}, {at.x + t.px(10), at.y + t.px(13)}, colour, t.px(2));
    return t.px(16) + p.text({at.x + t.px(16), at.y}, text, t.muted, Type::small) + t.px(18);
  };
  ImVec2 at = ImGui::GetCursorScreenPos();
  at.x = frame.left;
  at.x += square(at, colour_of(BitPart::mantissa), "normal");
  at.x += square(at, colour_of(BitPart::exponent), "subnormal");
  at.x += square(at, widgets::with_alpha(t.of(widgets::Meaning::data_loading), 0.5f), "rounded to zero");
  at.x += square(at, widgets::with_alpha(t.of(widgets::Meaning::optimizer), 0.5f), "past the largest");
  if (at.x + t.px(260) < frame.right)
    p.text({frame.right, at.y}, "wheel zooms, drag moves, double click: all of it", t.muted, Type::small, Font::sans,
           widgets::Align::right);
  ImGui::Dummy({width, t.px(24)});
}

}  // namespace chapters::precision::number_line
