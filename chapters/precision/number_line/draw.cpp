#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/number_line/lab.h"
#include "models/numerics/rounding.h"
#include "widgets/base/heading.h"
#include "widgets/base/parts.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::precision::number_line {
namespace {

using models::LineAxis;
using models::LineStretch;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

void set(View& view, LineAxis axis, LineStretch s) {
  const double center = (s.lo + s.hi) / 2, least = models::min_span(axis, center);
  if (!(s.hi - s.lo >= least)) s = {center - least / 2, center + least / 2};
  if (!std::isfinite(s.hi - s.lo) || !(s.hi > s.lo) || std::max(std::abs(s.lo), std::abs(s.hi)) > 1.79e308) return;
  view.from = s.lo;
  view.to = s.hi;
}

void zoom(View& view, const Frame& frame, double about, double by) {
  set(view, frame.axis, {about + (frame.stretch.lo - about) * by, about + (frame.stretch.hi - about) * by});
}

void pan(View& view, const Frame& frame, double share) {
  const double shift = (frame.stretch.hi - frame.stretch.lo) * share;
  set(view, frame.axis, {frame.stretch.lo + shift, frame.stretch.hi + shift});
}

/// Mouse and keys over the whole picture, as in a plot.
void take_input(View& view, const Frame& frame) {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsItemHovered()) {
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    if (io.MouseWheel != 0.0f)
      zoom(view, frame, frame.coordinate(io.MousePos.x), std::pow(0.8, static_cast<double>(io.MouseWheel)));
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) view.from = view.to = 0;
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f) && io.MouseDelta.x != 0.0f)
    pan(view, frame, static_cast<double>(-io.MouseDelta.x / (frame.right - frame.left)));
  if (!ImGui::IsItemFocused() || !io.NavVisible) return;
  const double middle = (frame.stretch.lo + frame.stretch.hi) / 2;
  for (const ImGuiKey key : {ImGuiKey_LeftArrow, ImGuiKey_RightArrow}) ImGui::SetKeyOwner(key, ImGui::GetItemID());
  if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow)) pan(view, frame, -0.1);
  if (ImGui::IsKeyPressed(ImGuiKey_RightArrow)) pan(view, frame, 0.1);
  if (ImGui::IsKeyPressed(ImGuiKey_Equal) || ImGui::IsKeyPressed(ImGuiKey_KeypadAdd)) zoom(view, frame, middle, 0.5);
  if (ImGui::IsKeyPressed(ImGuiKey_Minus) || ImGui::IsKeyPressed(ImGuiKey_KeypadSubtract)) zoom(view, frame, middle, 2);
  if (ImGui::IsKeyPressed(ImGuiKey_0) || ImGui::IsKeyPressed(ImGuiKey_Home)) view.from = view.to = 0;
}

void draw_buttons(const Outputs& out, View& view, const Frame& frame, float width) {
  const auto& t = widgets::theme();
  const models::FloatFormat& f = *out.format;
  const float right = ImGui::GetCursorScreenPos().x + width;
  const double middle = (frame.stretch.lo + frame.stretch.hi) / 2;
  bool first = true;
  const auto button = [&](const char* label) {
    if (!first) widgets::next_button(label, right);
    first = false;
    return widgets::button(label);
  };
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(6), t.px(6)});
  if (button("all of it")) view.from = view.to = 0;
  if (button("closer")) zoom(view, frame, middle, 0.25);
  if (button("farther")) zoom(view, frame, middle, 4);
  const auto go = [&](const char* label, double x) {
    if (button(label)) set(view, frame.axis, models::around(f, frame.axis, x, 2));
  };
  go("single values at 1", 1);
  if (frame.axis != LineAxis::log2) go("at 0", 0);
  go("smallest", out.limits.min_positive);
  if (out.limits.subnormal_codes > 0) go("first normal", out.limits.min_normal);
  go("largest", out.limits.max_finite);
  ImGui::PopStyleVar();
  ImGui::Dummy({width, t.px(6)});
}

