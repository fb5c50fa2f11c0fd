#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/content/own_question.h"
#include "app/scenario/scenario.h"
#include "app/shell/shell.h"

namespace app {
namespace {

/// Asks what a step asks, about the lab as the step has set it.
models::Status ask_step(Shell& shell, const LessonStep& s) {
  const chapters::Lab& lab = shell.workspace.lab();
  if (!s.ask.empty())
    return ask_about_scenario(shell, s.over.empty() ? ask_output(lab, s.ask) : ask_curve(lab, s.ask, s.over));
  const auto& questions = shell.workspace.content.of(s.lab).predictions;
  const auto at =
      std::find_if(questions.begin(), questions.end(), [&](const Prediction& p) { return p.id == s.question; });
  if (at == questions.end()) return models::Status::fail(s.lab + " asks no question \"" + s.question + "\".");
  ask_question(shell, static_cast<std::size_t>(at - questions.begin()));
  return models::Status::ok();
}

/// A question is about the step that goes; it would follow the inputs of the next one.
void put_questions_away(Shell& shell, const std::string& lab) {
  follow_question(shell);
  if (question_shown(shell)) put_question_away(shell, false);
  shell.other_questions.erase(lab);
}

}  // namespace

void lesson_go(Shell& shell, std::size_t lesson, std::size_t step) {
  Workspace& w = shell.workspace;
  if (lesson >= w.content.lessons.size()) return;
  const Lesson& l = w.content.lessons[lesson];
  if (step >= l.steps.size()) return;
  const LessonStep& s = l.steps[step];
  const auto said = [&](const models::Status& failed) {
    if (!failed) w.say("Step " + std::to_string(step + 1) + " of \"" + l.title + "\": " + failed.error);
  };
  put_questions_away(shell, s.lab);
  const auto opened = w.open_with(s.lab, parse_own_json(s.inputs), parse_own_json(s.view));
  said(opened);
  follow_question(shell);
  if (opened && s.asks()) said(ask_step(shell, s));
  shell.lesson.playing = true;
  shell.lesson.recording = false;
  shell.lesson.more = false;
  shell.lesson.lesson = lesson;
  shell.lesson.step = step;
  w.resume.lesson_steps[l.id] = static_cast<std::int64_t>(step);
  if (step + 1 == l.steps.size()) w.progress.play_lesson(l.id);
}

bool lesson_may_go_on(Shell& shell) {
  const LessonStep* step = step_shown(shell);
  if (!step || !step->asks() || !question_open(shell)) return true;
  shell.workspace.say("This step asks: answer it, or press Escape to see the answer, and then go on.");
  return false;
}

void lesson_next(Shell& shell) {
  if (shell.lesson.playing && lesson_may_go_on(shell)) lesson_go(shell, shell.lesson.lesson, shell.lesson.step + 1);
}

const LessonStep* step_shown(const Shell& shell) {
  const LessonState& state = shell.lesson;
  const auto& lessons = shell.workspace.content.lessons;
  if (!state.playing || state.lesson >= lessons.size() || state.step >= lessons[state.lesson].steps.size()) return {};
  const LessonStep& s = lessons[state.lesson].steps[state.step];
  return s.lab == shell.workspace.lab().info().id ? &s : nullptr;
}

std::size_t next_lesson(const Shell& shell) {
  const Content& content = shell.workspace.content;
  std::vector<std::string_view> order{"start"};  // what the other lessons build on, then one a chapter
  for (const CurriculumChapter& chapter : content.curriculum) order.push_back(chapter.slug);
  std::size_t first = content.lessons.size();
  for (const std::string_view id : order)
    for (std::size_t i = 0; i < content.lessons.size(); ++i) {
      if (content.lessons[i].id != id) continue;
      if (!shell.workspace.progress.lessons.contains(content.lessons[i].id)) return i;
      first = std::min(first, i);
    }
  return first < content.lessons.size() ? first : 0;
}

void lesson_resume(Shell& shell, std::size_t lesson) {
  const auto& lessons = shell.workspace.content.lessons;
  if (lesson >= lessons.size()) return;
  const auto kept = shell.workspace.resume.lesson_steps.find(lessons[lesson].id);
  const std::size_t last = lessons[lesson].steps.size() - 1;
  std::size_t step =
      kept == shell.workspace.resume.lesson_steps.end() ? 0 : std::min(static_cast<std::size_t>(kept->second), last);
  if (step == last) step = 0;  // played to the end: from the start again
  lesson_go(shell, lesson, step);
}

void lesson_leave(Shell& shell) {
  shell.lesson.playing = false;
  shell.lesson.more = false;
}

void lesson_record_step(Shell& shell) {
  LessonState& state = shell.lesson;
  if (!state.recording) {
    state.recording = true;
    state.playing = false;
    state.draft = Lesson{.id = "my-lesson", .title = "My lesson", .steps = {}};
  }
  const chapters::Lab& lab = shell.workspace.lab();
  LessonStep step{.lab = std::string(lab.info().id),
                  .title = "Step " + std::to_string(state.draft.steps.size() + 1),
                  .inputs = to_text(inputs_to_hand_on(lab)),
                  .view = to_text(fields_to_json(lab.view()))};
  if (question_open(shell)) {  // what is asked now the step asks too
    const PredictState& asked = shell.predict;
    if (!asked.own)
      step.question = shell.workspace.content.of(asked.lab).predictions[asked.index].id;
    else
      step.ask = asked.own->output;
    if (asked.own && asked.own->curve) step.over = asked.own->curve->over;
  }
  state.draft.steps.push_back(std::move(step));
  shell.drawer = Drawer::lesson;
  shell.drawer_open = true;
}

void lesson_finish_recording(Shell& shell) {
  LessonState& state = shell.lesson;
  if (!state.recording) return;
  state.recording = false;
  if (state.draft.steps.empty()) return;
  const auto kept = shell.workspace.keep_lesson(state.draft);
  shell.workspace.say(kept ? "Lesson \"" + state.draft.title + "\" is kept with " +
                                 std::to_string(state.draft.steps.size()) + " steps; play it from the palette."
                           : kept.error);
}

}  // namespace app
