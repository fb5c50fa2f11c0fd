#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using widgets::Font;
using widgets::theme;
using widgets::Type;

/// The lab with the question's inputs, computed; null when the question's data is broken (a test keeps it from being
/// so).
chapters::LabPtr asked(const Prediction& question, std::string_view lab_id) {
  auto lab = chapters::make_lab_by_id(lab_id);
  if (!lab || !apply_inputs(*lab, parse_own_json(question.set))) return nullptr;
  lab->compute();
  return lab;
}

/// |said - computed| / |computed|, or |said| where 0 was computed.
double gap_of(const PredictState& state) {
  return std::abs(state.computed != 0 ? (state.committed - state.computed) / state.computed : state.committed);
}

void commit(Shell& shell, const Prediction& question, const chapters::Lab& lab, std::string_view unit) {
  PredictState& state = shell.predict;
  const auto parsed = widgets::parse_quantity(state.answer, unit);
  state.error = parsed.error;
  if (!parsed.error.empty()) return;
  state.committed = parsed.value;
  state.computed = reading(lab, question.output);
  state.answered = true;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  shell.workspace.progress.predict(lab.info().id, {question.id, state.committed, state.computed, now});
  if (std::isfinite(state.computed))
    shell.workspace.keep_prediction({std::string(lab.info().id), question.id, state.committed, state.computed,
                                     gap_of(state) <= question.tolerance, static_cast<double>(now)});
  shell.workspace.say_failure(shell.workspace.open_with(lab.info().id, parse_own_json(question.set), Json::object()));
  shell.workspace.save();
}

void show_answer(const PredictState& state, const Prediction& question, std::string_view unit) {
  const auto& t = theme();
  const double gap =
      state.computed != 0 ? (state.committed - state.computed) / std::abs(state.computed) : state.committed;
  const bool close = gap_of(state) <= question.tolerance;
  ui::text(close ? "\xE2\x9C\x93 close" : "not yet", close ? t.good : t.bad, Type::body, Font::bold);
  ImGui::SameLine();
  ui::text("you said", t.muted);
  ImGui::SameLine();
  ui::text(widgets::format(state.committed, unit, 4), t.text, Type::body, Font::mono);
  ImGui::SameLine();
  ui::text("the model computes", t.muted);
  ImGui::SameLine();
  ui::text(widgets::format(state.computed, unit, 4), t.accent, Type::body, Font::mono);
  ImGui::SameLine();
  if (std::abs(gap) < 10) {
    ui::text("gap", t.muted);
    ImGui::SameLine();
    ui::text(widgets::format(std::round(gap * 1000) / 10, "%", 3), t.text, Type::body, Font::mono);
  } else {
    ui::text("off by a factor", t.muted);
    ImGui::SameLine();
    ui::text(widgets::format(std::abs(state.committed / state.computed), "", 3), t.text, Type::body, Font::mono);
  }
  ui::wrapped(question.explain, t.text);
}

}  // namespace

void draw_predict(Shell& shell) {
  const auto& t = theme();
  PredictState& state = shell.predict;
  const std::string_view id = shell.workspace.lab().info().id;
  const auto& questions = shell.workspace.content.of(id).predictions;
  if (questions.empty()) return ui::text("This lab asks nothing yet.", t.muted);
  const auto ask = [&](std::size_t index) {
    state = PredictState{.lab = std::string(id), .index = index, .error = {}};
    state.asked = asked(questions[index], id);
  };
  if (state.lab != id || state.index >= questions.size()) ask(0);
  const Prediction& question = questions[state.index];
  const chapters::Lab* lab = state.asked.get();
  const auto* output = lab ? lab->outputs().find(question.output) : nullptr;
  if (!output) return ui::text("This question's data is broken: run `ridgeline check`.", t.warning);
  const std::string_view unit = output->spec.unit;

  ui::wrapped(question.question, t.text, Type::body);
  if (const auto* before = shell.workspace.progress.latest(id, question.id); before && !state.answered) {
    ui::text("last time you said", t.muted, Type::small);
    ImGui::SameLine();
    ui::text(widgets::format(before->committed, unit, 4), t.muted, Type::small, Font::mono);
  }
  if (!state.answered) {
    ImGui::SetNextItemWidth(t.px(220));
    const bool entered = ImGui::InputTextWithHint("##answer", unit.empty() ? "a number" : unit.data(), state.answer,
                                                  sizeof state.answer, ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::SameLine();
    if ((ui::button("Commit", true) || entered) && state.answer[0]) commit(shell, question, *lab, unit);
    if (!state.error.empty()) ui::wrapped(state.error, t.warning, Type::small);
    ui::text("Say a number before you look. Units and prefixes are understood.", t.muted, Type::small);
  } else {
    show_answer(state, question, unit);
    if (questions.size() > 1) {
      if (ui::button("Next question", true)) ask((state.index + 1) % questions.size());
      ImGui::SameLine();
    }
    if (ui::button("Try again")) ask(state.index);
  }
}

}  // namespace app