/// Nearest value of the hovered row, in full.
void hover_tip(const Outputs& out, const Frame& frame, float first_row, float pitch) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (mouse.x < frame.left || mouse.x > frame.right || mouse.y < first_row) return;
  const auto at = static_cast<std::size_t>((mouse.y - first_row) / pitch);
  if (at >= out.rows.size()) return;
  const Row& r = out.rows[at];
  const double x = models::value_at(*r.format, frame.axis, frame.coordinate(mouse.x));
  const auto code = models::encode(*r.format, x, models::Rounding::nearest_even, models::Overflow::saturate);
  const double v = models::decode(*r.format, code);
  widgets::Line step, count;
  step.add("step ")
      .add(widgets::format(models::ulp(*r.format, code), ""))
      .add(", ")
      .add(models::kind_text(models::classify(*r.format, code)));
  count.add(r.name).add(" ").add(code_text(*r.format, code));
  if (ImGui::BeginTooltip()) {
    ImGui::TextUnformatted(count.c_str());
    const std::string value = models::exact_decimal(v, 30);
    ImGui::TextUnformatted(value.c_str());
    ImGui::TextUnformatted(step.c_str());
    ImGui::EndTooltip();
  }
}

}  // namespace

void draw(Inputs& in, const Outputs& out, View& view) {
  if (!out.reason.empty() || !out.format) return;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float width = ImGui::GetContentRegionAvail().x;
  if (view.drawn && view.axis != in.axis)
    view.from = view.to = 0;  // a stretch of the other axis says nothing on this one
  view.axis = in.axis;
  view.drawn = true;
  Frame frame{0, 0, in.axis,
              view.to > view.from ? LineStretch{view.from, view.to} : models::whole_line(out.formats, in.axis)};
  const bool curve = out.tensor.spread != models::ValueSpread::none;
  static constexpr std::string_view titles[] = {"Magnitudes by power of two", "By value",
                                                "By ULP: from zero to the largest value of each format"};
  widgets::heading(
      titles[static_cast<std::size_t>(in.axis)],
      curve ? std::string_view(out.spread_text) : std::string_view("a line a value; brighter where many share a pixel"),
      width, widgets::HeadingMore::beside);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  frame.left = std::floor(corner.x + t.px(width > t.px(560) ? 142 : 84));
  const float fate_w = curve && width > t.px(640) ? t.px(128) : 0;
  frame.right = std::floor(corner.x + width - t.px(4) - fate_w);
  draw_buttons(out, view, frame, width);

  const float curve_h = curve ? t.px(88) : t.px(6), axis_h = t.px(28),
              rows = static_cast<float>(std::max<std::size_t>(out.rows.size(), 1));
  // Taller rows where the canvas has room
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
  paint_curve(p, out, view, frame, area.min.y, curve_h);
  paint_ticks(p, frame, area.min.y, std::max(bottom, first_row));
  for (std::size_t i = 0; i < out.rows.size(); ++i) {
    const Row& r = out.rows[i];
    const float top = first_row + pitch * static_cast<float>(i);
    refresh_row(view.rows[i], *r.format, frame);
    paint_row(p, r, view.rows[i], frame, top, row);
    if (fate_w > 0) paint_fate(p, r, frame.right + t.px(16), area.max.x, top + (row - t.px(40)) / 2);
    const bool focus = r.format == out.format;
    widgets::fit_text(p, {area.min.x, top + (row - t.px(40)) / 2 + t.px(1)}, r.name, frame.left - area.min.x - t.px(8),
                      focus ? t.accent : t.text, Type::body, Font::bold);
    widgets::fit_text(p, {area.min.x, top + (row - t.px(40)) / 2 + t.px(20)}, r.note, frame.left - area.min.x - t.px(6),
                      t.muted, Type::small);
  }
  if (fate_w > 0 && !out.rows.empty())
    p.text({frame.right + t.px(16), first_row - t.px(22)}, "what becomes of them", t.muted, Type::small);
  if (out.rows.empty()) p.text({frame.left, first_row}, "Choose a format under Rows.", t.muted, Type::small);
  if (hovered) hover_tip(out, frame, first_row, pitch);
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
