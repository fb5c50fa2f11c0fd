#include <algorithm>

#include "chapters/kernels/lab/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/controls/button.h"

namespace chapters::kernels::lab {
namespace {

using widgets::Painter, widgets::theme, widgets::Type;

/// What there is to do or to know, behind the buttons.
void paint_status(const Inputs& in, const Outputs& out, const Picture& picture, const View& view, ImVec2 at,
                  float room) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float row = widgets::button_size("Stop").y, gap = t.px(8), y = at.y + (row - t.type(Type::small)) / 2;
  if (view.requests.running) {
    const float bar = std::min(t.px(140), room * 0.5f), middle = at.y + row / 2;
    if (bar < t.px(20)) return;
    p.rect({at.x, middle - t.px(2)}, {at.x + bar, middle + t.px(2)}, t.line, t.px(2));
    p.rect({at.x, middle - t.px(2)},
           {at.x + bar * static_cast<float>(std::clamp(view.requests.fraction, 0.0, 1.0)), middle + t.px(2)}, t.accent,
           t.px(2));
    widgets::fit_text(p, {at.x + bar + gap, y}, view.requests.status, room - bar - gap, t.muted, Type::small);
    return;
  }
  widgets::Line line;
  const bool none = out.measured_rungs == 0 && out.failed_rungs == 0 && out.checked_rungs == 0;
  if (none && in.predict_first)
    line.add("Press in a row to predict it, then Run all");
  else if (none)
    line.add("Nothing has run at this size");
  else if (picture.any_hidden)
    line.add("Press in a row to predict it; then it shows");
  else {
    const bool checked_alone = out.measured_rungs == 0 && out.checked_rungs > 0;
    line.add_integer(checked_alone ? out.checked_rungs : out.measured_rungs).add(" of ").add_integer(out.rungs);
    line.add(checked_alone ? " rungs right and not timed" : " rungs measured");
    if (picture.noisy_rungs > 0) line.add(", ").add_integer(picture.noisy_rungs).add(" on a busy machine: run again");
    if (out.checked_rungs > 0 && !checked_alone)
      line.add(", ").add_integer(out.checked_rungs).add(" right and not timed");
    if (out.failed_rungs > 0) line.add(", ").add_integer(out.failed_rungs).add(" failed");
  }
  if (widgets::text_size(line.view(), Type::small).x <= room) p.text({at.x, y}, line.view(), t.muted, Type::small);
}

}  // namespace

bool tool(const char* label, bool enabled, bool strong) {
  ImGui::BeginDisabled(!enabled);
  const bool pressed = widgets::button(label, strong);
  ImGui::EndDisabled();
  return pressed;
}

float tools_height() { return widgets::button_size("Stop").y + theme().px(8); }

void draw_tools(Inputs& in, const Outputs& out, const Picture& picture, View& view, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(8);
  float x = at.x;
  // What has no room is left out. Stop stands behind all others: where it was, nothing else may be pressed.
  const auto put = [&](const char* label, bool enabled, bool strong, std::string_view value, std::string_view info) {
    const float wide = widgets::button_size(label).x;
    if (x + wide > at.x + width) return false;
    ImGui::SetCursorScreenPos({x, at.y});
    x += wide + gap;
    const bool pressed = tool(label, enabled, strong);
    if (!info.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort)) widgets::tip(label, value, info);
    return pressed;
  };
  const bool idle = !view.requests.running;
  if (put("Run", idle, true, out.rung.title, "the selected rung, in a process of its own"))
    view.requests.work = run_request(in, out, *picture.run, false, nullptr);
  if (put("Run all", idle, true, {}, {})) view.requests.work = run_request(in, out, *picture.run, true, nullptr);
  if (put("Measure ceilings", idle, false, "a few seconds", "they become the chip \"this machine\""))
    view.requests.work = roofline_request(in.device);
  const float others = widgets::button_size("Reveal all").x + widgets::button_size("Clear runs").x + 2 * gap,
              stop = widgets::button_size("Stop").x;
  if (!idle) {
    if (x + others + stop <= at.x + width) x += others;
    if (put("Stop", true, false, {}, {})) view.requests.work = "stop";
  } else {
    if (picture.any_hidden && put("Reveal all", true, false, "without a prediction", "turns Predict first off"))
      in.predict_first = false;
    if (!in.runs.empty() && put("Clear runs", true, false, {}, {})) in.runs.clear();
  }
  paint_status(in, out, picture, view, {x + gap, at.y}, at.x + width - x - gap);
}

}  // namespace chapters::kernels::lab
