#include "app/shell/predict/predict_parts.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"

namespace app {

namespace {

/// What was said to it last time; for a curve the score.
void draw_last_time(const store::Prediction& before, const Prediction& question, const chapters::Field* output) {
  const auto& t = theme();
  ImGui::SameLine();
  if (question.curve) {
    ui::text("last time", t.muted, Type::small);
    ImGui::SameLine();
    ui::text(widgets::format(before.committed, "", 3), t.text, Type::small, Font::mono);
    ImGui::SameLine();
    return ui::text("of 100", t.muted, Type::small);
  }
  ui::text("last time you said", t.muted, Type::small);
  if (!output) return;
  ImGui::SameLine();
  if (kind_of(question, *output) == QuestionKind::choice && question.options.empty()) {
    const auto i = static_cast<std::size_t>(std::max(before.committed, 0.0));
    const bool known = output->kind == chapters::Kind::choice && i < output->options->size();
    return ui::text(known ? std::string_view((*output->options)[i].label) : i > 0 ? "yes" : "no", t.text, Type::small);
  }
  const bool listed = !question.options.empty() && before.committed >= 0 &&
                      before.committed < static_cast<double>(question.options.size());
  const double said = listed ? question.options[static_cast<std::size_t>(before.committed)] : before.committed;
  ui::text(widgets::format(said, output->spec.unit, 4), t.text, Type::small, Font::mono);
}

}  // namespace

/// The drawer's list of questions; the question that is asked stands on the canvas.
void draw_predict(Shell& shell) {
  const auto& t = theme();
  const std::string_view id = shell.workspace.lab().info().id;
  const auto& questions = shell.workspace.content.of(id).predictions;
  if (questions.empty()) return ui::text("This lab asks nothing yet.", t.muted);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Prediction& q = questions[i];
    ImGui::PushID(static_cast<int>(i));
    const bool asked_now = question_open(shell) && !shell.predict.own && shell.predict.index == i;
    if (asked_now)
      ui::text("asked above", t.accent, Type::small);
    else if (ui::button("Ask"))
      ask_question(shell, i);
    if (const auto* before = shell.workspace.progress.latest(id, q.id))
      draw_last_time(*before, q, shell.workspace.lab().outputs().find(q.output));
    ui::wrapped(q.question, asked_now ? t.text : t.muted, Type::small);
    ui::spacing(4);
    ImGui::PopID();
  }
}

}  // namespace app
