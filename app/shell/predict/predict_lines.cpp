#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/shell/predict/predict_parts.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"

namespace app {
namespace {

float title_px(std::string_view s) { return widgets::text_size(s, Type::title, Font::bold).x; }
float body_px(std::string_view s) { return widgets::text_size(s, Type::body, Font::bold).x; }

/// In the large size where two lines hold it, otherwise in the middle one.
void draw_large(ImVec2 at, float width, float bottom, std::string_view words) {
  auto lines = widgets::wrap_lines(words, width, title_px);
  const Type type = lines.count <= 2 ? Type::title : Type::body;
  if (type == Type::body) lines = widgets::wrap_lines(words, width, body_px);
  const float line = theme().type(type) * (type == Type::title ? 1.25f : 1.3f);
  for (std::size_t i = 0; i < lines.count && at.y + line <= bottom + theme().px(4); ++i, at.y += line)
    Painter::window().text(at, lines.lines[i], theme().text, type, Font::bold);
}

/// As much of a question's end as a line holds, in whole sentences: its last one is what was asked.
std::string_view end_that_fits(std::string_view question, float width) {
  while (widgets::text_size(question).x > width) {
    const std::size_t end = question.find(". ");
    if (end == std::string_view::npos) break;
    question.remove_prefix(end + 2);
  }
  return question;
}

/// A key that is not typed into a field, and that no popup takes.
bool pressed(const Shell& shell, ImGuiKey key) {
  return !shell.palette.open && !ImGui::GetIO().WantTextInput && !ImGui::GetIO().KeyCtrl &&
         !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId) && ImGui::IsKeyPressed(key, false);
}

/// A button with its key behind the label; `right` above 0: beside the item before, where there is room.
bool keyed_button(const char* label, const char* key, bool strong, float right) {
  char words[64];
  std::snprintf(words, sizeof words, "%s  %s", label, key);
  if (right > 0) widgets::next_button(words, right);
  return ui::button(words, strong);
}

/// What stands in an empty box: what is asked for, with a unit that people write.
std::string_view hint_for(std::string_view unit) {
  if (unit.empty()) return "a number";
  if (unit == "s") return "a time: 12 ms, 3 h";
  if (unit == "B") return "bytes, such as 700 B or 3 GiB";
  return unit;
}

void draw_number(Shell& shell, std::string_view unit) {
  const auto& t = theme();
  PredictState& state = shell.predict;
  ImGui::SetNextItemWidth(t.px(220));
  const std::string_view words = hint_for(unit);
  char hint[48];
  std::snprintf(hint, sizeof hint, "%.*s", static_cast<int>(std::min<std::size_t>(words.size(), 40)), words.data());
  const ui::ScopedType type(Type::body);
  const float above = (widgets::button_size("Commit").y - t.type(Type::body)) / 2;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(10), above});
  const bool entered = ImGui::InputTextWithHint("##answer", hint, state.answer, sizeof state.answer,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopStyleVar();
  ImGui::SameLine();
  if (ui::button("Commit", true) || entered) commit_question(shell);
}

void draw_choices(Shell& shell, float right) {
  PredictState& state = shell.predict;
  const Prediction* question = question_of(shell);
  const chapters::Field* output = question ? state.asked->outputs().find(question->output) : nullptr;
  const bool named = output && output->kind == chapters::Kind::choice && question->options.empty();
  bool first = true;
  for (std::size_t i = 0; i < state.choices.size(); ++i) {
    // An option that there is not with the question's inputs is no answer to choose.
    if (named && !chapters::holds((*output->options)[i].when, state.asked->inputs())) continue;
    if (!first) widgets::next_button(state.choices[i].c_str(), right);
    first = false;
    if (!ui::button(state.choices[i].c_str())) continue;
    state.committed = static_cast<double>(i);
    commit_question(shell);
  }
}

void draw_curve_buttons(Shell& shell, float right) {
  PredictState& state = shell.predict;
  if (state.preparing) return ui::text(state.error.empty() ? "Computing..." : "No line", theme().muted);
  ImGui::BeginDisabled(!state.line.whole());
  const bool commit = keyed_button("Commit", "Enter", true, 0);
  ImGui::EndDisabled();
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  if (!state.line.whole() && !state.line.values().empty())
    ui::bar({a.x, b.y - theme().px(2)}, b.x - a.x,
            static_cast<double>(state.line.reach()) / static_cast<double>(state.line.values().size()), theme().accent);
  if (commit) commit_question(shell);
  if (!question_open(shell)) return;
  if (keyed_button("Start again", "R", false, right) || pressed(shell, ImGuiKey_R)) {
    const Prediction* q = question_of(shell);
    const auto kind = curve_on_log(*q->curve, *state.asked->outputs().find(q->output)) ? widgets::AxisKind::log10
                                                                                       : widgets::AxisKind::linear;
    state.line.begin(state.places.size(), kind, {q->curve->least, q->curve->most});
  }
}

