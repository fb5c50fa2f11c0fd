#include <algorithm>
#include <cstdio>

#include "chapters/kernels/lab/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/controls/button.h"

namespace chapters::kernels::lab {

using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

bool tool(const char* label, bool enabled, bool strong) {
  ImGui::BeginDisabled(!enabled);
  const bool pressed = widgets::button(label, strong);
  ImGui::EndDisabled();
  return pressed;
}

void draw_tools(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  const auto& t = theme();
  const float gap = t.px(8);
  const bool idle = !view.requests.running;
  if (tool("Run", idle, true)) view.requests.work = run_request(in, out, false, nullptr);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort))
    widgets::tip("Run", out.rung.title, "the selected rung, in a process of its own");
  ImGui::SameLine(0, gap);
  if (tool("Run all", idle, true)) view.requests.work = run_request(in, out, true, nullptr);
  ImGui::SameLine(0, gap);
  if (tool("Measure ceilings", idle)) view.requests.work = roofline_request(in.device);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort))
    widgets::tip("Measure ceilings", "a few seconds", "they become the chip \"this machine\"");
  ImGui::SameLine(0, gap);
  // Each keeps its place: where Stop was a moment ago, nothing else may be pressed.
  if (tool("Stop", view.requests.running)) view.requests.work = "stop";
  ImGui::SameLine(0, gap);
  if (tool("Clear runs", idle && !in.runs.empty())) in.runs.clear();
  ImGui::SameLine(0, gap * 2);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, row = widgets::button_size("Stop").y;
  const Painter p = Painter::window();
  if (view.requests.running) {
    const float bar = std::min(t.px(140), room * 0.5f), y = at.y + row / 2;
    p.rect({at.x, y - t.px(2)}, {at.x + bar, y + t.px(2)}, t.line, t.px(2));
    p.rect({at.x, y - t.px(2)},
           {at.x + bar * static_cast<float>(std::clamp(view.requests.fraction, 0.0, 1.0)), y + t.px(2)}, t.accent,
           t.px(2));
    widgets::fit_text(p, {at.x + bar + gap, at.y + (row - t.type(Type::small)) / 2}, view.requests.status,
                      room - bar - gap, t.muted, Type::small);
  } else {
    const bool none = out.measured_rungs == 0 && out.failed_rungs == 0;
    widgets::Line line;
    if (none && in.predict_first)
      line.add("Press in a row to predict its bar, then Run all.");
    else if (none)
      line.add("Nothing has run yet at this size: press Run all.");
    else {
      line.add_integer(out.measured_rungs).add(" of ").add_integer(out.rungs).add(" rungs measured");
      if (out.failed_rungs > 0) line.add(", ").add_integer(out.failed_rungs).add(" failed");
      bool hidden = false;
      for (const Bar& b : picture.bars) hidden |= b.hidden;
      if (hidden) line.add("; press in a row to predict it, then it shows");
    }
    widgets::fit_text(p, {at.x, at.y + (row - t.type(Type::small)) / 2}, line.view(), room, t.muted, Type::small);
  }
  ImGui::NewLine();
}

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || picture.bars.empty()) return;
  const auto& t = theme();
  draw_tools(in, out, picture, view);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float n = static_cast<float>(picture.bars.size());
  // The rows take what the picture and the source under them leave; where that is little, both give way before anything
  // scrolls.
  const float lower = t.px(250), least_lower = t.px(186), around_rows = t.px(66);
  const auto row_over = [&](float below) { return (room.y - below - around_rows) / std::max(n, 1.0f); };
  const float row = row_over(lower) >= t.px(27) ? std::min(row_over(lower), t.px(40))
                                                : std::clamp(row_over(least_lower), t.px(20), t.px(27));
  draw_bars(in, out, picture, row);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, gap = t.px(16);
  const bool beside = width >= t.px(600);
  const float left = beside ? (width - gap) * 0.46f : width, right = beside ? width - gap - left : width;
  const float height = std::max(ImGui::GetContentRegionAvail().y - t.px(4), least_lower);
  draw_roofline(out, picture, view, left, height);
  if (beside) ImGui::SetCursorScreenPos({at.x + left + gap, at.y});
  draw_source(in, out, picture.source, view, right, height);
}

}  // namespace chapters::kernels::lab
