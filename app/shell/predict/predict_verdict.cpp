#include <algorithm>
#include <cmath>

#include "app/shell/predict/predict_parts.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::CurveError;
using chapters::CurveMeasure;
using widgets::format_text;

std::string times(double factor) { return format_text(factor, widgets::times_unit, 2); }

/// "too high", "too low" or nothing where it is on both sides.
std::string_view side_of(CurveError error) {
  return error == CurveError::too_high ? " too high" : error == CurveError::too_low ? " too low" : "";
}

std::string place_text(const PredictState& state, std::size_t i) {
  if (!state.axis.labels.empty()) return state.axis.labels[i];
  const chapters::Field* over = state.asked->inputs().find(state.axis.key);
  return format_text(state.axis.values[i], over ? over->spec.unit : std::string_view(), 3);
}

std::string within_text(const PredictState& state, CurveMeasure measure) {
  const auto& s = state.score;
  const std::string near = measure == CurveMeasure::ratio ? "within 25 % " : "within 6 % of the range ";
  if (s.close_share == 1) return near + "everywhere";
  if (s.close_up_to > 1) return near + "up to " + place_text(state, s.close_up_to - 1);
  if (s.close_share == 0) return near + "nowhere";
  return near + "at " + format_text(std::round(100 * s.close_share), "%", 2) + " of the places";
}

void say_curve(PredictState& state, const Prediction& q, const chapters::Field& output) {
  const CurveAsk& ask = *q.curve;
  const auto& computed = state.found->curve;
  const CurveMeasure measure = chapters::measure_of(output.spec.unit, computed);
  const auto drawn = state.line.values();
  state.score = chapters::score_curve(drawn, computed, measure, ask.least, ask.most);
  const auto& s = state.score;
  state.committed = state.guessed ? s.score : 0;
  state.score_text = format_text(std::round(s.score), "", 3);
  const std::string by = measure == CurveMeasure::ratio ? times(s.typical_factor)
                                                        : format_text(std::round(1000 * s.mean_share) / 10, "%", 2);
  const std::string_view side = side_of(s.error);
  const std::string of_range = measure == CurveMeasure::ratio ? "" : " of the range";
  state.typical = side.empty() ? "typically off by " + by + of_range : "typically " + by + of_range + std::string(side);
  state.up_to = within_text(state, measure);
  if (!state.guessed) {
    state.verdict = "This is the computed line. Nothing is counted.";
    state.because = state.why;
    return;
  }
  state.verdict = "Your line scores " + state.score_text + " of 100: " + state.typical + ".";
  const double mine = drawn[s.worst], theirs = computed[s.worst];
  const std::string_view here = s.worst_gap > 0 ? " too high" : " too low";
  const std::string at = " at " + place_text(state, s.worst);
  if (measure == CurveMeasure::ratio)
    state.heading = times(std::exp(std::abs(s.worst_gap))) + std::string(here) + at;
  else
    state.heading = (output.spec.unit == "%" ? format_text(std::abs(mine - theirs), "", 2) + " points"
                                             : format_text(std::abs(mine - theirs), output.spec.unit, 2)) +
                    std::string(here) + at;
  state.because = s.error == CurveError::too_high  ? ask.too_high
                  : s.error == CurveError::too_low ? ask.too_low
                  : s.error == CurveError::close   ? state.why
                                                   : ask.wrong_bend;
  if (state.because.empty()) state.because = state.why;  // a question that nobody wrote has no sentence for an error
}

}  // namespace

void say_verdict(PredictState& state, const Prediction& q, const chapters::Field& output) {
  if (state.kind == QuestionKind::curve) return say_curve(state, q, output);
  const std::string_view unit = output.spec.unit;
  const bool close = is_close(state, q);
  const auto shown = [&](double v) {
    if (state.kind == QuestionKind::number)
      return format_text(v, unit, 4, output.spec.binary ? widgets::Prefix::binary : widgets::Prefix::si);
    const auto i = static_cast<std::size_t>(v);
    return i < state.choices.size() ? state.choices[i] : std::string("\xE2\x80\x94");
  };
  if (!state.guessed) {
    state.verdict = "The model computes " + shown(state.computed) + ".";
    return;
  }
  const bool number = state.kind == QuestionKind::number;
  state.verdict = verdict_text(close, shown(state.committed), shown(state.computed),
                               number ? gap_text(state.committed, state.computed) : std::string());
}

widgets::DrawCurveSpec curve_spec(const PredictState& state, const CurveAsk& ask, const chapters::Field& output) {
  using widgets::AxisKind;
  const chapters::Field* over = state.asked->inputs().find(ask.over);
  widgets::DrawCurveSpec spec;
  const bool options = !state.categories.empty();
  const AxisKind log = over->kind == chapters::Kind::integer ? AxisKind::log2 : AxisKind::log10;
  spec.x = {.kind = ask.scale == CurveScale::log ? log : AxisKind::linear,
            .label = over->spec.label,
            .unit = options ? std::string_view() : over->spec.unit,
            .categories = state.categories};
  spec.y = {.kind = curve_on_log(ask, output) ? AxisKind::log10 : AxisKind::linear,
            .label = output.spec.label,
            .unit = output.spec.unit,
            .binary = output.spec.binary};
  const double last = state.places.empty() ? 1 : state.places.back();
  spec.x_range = options ? widgets::Range{-0.5, last + 0.5} : widgets::Range{ask.lo, ask.hi};
  spec.y_range = {ask.least, ask.most};
  spec.xs = state.places;
  spec.given = state.given;
  spec.dots = ask.scale == CurveScale::step;
  return spec;
}

widgets::AxisSpec below_axis(const PredictState& state, const chapters::Field& below) {
  using widgets::AxisKind;
  double lo = HUGE_VAL, hi = -HUGE_VAL;
  for (const double v : state.found->below) {
    if (!std::isfinite(v)) continue;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  const bool log = below.spec.unit != "%" && lo > 0 && hi >= 100 * lo;
  return {.kind = log ? AxisKind::log10 : AxisKind::linear,
          .label = below.spec.label,
          .unit = below.spec.unit,
          .binary = below.spec.binary};
}

}  // namespace app
