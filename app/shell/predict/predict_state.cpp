#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/content/slips.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "app/shell/predict/predict_parts.h"
#include "app/shell/shell.h"
#include "widgets/number/estimate.h"

namespace app {
namespace {

/// How far off an answer that is not right was: 1 for twice or half a number, 0 to 1 for a curve, 1 for another option.
double miss_of(const PredictState& state) {
  constexpr double most = 10;  // beyond a factor of a thousand, and for another sign
  if (state.kind == QuestionKind::curve) return 1 - state.committed / 100;
  if (state.kind == QuestionKind::choice) return 1;
  const double ratio = state.computed != 0 ? state.committed / state.computed : 0;
  return ratio > 0 ? std::min(most, std::abs(std::log2(ratio))) : most;
}

void keep_guess(Shell& shell, const Prediction& question) {
  PredictState& state = shell.predict;
  const auto now = static_cast<double>(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  Workspace& w = shell.workspace;
  w.progress.predict(state.lab, {question.id, state.committed, state.computed, static_cast<std::int64_t>(now)});
  if (std::isfinite(state.computed))
    w.learner.keep_prediction(
        {state.lab, question.id, state.committed, state.computed, is_close(state, question), now});
  Guess guess;
  guess.question = question.id;
  guess.output = question.output;
  guess.kind = state.kind;
  guess.value = state.committed;
  guess.scenario = state.scenario;
  guess.here = true;
  guess.right = is_close(state, question);
  guess.miss = guess.right ? 0 : miss_of(state);
  guess.prompt = question.question;
  guess.verdict = state.verdict;
  if (state.kind == QuestionKind::choice && !question.options.empty()) {
    // A number that was chosen leaves the same mark as one that was typed.
    guess.kind = QuestionKind::number;
    guess.value = question.options[static_cast<std::size_t>(state.committed)];
  }
  if (state.kind == QuestionKind::curve) {
    guess.over = question.curve->over;
    guess.xs = state.axis.values;
    guess.ys.assign(state.line.values().begin(), state.line.values().end());
    w.learner.keep_curve({state.lab, question.id, state.committed, chapters::curve_text(guess.xs, guess.ys), now});
  }
  auto& all = shell.guesses[state.lab];
  std::erase_if(all, [&](const Guess& g) { return g.question == guess.question; });
  all.push_back(std::move(guess));
  w.save();
}

/// The computed answer has come: the veil goes.
void reveal(Shell& shell) {
  PredictState& state = shell.predict;
  const Prediction* question = question_of(shell);
  const chapters::Field* output = question && state.asked ? state.asked->outputs().find(question->output) : nullptr;
  if (!output) return;
  state.waiting = false;
  if (!state.found->error.empty()) {
    state.error = state.found->error;
    return;
  }
  state.open = false;
  state.answered = true;
  state.computed = state.found->number;
  if (state.kind == QuestionKind::choice)
    state.computed = static_cast<double>(right_choice(*question, state.found->number));
  state.revealed_at_s = ImGui::GetTime();
  state.why = state.found->why;
  say_verdict(state, *question, *output);
  if (state.guessed)  // what led to this answer comes first
    if (const auto slip = slip_of(*question, state.kind, state.committed, state.computed); !slip.empty())
      state.why = std::string(slip) + " " + state.why;
  if (state.guessed && !state.own) keep_guess(shell, *question);
}

}  // namespace

const Prediction* question_of(const Shell& shell) {
  if (shell.predict.own) return &*shell.predict.own;
  const auto& questions = shell.workspace.content.of(shell.predict.lab).predictions;
  return shell.predict.index < questions.size() ? &questions[shell.predict.index] : nullptr;
}

bool is_close(const PredictState& state, const Prediction& question) {
  switch (state.kind) {
    case QuestionKind::curve:
      return state.score.error == chapters::CurveError::close && state.score.compared > 0;
    case QuestionKind::choice:
      return state.committed == state.computed;
    case QuestionKind::number:
      break;
  }
  const double gap = state.computed != 0 ? (state.committed - state.computed) / state.computed : state.committed;
  return std::abs(gap) <= question.tolerance;
}

bool question_open(const Shell& shell) {
  return shell.predict.open && shell.predict.lab == shell.workspace.lab().info().id;
}
bool question_shown(const Shell& shell) {
  return (shell.predict.open || shell.predict.answered) && shell.predict.lab == shell.workspace.lab().info().id;
}
bool question_takes_stage(const Shell& shell) {
  return question_shown(shell) && shell.predict.kind == QuestionKind::curve;
}

std::span<const Guess> guesses(const Shell& shell, std::string_view lab) {
  const auto at = shell.guesses.find(lab);
  return at == shell.guesses.end() ? std::span<const Guess>() : std::span<const Guess>(at->second);
}

std::size_t first_unanswered(const Shell& shell) {
  const std::string_view id = shell.workspace.lab().info().id;
  const auto& questions = shell.workspace.content.of(id).predictions;
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (!shell.workspace.progress.latest(id, questions[i].id)) return i;
  return 0;
}

models::Status answer_question(Shell& shell, std::string_view words) {
  using models::Status;
  PredictState& state = shell.predict;
  if (!question_open(shell)) return Status::fail("No question is open.");
  if (state.preparing) return Status::fail("The plot to draw on is still being prepared: wait a moment.");
  if (state.kind == QuestionKind::number) {
    state.answer[words.copy(state.answer, sizeof state.answer - 1)] = '\0';
    commit_question(shell);
    return {state.error};
  }
  if (state.kind == QuestionKind::choice) {
    const auto at = std::find(state.choices.begin(), state.choices.end(), words);
    if (at == state.choices.end())
      return Status::fail("\"" + excerpt(words) + "\" is no option: " + sentence_list(state.choices) + ".");
    state.committed = static_cast<double>(at - state.choices.begin());
    commit_question(shell);
    return Status::ok();
  }
  std::vector<double> values;
  const std::string_view unit = state.asked->outputs().find(question_of(shell)->output)->spec.unit;
  for (std::string_view left = words; !left.empty();) {
    const auto part = left.substr(0, left.find(','));
    left.remove_prefix(std::min(part.size() + 1, left.size()));
    const auto parsed = widgets::parse_quantity(part, unit);
    if (!parsed.error.empty()) return Status::fail(parsed.error);
    values.push_back(parsed.value);
  }
  if (values.empty()) return Status::fail("A curve needs numbers between commas.");
  const std::size_t samples = state.places.size(), n = values.size();
  for (std::size_t i = 0; i < n; ++i) state.line.draw_to(n > 1 ? i * (samples - 1) / (n - 1) : samples - 1, values[i]);
  state.line.lift();
  commit_question(shell);
  return Status::ok();
}

void put_question_away(Shell& shell, bool restore) {
  PredictState& state = shell.predict;
  state.job.cancel();
  state.open = state.answered = state.waiting = false;
  if (restore && !state.own_inputs.empty())
    shell.workspace.say_failure(shell.workspace.open_with(state.lab, parse_own_json(state.own_inputs), Json::object()));
  state.own_inputs.clear();
}

void show_without_guess(Shell& shell) {
  if (!question_open(shell)) return;
  shell.predict.guessed = false;
  shell.predict.waiting = true;
  follow_question(shell);
}

void commit_question(Shell& shell) {
  PredictState& state = shell.predict;
  const Prediction* question = question_of(shell);
  if (!question_open(shell) || !question || state.waiting) return;
  if (state.kind == QuestionKind::number) {
    if (!state.answer[0]) return;
    const auto parsed = widgets::parse_estimate(state.answer, state.asked->outputs().find(question->output)->spec.unit);
    state.error = parsed.error;
    if (!parsed.error.empty()) return;
    state.committed = parsed.value;
  } else if (state.kind == QuestionKind::curve && !state.line.whole()) {
    return;
  }
  state.guessed = state.waiting = true;
  follow_question(shell);
}

void follow_question(Shell& shell) {
  Workspace& w = shell.workspace;
  const std::string_view id = w.lab().info().id;
  if (shell.predict.lab != id) {  // each lab keeps its own question
    if (!shell.predict.lab.empty()) shell.other_questions[shell.predict.lab] = std::move(shell.predict);
    const auto kept = shell.other_questions.find(id);
    shell.predict = kept == shell.other_questions.end() ? PredictState{} : std::move(kept->second);
    shell.predict.lab = id;
    shell.predict.version = 0;
  }
  PredictState& state = shell.predict;
  const auto all = shell.guesses.find(id);
  const bool anything = state.open || state.answered || all != shell.guesses.end();
  if (anything && state.version != w.current().version()) {
    state.version = w.current().version();
    const std::string now = scenario_text(w.lab());
    if (all != shell.guesses.end())
      for (Guess& guess : all->second) guess.here = guess.scenario == now;
    const bool changed = (state.open || state.answered) && now != state.scenario;
    if (changed && state.own && state.open) {
      follow_own_question(shell);
    } else if (changed) {
      if (state.open) w.say("The question is put away, since the inputs are others now.");
      put_question_away(shell, false);
    }
  }
  const bool came = !state.job || state.job.ended();
  if ((state.waiting || state.preparing) && came && state.found) {
    if (state.job && !state.job.done() && state.found->error.empty()) state.found->error = state.job.error();
    if (state.preparing) take_range(state);
    if (state.waiting) reveal(shell);
  }
  if (state.waiting || (state.preparing && state.error.empty())) shell.animating = true;
  shell.prediction_hides_outputs = question_open(shell);
}

}  // namespace app
