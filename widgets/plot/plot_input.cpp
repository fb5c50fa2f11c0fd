#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "widgets/base/press_area.h"
#include "widgets/plot/plot.h"

/// What the mouse and the keyboard do to a plot's view and to its handles.
namespace widgets {
namespace {

struct Ranges {
  PlotView& view;
  const PlotOptions& options;
  Range x() const { return {view.x_lo, view.x_hi}; }
  Range y() const { return {view.y_lo, view.y_hi}; }
  void set(Range nx, Range ny) const {
    view.x_lo = nx.lo;
    view.x_hi = nx.hi;
    view.y_lo = ny.lo;
    view.y_hi = ny.hi;
    view.zoomed = true;
    if (!options.link) return;
    options.link->zoomed = true;
    options.link->x = nx;
  }
  void fit() const {
    view.zoomed = false;
    if (options.link) options.link->zoomed = false;
  }
  void pan(double right, double up) const {
    set(pan_range(options.x.kind, x(), right), pan_range(options.y.kind, y(), up));
  }
  void zoom(double at_x, double at_y, double by_x, double by_y) const {
    set(by_x == 1 ? x() : zoom_range(options.x.kind, x(), at_x, by_x),
        by_y == 1 ? y() : zoom_range(options.y.kind, y(), at_y, by_y));
  }
};

/// Arrow keys that are held this frame, as a step to the right and up.
ImVec2 arrows() {
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key) ? 1.0f : 0.0f; };
  return {pressed(ImGuiKey_RightArrow) - pressed(ImGuiKey_LeftArrow),
          pressed(ImGuiKey_UpArrow) - pressed(ImGuiKey_DownArrow)};
}

/// Keeps the arrow keys from moving the keyboard focus away from the item that uses them.
void own_arrows(ImGuiID item) {
  for (const ImGuiKey key : {ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow})
    ImGui::SetKeyOwner(key, item);
}

/// Arrows pan; plus and minus zoom about the middle; 0 and Home fit.
void take_plot_keys(const Ranges& ranges, const AxisMap& x, const AxisMap& y) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 step = arrows();
  if (step.x != 0.0f || step.y != 0.0f)
    ranges.pan(0.1 * static_cast<double>(step.x), 0.1 * static_cast<double>(step.y));
  const double centre_x = x.value((x.start() + x.end()) / 2), centre_y = y.value((y.start() + y.end()) / 2);
  if (!io.KeyCtrl) {  // with ctrl these scale the interface
    if (ImGui::IsKeyPressed(ImGuiKey_Equal) || ImGui::IsKeyPressed(ImGuiKey_KeypadAdd))
      ranges.zoom(centre_x, centre_y, 0.8, 0.8);
    if (ImGui::IsKeyPressed(ImGuiKey_Minus) || ImGui::IsKeyPressed(ImGuiKey_KeypadSubtract))
      ranges.zoom(centre_x, centre_y, 1.25, 1.25);
    if (ImGui::IsKeyPressed(ImGuiKey_0) || ImGui::IsKeyPressed(ImGuiKey_Keypad0) || ImGui::IsKeyPressed(ImGuiKey_Home))
      ranges.fit();
  }
}

}  // namespace

void Plot::take_input(bool hovered, bool active, bool focused) {
  PlotScratch& s = view_.scratch;
  const Box area{{outer_.min.x + s.area_from_corner.min.x, outer_.min.y + s.area_from_corner.min.y},
                 {outer_.min.x + s.area_from_corner.max.x, outer_.min.y + s.area_from_corner.max.y}};
  if (area.empty() || !(view_.x_lo < view_.x_hi) || !(view_.y_lo < view_.y_hi)) return;
  const ImGuiID item = ImGui::GetItemID();
  const ImGuiIO& io = ImGui::GetIO();
  if (options_.link && options_.link->ready()) {
    view_.x_lo = options_.link->x.lo;
    view_.x_hi = options_.link->x.hi;
  }
  const Ranges ranges{view_, options_};
  const auto line = static_cast<double>(theme().type(Type::small));
  const AxisMap x =
      axis_map(options_.x, ranges.x(), static_cast<double>(area.min.x), static_cast<double>(area.max.x), line);
  const AxisMap y =
      axis_map(options_.y, ranges.y(), static_cast<double>(area.max.y), static_cast<double>(area.min.y), line);
  const ImVec2 mouse = io.MousePos;
  if (hovered) {
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    const float wheel =
        io.MouseWheel != 0.0f ? io.MouseWheel : io.MouseWheelH;  // shift turns the wheel on some systems
    if (wheel != 0.0f) {
      const double factor = std::pow(0.85, static_cast<double>(wheel));
      const bool on_x_axis = mouse.y > area.max.y, on_y_axis = mouse.x < area.min.x;
      const bool x_only = io.KeyCtrl || on_x_axis, y_only = io.KeyShift || on_y_axis;
      ranges.zoom(x.value(static_cast<double>(mouse.x)), y.value(static_cast<double>(mouse.y)), y_only ? 1 : factor,
                  x_only ? 1 : factor);
    }
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ranges.fit();
  }
  if (ImGui::IsItemActivated() && (io.KeyShift || ImGui::IsMouseDown(ImGuiMouseButton_Right))) {
    s.boxing = true;
    s.box_from = mouse;
  }
  if (s.boxing && !active) {
    s.boxing = false;
    const auto clamped = [&](ImVec2 p) {
      return ImVec2{std::clamp(p.x, area.min.x, area.max.x), std::clamp(p.y, area.min.y, area.max.y)};
    };
    const ImVec2 a = clamped(s.box_from), b = clamped(mouse);
    if (std::abs(a.x - b.x) > 6 && std::abs(a.y - b.y) > 6)
      ranges.set({x.value(static_cast<double>(std::min(a.x, b.x))), x.value(static_cast<double>(std::max(a.x, b.x)))},
                 {y.value(static_cast<double>(std::max(a.y, b.y))), y.value(static_cast<double>(std::min(a.y, b.y)))});
  } else if (active && !s.boxing && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f) &&
             (io.MouseDelta.x != 0.0f || io.MouseDelta.y != 0.0f)) {
    ranges.pan(-static_cast<double>(io.MouseDelta.x / area.width()),
               static_cast<double>(io.MouseDelta.y / area.height()));
  }
  if (!focused) return;
  own_arrows(item);
  take_plot_keys(ranges, x, y);
}

