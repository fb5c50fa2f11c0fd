#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/number_line/lab.h"
#include "widgets/controls/button.h"

namespace chapters::precision::number_line {
namespace {

using models::LineAxis;
using models::LineStretch;

void show_all(View& view) {
  view.from = 0;
  view.to = 0;
}

void show(View& view, LineAxis axis, LineStretch s) {
  s = at_least_min_span(axis, s);
  if (!std::isfinite(s.hi - s.lo) || !(s.hi > s.lo) || std::max(std::abs(s.lo), std::abs(s.hi)) > 1.79e308) return;
  view.from = s.lo;
  view.to = s.hi;
}

void zoom(View& view, const Frame& frame, double about, double by) {
  show(view, frame.axis, {about + (frame.stretch.lo - about) * by, about + (frame.stretch.hi - about) * by});
}

void pan(View& view, const Frame& frame, double share) {
  const double shift = (frame.stretch.hi - frame.stretch.lo) * share;
  show(view, frame.axis, {frame.stretch.lo + shift, frame.stretch.hi + shift});
}

}  // namespace

bool drag_bell(Inputs& in, View& view, const Frame& frame, float top, float bottom) {
  if (!ImGui::IsItemActive()) view.bell_held = false;
  if (frame.axis != LineAxis::log2 || !(view.curve_highest > 0) || view.curve.empty()) return false;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float share = (mouse.x - frame.left) / (frame.right - frame.left);
  const auto column =
      static_cast<std::size_t>(std::clamp(share, 0.0f, 1.0f) * static_cast<float>(view.curve.size() - 1));
  const bool over = ImGui::IsItemHovered() && mouse.y >= top && mouse.y <= bottom && share >= 0 && share <= 1 &&
                    view.curve[column] > 0.02 * view.curve_highest;
  if (over || view.bell_held) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (over && ImGui::IsItemActivated()) {
    view.bell_held = true;
    view.bell_scale = in.scale;
    view.bell_from = frame.coordinate(mouse.x);
  }
  if (!view.bell_held) return false;
  if (ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f))
    in.scale = std::clamp(view.bell_scale * std::exp2(frame.coordinate(mouse.x) - view.bell_from), 1.0, max_scale);
  return true;
}

void take_input(View& view, const Frame& frame) {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsItemHovered()) {
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    if (io.MouseWheel != 0.0f)
      zoom(view, frame, frame.coordinate(io.MousePos.x), std::pow(0.8, static_cast<double>(io.MouseWheel)));
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) show_all(view);
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
  if (ImGui::IsKeyPressed(ImGuiKey_0) || ImGui::IsKeyPressed(ImGuiKey_Home)) show_all(view);
}

void draw_buttons(const Outputs& out, const Picture& picture, View& view, const Frame& frame, float width) {
  const auto& t = widgets::theme();
  const models::FloatFormat& f = *picture.format;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const double middle = (frame.stretch.lo + frame.stretch.hi) / 2;
  float x = corner.x;
  bool full = false;
  // One row: those that have no room are left out, the wheel and the keys do the same.
  const auto button = [&](const char* label) {
    const float wide = widgets::button_size(label).x;
    full = full || x + wide > corner.x + width;
    if (full) return false;
    ImGui::SetCursorScreenPos({x, corner.y});
    x += wide + t.px(6);
    return widgets::button(label);
  };
  if (button("all of it")) show_all(view);
  const auto go = [&](const char* label, double at) {
    if (button(label)) show(view, frame.axis, single_values_at(f, frame.axis, at));
  };
  go("single values at 1", 1);
  go("smallest", out.limits.min_positive);
  go("largest", out.limits.max_finite);
  if (button("closer")) zoom(view, frame, middle, 0.25);
  if (button("farther")) zoom(view, frame, middle, 4);
  if (out.limits.subnormal_codes > 0) go("first normal", out.limits.min_normal);
  if (frame.axis != LineAxis::log2) go("at 0", 0);
}

}  // namespace chapters::precision::number_line
