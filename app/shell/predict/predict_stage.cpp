#include <imgui_internal.h>

#include <algorithm>

#include "app/shell/predict/predict_parts.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

using widgets::Box;

constexpr double reveal_s = 0.25;

float small_px(std::string_view s) { return widgets::text_size(s, Type::small).x; }

/// Arrow keys of this frame as a step to the right and up; the keyboard focus stays on the item meanwhile.
ImVec2 arrow_step(ImGuiID item) {
  for (const ImGuiKey key : {ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow})
    ImGui::SetKeyOwner(key, item);
  const auto held = [](ImGuiKey key) { return ImGui::IsKeyPressed(key) ? 1.0f : 0.0f; };
  return {held(ImGuiKey_RightArrow) - held(ImGuiKey_LeftArrow), held(ImGuiKey_UpArrow) - held(ImGuiKey_DownArrow)};
}

/// The pointer and the keyboard on the plot. Enter commits from here; elsewhere it presses what has the focus.
void take_drawing(Shell& shell, const Box& area) {
  PredictState& state = shell.predict;
  const Box& plot = state.layout.frame.area;
  if (state.places.empty() || plot.empty()) return;
  ImGui::SetCursorScreenPos(area.min);
  widgets::press_area("drawn curve", {area.width(), area.height()},
                      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_EnableNav);
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const ImVec2 at{std::clamp(io.MousePos.x, plot.min.x, plot.max.x),
                    std::clamp(io.MousePos.y, plot.min.y, plot.max.y)};
    state.line.draw_to(widgets::sample_at(state.layout.frame, state.places, at.x),
                       state.layout.frame.y.value(static_cast<double>(at.y)));
  } else {
    state.line.lift();
  }
  const bool other_focus = ImGui::IsAnyItemFocused() && io.NavVisible && !ImGui::IsItemFocused();
  if (io.WantTextInput || shell.palette.open || other_focus || state.waiting) return;
  const ImVec2 step = arrow_step(ImGui::GetItemID());
  if (step.x != 0) state.line.step(step.x > 0 ? 1 : -1);
  if (step.y != 0) state.line.raise(static_cast<double>(step.y) * (io.KeyShift ? 0.1 : 0.02));
  if (ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false))
    commit_question(shell);
}

/// The plot under the revealed one, where there is one and room for it, and the sentence in which it says why. True
/// when both were laid out.
bool draw_below(PredictState& state, const CurveAsk& ask, const Box& plot, widgets::DrawCurveSpec& spec) {
  const auto& t = theme();
  const chapters::Field* const below = state.asked->outputs().find(ask.below);
  if (!state.answered || !below || state.found->below.empty() || plot.height() < t.px(300)) return false;
  const float line_px = t.type(Type::small);
  const auto says = widgets::wrap_lines(ask.below_says, plot.width(), small_px);
  const float caption = line_px * 1.4f * static_cast<float>(says.count) + t.px(10);
  const widgets::AxisSpec y = below_axis(state, *below);
  widgets::layout_below(plot, spec, y, state.found->below, state.line, 0.4f, caption, widgets::tick_width_px, line_px,
                        state.layout, state.below_frame);
  const Painter p = Painter::window();
  ImVec2 at{state.layout.frame.area.min.x, state.layout.frame.area.max.y + t.px(14)};
  for (std::size_t i = 0; i < says.count; ++i, at.y += line_px * 1.4f) p.text(at, says.lines[i], t.text, Type::small);
  widgets::paint_below(p, spec, y, state.found->below, state.found->curve, state.layout, state.below_frame,
                       state.guessed ? state.score.worst : spec.xs.size());
  return true;
}

