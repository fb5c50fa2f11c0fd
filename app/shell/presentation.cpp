#include <algorithm>
#include <array>

#include "app/shell/stage_area.h"
#include "app/shell/ui.h"

namespace app {
namespace {

constexpr std::size_t max_inputs = 3;

/// The inputs that a class sees: those named headlines, otherwise the first that matter.
std::size_t strip_inputs(const chapters::Lab& lab, std::array<const Field*, max_inputs>& out) {
  std::size_t n = 0;
  for (const bool named : {true, false}) {
    for (const Field& f : lab.inputs()) {
      if (n == max_inputs) return n;
      if (f.is_scalar() && f.spec.headline == named && f.spec.origin == chapters::Origin::set &&
          chapters::holds(f.spec.when, lab.inputs()))
        out[n++] = &f;
    }
    if (n > 0) break;
  }
  return n;
}

void draw_strip(Shell& shell, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  const chapters::Lab& lab = shell.workspace.lab();
  std::array<const Field*, max_inputs> inputs{};
  const std::size_t n = strip_inputs(lab, inputs);
  if (n == 0) return;
  ImGui::SetCursorScreenPos(at);
  if (ui::begin_panel("strip", size, t.panel, {16, 8}, ImGuiWindowFlags_NoScrollbar)) {
    const ImVec2 from = ImGui::GetCursorScreenPos();
    float bottom = from.y;
    const float gap = t.px(28), each = (size.x - t.px(32) - gap * static_cast<float>(n - 1)) / static_cast<float>(n);
    shell.controls.inputs = &lab.inputs();
    for (std::size_t i = 0; i < n; ++i) {
      // On one line sliders and switches are lower than boxes: their words stand on one baseline.
      const bool low = size.y < t.px(60) && inputs[i]->kind != chapters::Kind::choice;
      ImGui::SetCursorScreenPos({from.x + static_cast<float>(i) * (each + gap), from.y + (low ? t.px(4) : 0.0f)});
      ImGui::BeginGroup();
      draw_control(*inputs[i], shell.controls, each);
      ImGui::EndGroup();
      bottom = std::max(bottom, ImGui::GetItemRectMax().y);
    }
    shell.strip_content_px = bottom - from.y;
    shell.controls.inputs = nullptr;
  }
  ImGui::EndChild();
  Painter::window().frame(at, {at.x + size.x, at.y + size.y}, t.line, 1, t.px(8));
}

/// Title, a dot a panel, the name of the next, and how to leave.
void draw_footer(Shell& shell, ImVec2 at, float width) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const widgets::StageView& view = stage_view(shell);
  const float mid = at.x + width / 2, r = t.px(4.5f), step = t.px(20);
  const std::string_view leaves = question_open(shell) ? "" : "Esc leaves";  // the question's buttons say what it does
  const float leaves_px = widgets::text_size(leaves, Type::small).x;
  const std::size_t n = view.specs.size();
  const float dots = n > 1 ? step * static_cast<float>(n) : 0;
  p.text({mid - dots / 2 - t.px(14), at.y}, shell.workspace.lab().info().title, t.text, Type::small, Font::bold,
         widgets::Align::right);
  for (std::size_t i = 0; n > 1 && i < n; ++i) {
    const ImVec2 c{mid - dots / 2 + step * (static_cast<float>(i) + 0.5f), at.y + t.type(Type::small) / 2 + t.px(1)};
    if (i == view.main)
      p.circle(c, r, t.accent);
    else
      p.ring(c, r, t.muted, t.px(1.2f));
  }
  if (n > 1) {
    const std::string_view next = view.specs[(view.main + 1) % n].title;
    widgets::Line line;
    line.add("next: ").add(next);
    const float from = mid + dots / 2 + t.px(14), to = at.x + width - leaves_px - t.px(14);
    if (to - from > t.px(80)) widgets::fit_text(p, {from, at.y}, line.view(), to - from, t.muted, Type::small);
  }
  p.text({at.x + width, at.y}, leaves, t.muted, Type::small, Font::sans, widgets::Align::right);
}

}  // namespace

void draw_presentation(Shell& shell, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  const float margin = std::min(t.px(36), size.x * 0.04f), footer = t.px(34);
  std::array<const Field*, max_inputs> inputs{};
  const std::size_t shown = strip_inputs(shell.workspace.lab(), inputs);
  // The answer and its picture come first: where both would have less than this, the inputs are left out.
  const float least_stage = t.px(280), around = t.px(18) + footer;
  const bool has_strip = shown > 0 && size.y - around - t.px(80) >= least_stage;
  // As high as its controls were in the frame before: where a label stands above its control, that is two rows.
  const float strip = std::max(t.px(40), shell.strip_content_px + t.px(16));
  const float below = footer + (has_strip ? strip + t.px(10) : 0);
  ImGui::SetCursorScreenPos({at.x + margin, at.y + t.px(18)});
  draw_stage_area(shell, {size.x - 2 * margin, size.y - t.px(18) - below});
  if (has_strip) draw_strip(shell, {at.x + margin, at.y + size.y - footer - strip}, {size.x - 2 * margin, strip});
  draw_footer(shell, {at.x + margin, at.y + size.y - footer + t.px(11)}, size.x - 2 * margin);
}

void turn_page(Shell& shell, int steps) {
  widgets::StageView& view = stage_view(shell);
  const bool last = view.main + 1 >= view.ids.size(), first = view.main == 0;
  LessonState& lesson = shell.lesson;
  if (lesson.playing && ((steps > 0 && last) || (steps < 0 && first))) {
    if (steps > 0) return lesson_next(shell);
    if (lesson.step > 0) lesson_go(shell, lesson.lesson, lesson.step - 1);
    return;
  }
  widgets::turn_panels(view, steps);
}

}  // namespace app