// Also on a plot that is not interactive, which neither pans nor zooms: a grip that is painted can be dragged.
bool Plot::handle(PlotMark::Kind kind, const char* id, double& x, double& y, const DragOptions& o) {
  PlotScratch& s = view_.scratch;
  const bool moves_x = kind != PlotMark::Kind::handle_y, moves_y = kind != PlotMark::Kind::handle_x;
  const Box& r = s.area_from_corner;
  const Box area{{outer_.min.x + r.min.x, outer_.min.y + r.min.y}, {outer_.min.x + r.max.x, outer_.min.y + r.max.y}};
  bool changed = false, hot = false;
  if (!area.empty() && view_.x_lo < view_.x_hi && view_.y_lo < view_.y_hi) {
    const auto line = static_cast<double>(theme().type(Type::small));
    const AxisMap mx = axis_map(options_.x, {view_.x_lo, view_.x_hi}, static_cast<double>(area.min.x),
                                static_cast<double>(area.max.x), line);
    const AxisMap my = axis_map(options_.y, {view_.y_lo, view_.y_hi}, static_cast<double>(area.max.y),
                                static_cast<double>(area.min.y), line);
    const ImVec2 at{moves_x ? static_cast<float>(mx.pixel(x)) : (area.min.x + area.max.x) / 2,
                    moves_y ? static_cast<float>(my.pixel(y)) : (area.min.y + area.max.y) / 2};
    if (at.x >= area.min.x - 1 && at.x <= area.max.x + 1 && at.y >= area.min.y - 1 && at.y <= area.max.y + 1) {
      const float half = theme().px(10);
      const ImVec2 reach{moves_x ? half : area.width() / 2, moves_y ? half : area.height() / 2};
      ImGui::SetCursorScreenPos({at.x - reach.x, at.y - reach.y});
      press_area(id, {reach.x * 2, reach.y * 2}, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_EnableNav);
      const ImGuiIO& io = ImGui::GetIO();
      if (ImGui::IsItemActivated()) s.grab = {at.x - io.MousePos.x, at.y - io.MousePos.y};
      ImVec2 to = at;
      hot = ImGui::IsItemHovered() || ImGui::IsItemActive() || ImGui::IsItemFocused();
      if (ImGui::IsItemActive()) {
        s.handle_active = true;
        if (io.MouseDelta.x != 0.0f || io.MouseDelta.y != 0.0f)
          to = {io.MousePos.x + s.grab.x, io.MousePos.y + s.grab.y};
      } else if (ImGui::IsItemFocused()) {
        own_arrows(ImGui::GetItemID());
        const ImVec2 step = arrows();
        const float px = io.KeyShift ? 20.0f : 4.0f;
        to = {at.x + step.x * px, at.y - step.y * px};
        s.handle_active = step.x != 0.0f || step.y != 0.0f;
      }
      to = {std::clamp(to.x, area.min.x, area.max.x), std::clamp(to.y, area.min.y, area.max.y)};
      if (hot)
        ImGui::SetMouseCursor(moves_x && moves_y ? ImGuiMouseCursor_ResizeAll
                              : moves_x          ? ImGuiMouseCursor_ResizeEW
                                                 : ImGuiMouseCursor_ResizeNS);
      const auto move = [&](double& value, double pixel_now, double pixel_then, const AxisMap& map, double lo,
                            double hi) {
        if (!(std::abs(pixel_now - pixel_then) > 0.01)) return;
        const double next = std::clamp(map.value(pixel_then), std::min(lo, hi), std::max(lo, hi));
        changed = changed || next != value;
        value = next;
      };
      if (moves_x) move(x, static_cast<double>(at.x), static_cast<double>(to.x), mx, o.lo, o.hi);
      if (moves_y) move(y, static_cast<double>(at.y), static_cast<double>(to.y), my, o.y_lo, o.y_hi);
    }
  }
  mark(kind, x, y, o.label, {.colour = o.colour != 0 ? o.colour : theme().accent, .dashed = false, .output = o.output});
  s.marks.back().marker = o.marker;
  s.marks.back().hot = hot;
  return changed;
}

}  // namespace widgets