void draw_curve(Shell& shell, const Prediction& question, const Box& area) {
  PredictState& state = shell.predict;
  const chapters::Field& output = *state.asked->outputs().find(question.output);
  auto spec = curve_spec(state, *question.curve, output);
  const float line_px = theme().type(Type::small);
  Box plot = area;
  const bool why = state.answered && state.guessed && state.because != state.why;
  const auto lines =
      widgets::wrap_lines(why ? std::string_view(state.why) : std::string_view(), area.width(), small_px);
  plot.max.y -= why ? line_px * 1.4f * static_cast<float>(lines.count) + theme().px(8) : 0;
  if (!draw_below(state, *question.curve, plot, spec))
    widgets::layout_draw_curve(plot, spec, state.line, widgets::tick_width_px, line_px, state.layout);
  const Painter p = Painter::window();
  if (state.open) {
    take_drawing(shell, plot);
    if (!state.open) return;  // committed just now: the next frame shows the answer
    widgets::layout_draw_curve(plot, spec, state.line, widgets::tick_width_px, line_px, state.layout);
    const std::string_view hint = state.line.reach() == 0 ? "press here and draw to the right, or use the arrow keys"
                                  : state.line.drawing()  ? "going back redraws what you pass"
                                  : !state.line.whole()   ? "draw on to the right end"
                                                          : std::string_view();
    return widgets::paint_draw_curve(p, spec, state.layout, state.line, hint);
  }
  const double age_s = ImGui::GetTime() - state.revealed_at_s;
  const double progress = shell.host.animates ? std::clamp(age_s / reveal_s, 0.0, 1.0) : 1.0;
  if (progress < 1) shell.animating = true;
  const auto drawn = state.guessed ? state.line.values() : std::span<const double>();
  widgets::paint_revealed_curve(p, spec, state.layout, drawn, state.found->curve,
                                {.score = state.score_text,
                                 .typical = state.typical,
                                 .up_to = state.up_to,
                                 .share = state.score.score / 100,
                                 .heading = state.heading,
                                 .explanation = state.because,
                                 .worst = state.score.worst},
                                progress, state.reveal);
  ImVec2 at{area.min.x, plot.max.y + theme().px(6)};
  for (std::size_t i = 0; i < lines.count; ++i, at.y += line_px * 1.4f)
    p.text(at, lines.lines[i], theme().muted, Type::small);
}

/// Why, over the lab's picture. Returns its height.
float draw_explanation(const PredictState& state, const Box& area) {
  const auto& t = theme();
  const auto lines = widgets::wrap_lines(state.why, area.width() - t.px(24), small_px);
  const float line = t.type(Type::small) * 1.45f, height = line * static_cast<float>(lines.count) + t.px(14);
  const Painter p = Painter::window();
  p.rect(area.min, {area.max.x, area.min.y + height}, t.card, t.px(6));
  p.rect(area.min, {area.min.x + t.px(3), area.min.y + height}, t.accent);
  ImVec2 at{area.min.x + t.px(14), area.min.y + t.px(7)};
  for (std::size_t i = 0; i < lines.count; ++i, at.y += line) p.text(at, lines.lines[i], t.text, Type::small);
  return height + t.px(10);
}

}  // namespace

float draw_question_stage(Shell& shell, const Box& area) {
  const Prediction* question = question_of(shell);
  PredictState& state = shell.predict;
  if (!question || !state.asked) return 0;
  if (state.preparing) {
    const std::string_view words =
        state.error.empty() ? "Computing the line, to know how high the plot must be..." : "";
    widgets::draw_veil(Painter::window(), {area.min, area.max}, words);
    return area.height();
  }
  if (question->curve && (state.open || state.answered)) {
    draw_curve(shell, *question, area);
    return area.height();
  }
  return state.answered ? draw_explanation(state, area) : 0;
}

float draw_question(Shell& shell, const Box& area) {
  const auto& t = theme();
  const ImVec2 row{area.min.x, area.min.y + t.px(84)};
  draw_question_lines(shell, {area.min, {area.max.x, row.y}});
  const float buttons = draw_question_buttons(shell, {row, {area.max.x, row.y + t.px(34)}});
  const float top = row.y + buttons + t.px(10);
  const float used =
      draw_question_stage(shell, {{area.min.x, top}, {area.max.x, std::max(area.max.y, top + t.px(60))}});
  return top + used - area.min.y;
}

}  // namespace app
