#pragma once
#include "app/shell/predict/predict.h"

/// What the files of predict share.
namespace app {

/// The question that the shell's PredictState is about; null where there is none.
const Prediction* question_of(const Shell& shell);
/// Was the committed answer right, or near enough to count?
bool is_close(const PredictState& state, const Prediction& question);
/// Writes verdict and, for a curve, score, card and explanation into the state, which holds both answers.
void say_verdict(PredictState& state, const Prediction& question, const chapters::Field& output);
/// The axes, samples and given lines of the question's plot, over what the state keeps.
widgets::DrawCurveSpec curve_spec(const PredictState& state, const CurveAsk& ask, const chapters::Field& output);

/// The inputs that make a question's scenario, as text.
std::string scenario_text(const chapters::Lab& lab);
/// The inputs of the open lab have changed under a question about its scenario: the same question, about what is set
/// now.
void follow_own_question(Shell& shell);
/// The computed line of such a curve has come, or an error: the plot gets its range and can be drawn on.
void take_range(PredictState& state);

/// The y axis of the plot under a revealed curve.
widgets::AxisSpec below_axis(const PredictState& state, const chapters::Field& below);

}  // namespace app
