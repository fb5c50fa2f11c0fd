#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/content/own_question.h"
#include "app/scenario/scenario.h"
#include "app/shell/predict/predict_parts.h"
#include "app/shell/shell.h"

/// How a question begins: of the lab's own questions, and of what a lecturer asks about the scenario on the screen.
namespace app {
namespace {

/// Why a computed lab has no figure for this output.
std::string no_figure(const chapters::Lab& lab, std::string_view output) {
  if (!lab.reason().empty()) return lab.reason();
  return "With these inputs there is no figure for \"" + std::string(lab.outputs().find(output)->spec.label) +
         "\": change an input, or ask for another output.";
}

void compute_answer(const Prediction& question, chapters::Lab& lab, const SweepAxis& axis, PredictAnswer& answer,
                    chapters::Progress& progress) {
  const bool curve = question.curve.has_value();
  if (curve) {
    auto swept = sweep(lab, {axis}, question.output, progress);
    answer.error = swept.error;
    if (swept) answer.curve = std::move(swept->values);
    if (const std::string& below = question.curve->below; answer.error.empty() && !below.empty())
      if (auto under = sweep(lab, {axis}, below, progress)) answer.below = std::move(under->values);
  }
  lab.compute(progress);
  answer.here = reading(lab, question.output);
  answer.number = curve ? 100 : answer.here;
  if (!std::isfinite(answer.here)) answer.no_figure = no_figure(lab, question.output);
  if (answer.error.empty() && !curve) answer.error = answer.no_figure;
  answer.why = question.explain.empty() ? std::string(lab.answer()) : explained(question, lab);
  std::replace(answer.why.begin(), answer.why.end(), '\n', ' ');
  std::erase(answer.why, '`');  // what sets figures of the answer apart
}

/// Places and names of the samples; false where the lab has no such axis.
bool begin_axis(PredictState& state, const CurveAsk& ask) {
  auto axis = curve_axis(*state.asked, ask);
  if (!axis) return false;
  state.axis = std::move(*axis);
  state.places = state.axis.values;
  state.labels = state.axis.labels;
  constexpr std::size_t max_named = 24;
  if (state.labels.empty() && ask.scale == CurveScale::step && state.places.size() <= max_named)
    for (const double v : state.places) state.labels.push_back(widgets::format_text(v, "", 6));
  for (std::size_t i = 0; i < state.labels.size(); ++i) {
    state.categories.push_back(state.labels[i]);
    state.places[i] = static_cast<double>(i);
  }
  return true;
}

/// What is given, and the empty line, once the range of the y axis is known.
void begin_line(PredictState& state, const CurveAsk& ask, const chapters::Field& output) {
  for (const GivenLine& given : ask.given) {
    const auto at = std::find(state.axis.values.begin(), state.axis.values.end(), given.at);
    const bool named = !state.categories.empty() && at != state.axis.values.end();
    state.given.push_back(
        {given.label, given.value, named ? static_cast<double>(at - state.axis.values.begin()) : given.at});
  }
  const auto kind = curve_on_log(ask, output) ? widgets::AxisKind::log10 : widgets::AxisKind::linear;
  state.line.begin(state.places.size(), kind, {ask.least, ask.most});
}

/// Every number among the inputs: what the question gives.
std::vector<widgets::GivenAxis> given_axes(const chapters::Lab& asked) {
  std::vector<widgets::GivenAxis> out;
  for (const chapters::Field& f : asked.inputs()) {
    if (!f.is_number()) continue;
    const chapters::Spec& s = f.spec;
    const double value = f.number();
    const auto [lo, hi] = s.drag();
    out.push_back({s.label, s.unit, {std::min(lo, value), std::max(hi, value)}, value});
  }
  return out;
}

/// Kind, choices and axis of the state's question about `state.asked`, which becomes null where the data is broken.
void prepare(PredictState& state, const Prediction& question) {
  const chapters::Field* output = state.asked ? state.asked->outputs().find(question.output) : nullptr;
  if (output && question.curve && !begin_axis(state, *question.curve)) output = nullptr;
  if (!output) {
    state.asked = nullptr;
    return;
  }
  state.kind = kind_of(question, *output);
  state.choices = choices_of(question, *output);
  state.preparing = question.curve && state.own;
  if (question.curve && !state.preparing) begin_line(state, *question.curve, *output);
  state.given_axes = given_axes(*state.asked);
}

/// The veil falls, and the answer is worked out behind it.
void open_question(Shell& shell, const Prediction& question) {
  Workspace& w = shell.workspace;
  PredictState& state = shell.predict;
  state.scenario = scenario_text(*state.asked);
  state.open = true;
  state.found = std::make_shared<PredictAnswer>();
  const std::shared_ptr<chapters::Lab> copy = state.asked->clone();
  const auto work = [question, copy, axis = state.axis, found = state.found](chapters::Progress& p) {
    compute_answer(question, *copy, axis, *found, p);
  };
  if (state.kind == QuestionKind::curve || copy->info().job) {
    state.job = w.jobs.submit("predict", work);
  } else {
    chapters::Progress progress;
    work(progress);
  }
}

}  // namespace

std::string scenario_text(const chapters::Lab& lab) { return to_text(set_by_hand(lab)); }

void ask_question(Shell& shell, std::size_t index) {
  Workspace& w = shell.workspace;
  const std::string id(w.lab().info().id);
  const auto& questions = w.content.of(id).predictions;
  if (questions.empty()) return;
  PredictState next;
  next.lab = id;
  next.index = index % questions.size();
  const Prediction& question = questions[next.index];
  next.asked = asked_lab(question, id);
  const bool among_questions = question_shown(shell) && !shell.predict.own_inputs.empty();
  next.own_inputs = among_questions ? shell.predict.own_inputs : to_text(scenario_inputs(w.lab()));
  shell.predict.job.cancel();
  prepare(next, question);
  shell.predict = std::move(next);
  if (!shell.predict.asked) return;
  w.say_failure(w.open_with(id, parse_own_json(question.set), Json::object()));
  open_question(shell, question);
}

models::Status ask_about_scenario(Shell& shell, models::Result<Prediction> question) {
  using models::Status;
  if (!question) return Status::fail(std::move(question.error));
  Workspace& w = shell.workspace;
  PredictState next;
  next.lab = w.lab().info().id;
  next.own = std::move(*question);
  next.asked = w.lab().clone();
  shell.predict.job.cancel();
  prepare(next, *next.own);
  if (!next.asked) return Status::fail("The question cannot be asked of these inputs: choose another output.");
  shell.predict = std::move(next);
  open_question(shell, *shell.predict.own);
  return Status::ok();
}

void follow_own_question(Shell& shell) {
  const PredictState& state = shell.predict;
  const chapters::Lab& lab = shell.workspace.lab();
  const std::string output = state.own->output, over = state.own->curve ? state.own->curve->over : std::string();
  char answer[sizeof state.answer];
  std::copy(std::begin(state.answer), std::end(state.answer), answer);
  const auto asked = ask_about_scenario(shell, over.empty() ? ask_output(lab, output) : ask_curve(lab, output, over));
  if (asked) {
    std::copy(std::begin(answer), std::end(answer), shell.predict.answer);
  } else {
    shell.workspace.say_failure(asked);
    put_question_away(shell, false);
  }
}

void take_range(PredictState& state) {
  CurveAsk& ask = *state.own->curve;
  PredictAnswer& found = *state.found;
  const chapters::Field& output = *state.asked->outputs().find(ask.output);
  if (found.error.empty()) found.error = found.no_figure;
  state.error = found.error;
  if (!found.error.empty()) return;
  const chapters::Field& over = *state.asked->inputs().find(ask.over);
  give_range(ask, output, over.number(), found.here, found.curve);
  state.preparing = false;
  begin_line(state, ask, output);
}

}  // namespace app
