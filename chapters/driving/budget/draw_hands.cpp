#include <algorithm>
#include <cmath>

#include "chapters/driving/budget/river.h"
#include "widgets/base/press_area.h"

/// What the hand does to the river: pinch a stream, drag the memory's edge, drag an encoder.
namespace chapters::driving::budget {
namespace {

using widgets::Type;

constexpr std::array<double, 10> nice_rates{60, 45, 30, 20, 15, 10, 7.5, 5, 2, 1};

}  // namespace

/// A stream between thumb and finger: its height is the rate of its group, at one of the usual rates.
void RiverPainter::pinch_streams() {
  double* const rates[] = {&in_.front_rate_hz, &in_.side_rate_hz, &in_.rear_rate_hz};
  for (std::size_t i = 0; i < picture_.streams.size(); ++i) {
    const Stream& s = picture_.streams[i];
    const float y = stream_middle(i), high = static_cast<float>(std::max(s.before, s.now)) * r_.per_share;
    const float area = std::max(high, t_.px(10));
    ImGui::SetCursorScreenPos({r_.from, y - area / 2});
    widgets::Line label;
    label.add("pinch ").add(s.name);
    widgets::press_area(label.c_str(), {r_.sensor - r_.from + t_.px(14), area});
    const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left) &&
                      ImGui::IsMouseDragging(ImGuiMouseButton_Left, 2);
    const bool lit =
        ImGui::IsItemActive() || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
    double& rate = *rates[s.group];
    if (held && s.before > 0 && rate > 0 && s.now > 0) {
      // Height over rate is what a stream has now; the mouse asks for twice its distance from the middle.
      const double wanted = 2 * std::abs(static_cast<double>(ImGui::GetIO().MousePos.y - y)) /
                            (s.now * static_cast<double>(r_.per_share)) * rate;
      double best = rate;
      for (const double r : nice_rates)
        if (r <= std::max(in_.rate_hz, rate) &&
            std::abs(std::log(r / std::max(wanted, 0.5))) < std::abs(std::log(best / std::max(wanted, 0.5))) - 1e-9)
          best = r;
      rate = best;
    } else if (ImGui::IsItemFocused()) {
      const int steps = widgets::play_keys().steps;
      for (std::size_t k = 0; steps != 0 && k < nice_rates.size(); ++k) {
        const double r = nice_rates[steps > 0 ? nice_rates.size() - 1 - k : k];
        if (steps > 0 ? r > rate && r <= in_.rate_hz : r < rate) {
          rate = r;
          break;
        }
      }
    }
    if (!lit) continue;
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    const float half = static_cast<float>(s.now) * r_.per_share / 2;
    handle({r_.sensor, y - half}, true);
    handle({r_.sensor, y + half}, true);
    if (ImGui::IsItemHovered()) widgets::tip(s.name, s.hover, "Up and down: the rate of it and its neighbours.");
  }
}

/// The upper edge of the memory: how many rows of each frame are read out.
void RiverPainter::drag_kept() {
  const float now = static_cast<float>(picture_.now) * r_.per_share, x = (r_.memory + r_.memory_to) / 2;
  const ImVec2 at{x, r_.middle() - now / 2};
  const float reach = t_.px(11);
  ImGui::SetCursorScreenPos({at.x - reach, at.y - reach});
  widgets::press_area("drag the kept rows", {2 * reach, 2 * reach});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 2);
  const bool lit = ImGui::IsItemActive() || ImGui::IsItemHovered();
  double kept = in_.kept;
  if (held && now > 1) {
    const double wanted = 2 * static_cast<double>(r_.middle() - ImGui::GetIO().MousePos.y);
    kept = std::clamp(std::round(in_.kept * wanted / static_cast<double>(now) / 5) * 5, 10.0, 100.0);
  } else if (ImGui::IsItemFocused()) {
    kept = std::clamp(in_.kept + 5 * widgets::play_keys().steps, 10.0, 100.0);
  }
  if (kept != in_.kept) in_.kept = kept;
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  handle(at, lit);
  const ImVec2 words = widgets::text_size(picture_.kept, Type::small);
  const ImVec2 say{r_.memory_to + t_.px(8), std::max(r_.all.min.y, at.y - words.y / 2)};
  p_.plate(say, picture_.kept, t_.background, Type::small);
  p_.text(say, picture_.kept, t_.accent, Type::small);
}

/// An encoder in the hand: on another one it is shared, on the dashed place of one of its tasks that task parts.
void RiverPainter::drag_boxes() {
  auto encoders = encoders_of(in_.shared);
  for (std::size_t b = 0; b < picture_.boxes.size(); ++b) {
    const Box& box = picture_.boxes[b];
    std::size_t first = 0;
    while (first + 1 < task_count && !box.tasks[first]) ++first;
    const float y = box_middle(box), high = std::max(read_px(), std::min(r_.slot, 2 * small() + t_.px(8)));
    ImGui::SetCursorScreenPos({r_.boxes, y - high / 2});
    widgets::Line label;
    label.add("encoder of ").add(task_names[first]);
    widgets::press_area(label.c_str(), {r_.boxes_to - r_.boxes, high});
    const bool active = ImGui::IsItemActive(), dragging = ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4);
    const ImVec2 drag = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 4);
    const bool dropped = ImGui::IsItemDeactivated() && std::hypot(drag.x, drag.y) > t_.px(6);
    const bool lit = active || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
    int steps = 0;
    if (ImGui::IsItemFocused()) steps = widgets::play_keys().steps;
    draw_box(box, active && dragging ? drag : ImVec2{0, 0});
    if (lit) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      p_.frame({r_.boxes - t_.px(3), y - high / 2 - t_.px(3)}, {r_.boxes_to + t_.px(3), y + high / 2 + t_.px(3)},
               t_.accent, t_.px(1.5f), t_.px(5));
    }
    std::size_t target = task_count;
    if (dropped) {
      const float at = y + drag.y;
      for (std::size_t task = 0; task < task_count; ++task)
        if (std::abs(at - r_.slot_middle(task)) < (r_.slot + r_.slot_gap) / 2) target = task;
    } else if (steps > 0) {
      for (std::size_t task = 0; task < task_count && target == task_count; ++task)
        if (!box.tasks[task]) target = task;
    } else if (steps < 0) {
      for (std::size_t task = 0; task < task_count; ++task)
        if (box.tasks[task] && task != first) target = task;
    }
    if (target == task_count) continue;
    const bool mine = box.tasks[target];
    const std::size_t other = encoders[target];
    if (!mine) {
      for (std::size_t& e : encoders)
        if (e == first) e = other;
    } else if (target != first) {
      encoders[target] = target;
    } else {  // the first of them parts, and the others keep an encoder together
      std::size_t next = task_count;
      for (std::size_t task = first + 1; task < task_count; ++task) {
        if (!box.tasks[task]) continue;
        if (next == task_count) next = task;
        encoders[task] = next;
      }
    }
    Shared& groups = in_.shared;
    groups = shared_of(encoders);
    return;
  }
}

}  // namespace chapters::driving::budget
