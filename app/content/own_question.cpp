#include "app/content/own_question.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;
using Asked = models::Result<Prediction>;

std::string quoted_label(const Field& f) { return "\"" + std::string(f.spec.label) + "\""; }

/// The part of the input's axis that is drawn over, around its value.
chapters::Span drawn_span(const Field& over, bool log) {
  constexpr double max_factor = 1024;
  const chapters::Span drag = over.spec.drag();
  // A number that is left to the program, 0 on such a scale, has no place on it.
  const double now = log && !(over.number() > 0) ? std::sqrt(drag.lo * drag.hi) : over.number();
  const double least = std::min(drag.lo, now), most = std::max(drag.hi, now);
  if (!log || most <= max_factor * least) return {least, most};
  const double hi = std::min(most, std::max(least, now / std::sqrt(max_factor)) * max_factor);
  return {std::max(least, hi / max_factor), hi};
}

std::string place_words(const Field& over, double value) {
  if (over.kind == Kind::choice) return (*over.options)[static_cast<std::size_t>(value)].label;
  return widgets::format_text(value, over.spec.unit, 3,
                              over.spec.binary ? widgets::Prefix::binary : widgets::Prefix::si);
}

}  // namespace

bool can_be_asked(const Field& f) { return f.is_scalar() && !f.spec.label.empty(); }

bool can_be_drawn_over(const Field& f) {
  if (f.kind == Kind::choice) return f.options->size() > 1 && f.number() >= 0;
  const auto [lo, hi] = f.spec.drag();
  return f.is_number() && std::isfinite(lo) && std::isfinite(hi) && lo < hi && std::isfinite(f.number());
}

Asked ask_output(const chapters::Lab& lab, std::string_view key) {
  const Field* output = lab.outputs().find(key);
  if (!output) return Asked::fail(unknown_key(lab.info().id, "output", key, lab.outputs()));
  if (!can_be_asked(*output))
    return Asked::fail("The output " + std::string(key) +
                       " is neither a number, a choice nor a yes or no: ask another.");
  Prediction p;
  p.id = "own:" + std::string(key);
  p.output = key;
  const std::string label = quoted_label(*output);
  p.question = output->kind == Kind::choice   ? "With these inputs, which is " + label + "?"
               : output->kind == Kind::toggle ? "With these inputs, is it so: " + label + "?"
                                              : "With these inputs, how much is " + label + "?";
  return Asked::ok(std::move(p));
}

Asked ask_curve(const chapters::Lab& lab, std::string_view key, std::string_view over) {
  auto asked = ask_output(lab, key);
  if (!asked) return asked;
  const Field* input = lab.inputs().find(over);
  if (!input) return Asked::fail(unknown_key(lab.info().id, "input", over, lab.inputs()));
  const Field& output = *lab.outputs().find(key);
  if (!output.is_number())
    return Asked::fail("The output " + std::string(key) + " is no number: no curve can be drawn of it.");
  if (!can_be_drawn_over(*input))
    return Asked::fail("The input " + std::string(over) +
                       " is neither a choice nor a number with a range: draw over another.");
  CurveAsk ask;
  ask.over = over;
  ask.output = key;
  constexpr double max_named = 24;
  if (input->kind == Kind::choice) {
    ask.scale = CurveScale::step;
    ask.hi = static_cast<double>(input->options->size()) - 1;
  } else {
    const bool log = input->spec.range.is_log(input->spec.drag().lo);
    const auto [lo, hi] = drawn_span(*input, log);
    ask.lo = lo;
    ask.hi = hi;
    ask.scale = log                                                    ? CurveScale::log
                : input->kind == Kind::integer && hi - lo <= max_named ? CurveScale::step
                                                                       : CurveScale::linear;
  }
  ask.points = lab.info().job ? 17 : 33;
  asked->id += ":" + std::string(over);
  asked->question = "Draw " + quoted_label(output) + " over " + quoted_label(*input) + ", from " +
                    place_words(*input, ask.lo) + " to " + place_words(*input, ask.hi) +
                    ". The other inputs stay as they are.";
  asked->curve = std::move(ask);
  return asked;
}

void give_range(CurveAsk& ask, const Field& output, double place, double value, std::span<const double> computed) {
  double lo = value, hi = value;
  for (const double v : computed) {
    if (!std::isfinite(v)) continue;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  // What stands nowhere on a logarithm is given by its value alone.
  const bool stands = ask.scale != CurveScale::log || place > 0;
  ask.given = {{"as it is set", value, stands ? place : std::numeric_limits<double>::quiet_NaN()}};
  if (output.spec.unit == "%" && lo >= 0 && hi <= 100) {
    ask.least = 0;
    ask.most = 100;
    return;
  }
  if (output.spec.unit != "%" && lo > 0) {
    const bool positive = ask.scale != CurveScale::step && ask.lo > 0 && place > 0;
    double factor = positive ? std::clamp(std::max(ask.hi / place, place / ask.lo), 10.0, 1000.0) : 10.0;
    while (!(lo >= value / factor && hi <= value * factor)) factor *= 10;
    ask.least = value / factor;
    ask.most = value * factor;
    return;
  }
  double most = value != 0 ? 2 * std::abs(value) : 1;
  while (std::max(hi, -lo) > most) most *= 2;
  ask.most = most;
  ask.least = lo < 0 ? -most : 0;
  if (output.spec.range.scale == chapters::Scale::log) ask.least = most / 1e6;  // its axis is a logarithm
}

}  // namespace app