void draw_open(Shell& shell, std::string_view unit, float right) {
  const auto& t = theme();
  PredictState& state = shell.predict;
  if (state.waiting) return ui::text("Computing the answer...", t.muted);
  if (state.kind == QuestionKind::number)
    draw_number(shell, unit);
  else if (state.kind == QuestionKind::choice)
    draw_choices(shell, right);
  else
    draw_curve_buttons(shell, right);
  if (!question_open(shell) || state.waiting) return;
  if (keyed_button("Show me without a guess", "Esc", false, right) || pressed(shell, ImGuiKey_Escape))
    return show_without_guess(shell);
  widgets::next_button("Not now", right);
  if (ui::button("Not now")) return put_question_away(shell, true);
  if (state.error.empty()) return;
  ImGui::SameLine();
  ui::wrapped(state.error, t.warning, Type::small);
}

/// After a question about the scenario on the screen, which has not changed: it is put away, or asked once more.
void draw_own_answered(Shell& shell, float right) {
  PredictState& state = shell.predict;
  const bool curve = state.kind == QuestionKind::curve;
  if (ui::button("Done", true)) return put_question_away(shell, false);
  const char* again = curve ? "Draw again" : "Try again";
  widgets::next_button(again, right);
  if (ui::button(again) || (curve && pressed(shell, ImGuiKey_R))) follow_own_question(shell);
}

void draw_answered(Shell& shell, std::size_t questions, float right) {
  PredictState& state = shell.predict;
  const std::size_t index = state.index;
  if (state.own) return draw_own_answered(shell, right);
  if (questions > 1) {
    const bool last = index + 1 == questions;
    if (ui::button(last ? "Finish" : "Next question", true))
      return last ? close_questions(shell) : ask_question(shell, index + 1);
  }
  const char* again = state.kind == QuestionKind::curve ? "Draw again" : "Try again";
  if (questions > 1) widgets::next_button(again, right);
  if (ui::button(again) || (state.kind == QuestionKind::curve && pressed(shell, ImGuiKey_R)))
    return ask_question(shell, index);
  widgets::next_button("Stay in this scenario", right);
  if (ui::button("Stay in this scenario")) return put_question_away(shell, false);
  widgets::next_button("Back to my inputs", right);
  if (ui::button("Back to my inputs")) return put_question_away(shell, true);
}

}  // namespace

void draw_question_lines(Shell& shell, const widgets::Box& area) {
  const auto& t = theme();
  const PredictState& state = shell.predict;
  const Prediction* question = question_of(shell);
  if (!question) return;
  const Painter p = Painter::window();
  const float below = area.min.y + t.type(Type::body) * 1.5f;
  if (state.open) {
    char prompt[64] = "Predict first";
    if (!state.own)
      std::snprintf(prompt, sizeof prompt, "Predict first: question %zu of %zu", state.index + 1,
                    shell.workspace.content.of(state.lab).predictions.size());
    p.text(area.min, prompt, t.accent);
    draw_large({area.min.x, below}, area.width(), area.max.y, question->question);
  } else {
    p.text_fit(area.min, end_that_fits(question->question, area.width()), area.width(), t.muted);
    draw_large({area.min.x, below}, area.width(), area.max.y, state.verdict);
  }
}

float draw_question_buttons(Shell& shell, const widgets::Box& area) {
  const Prediction* question = question_of(shell);
  if (!question || !shell.predict.asked) return 0;
  ImGui::SetCursorScreenPos(area.min);
  ImGui::PushID("question");
  ImGui::BeginGroup();
  if (shell.predict.open)
    draw_open(shell, shell.predict.asked->outputs().find(question->output)->spec.unit, area.max.x);
  else
    draw_answered(shell, shell.workspace.content.of(shell.predict.lab).predictions.size(), area.max.x);
  ImGui::EndGroup();
  ImGui::PopID();
  return ImGui::GetItemRectMax().y - area.min.y;
}

}  // namespace app
