#include "app/content/questions.h"

#include <algorithm>
#include <cmath>

#include "app/content/slips.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;
using models::Status;

constexpr std::size_t min_points = 5, max_points = 257;

void read_range(Reader& r, const Json& item, CurveAsk& ask) {
  const auto at = item.find("range");
  const bool pair =
      at != item.end() && at->is_array() && at->size() == 2 && (*at)[0].is_number() && (*at)[1].is_number();
  if (!pair) return r.fail("range must be two numbers, the ends of the plot's y axis");
  ask.least = (*at)[0].get<double>();
  ask.most = (*at)[1].get<double>();
  if (!(ask.least < ask.most)) r.fail("range must begin below its end");
}

void read_given(Reader& r, const Json& item, CurveAsk& ask) {
  const auto at = item.find("given");
  if (at == item.end()) return;
  if (!at->is_array()) return r.fail("given must be a list of {\"label\", \"value\"}");
  for (const Json& line : *at) {
    Reader one(line, "given");
    GivenLine given{one.text("label"), one.number("value", std::nan("")), one.number("at", std::nan(""))};
    if (one.error().empty() && std::isnan(given.value)) one.fail("the key \"value\" is missing");
    if (!one.error().empty()) return r.fail(one.error());
    ask.given.push_back(std::move(given));
  }
}

void read_below(Reader& r, const Json& item, CurveAsk& ask) {
  const auto at = item.find("below");
  if (at == item.end()) return;
  Reader below(*at, "below");
  ask.below = below.text("output");
  ask.below_says = below.text("says");
  if (!below.error().empty()) r.fail(below.error());
}

CurveAsk parse_curve(Reader& r, const Json& item) {
  CurveAsk ask;
  Reader draw(item["draw"], "draw");
  ask.over = draw.text("over");
  ask.output = draw.text("output");
  ask.lo = draw.number("lo", std::nan(""));
  ask.hi = draw.number("hi", std::nan(""));
  const double points = draw.number("points", 65);
  const std::string scale = draw.text("scale", false);
  if (scale == "log")
    ask.scale = CurveScale::log;
  else if (scale == "step")
    ask.scale = CurveScale::step;
  else if (scale != "linear" && !scale.empty())
    draw.fail("scale is \"" + excerpt(scale, 40) + "\": linear, log or step is allowed");
  if (!(ask.lo < ask.hi)) draw.fail("lo and hi must be numbers, lo below hi");
  if (ask.scale == CurveScale::log && !(ask.lo > 0)) draw.fail("a log scale needs lo above 0");
  if (!(points >= min_points && points <= max_points)) draw.fail("points must be from 5 to 257");
  if (!draw.error().empty()) r.fail(draw.error());
  ask.points = static_cast<std::size_t>(std::clamp(points, 5.0, 257.0));
  read_range(r, item, ask);
  read_given(r, item, ask);
  read_below(r, item, ask);
  const auto why = item.find("explain");
  if (why == item.end() || !why->is_object()) {
    r.fail("explain must be an object with \"too high\", \"too low\" and \"wrong bend\"");
    return ask;
  }
  Reader kinds(*why, "explain");
  ask.too_high = kinds.text("too high");
  ask.too_low = kinds.text("too low");
  ask.wrong_bend = kinds.text("wrong bend");
  if (!kinds.error().empty()) r.fail(kinds.error());
  return ask;
}

std::string sentence(const Prediction& q, const std::string& what) { return "Question " + q.id + ": " + what; }

Status check_number(const Prediction& q, chapters::Lab& lab, const Field& output) {
  lab.compute_facts();
  const double computed = reading(lab, q.output);
  if (!std::isfinite(computed))
    return Status::fail(sentence(q, lab.reason().empty() ? q.output + " is not a number." : lab.reason()));
  const auto near = [&](double option) { return std::abs(option - computed) <= q.tolerance * std::abs(computed); };
  if (!q.options.empty() && std::count_if(q.options.begin(), q.options.end(), near) != 1)
    return Status::fail(sentence(q, "exactly one of its options must be within the tolerance of what is computed."));
  const std::size_t choices = choices_of(q, output).size();
  if (choices == 1) return Status::fail(sentence(q, "one option alone is no question."));
  if (const std::string fault = slips_fault(q, computed, choices, choices > 0 ? right_choice(q, computed) : 0);
      !fault.empty())
    return Status::fail(sentence(q, fault));
  return Status::ok();
}

Status check_curve(const Prediction& q, const chapters::Lab& lab, const Field& output) {
  const CurveAsk& ask = *q.curve;
  const auto axis = curve_axis(lab, ask);
  if (!axis) return Status::fail(sentence(q, axis.error));
  chapters::Progress progress;
  const auto swept = sweep(lab, {*axis}, ask.output, progress);
  if (!swept) return Status::fail(sentence(q, swept.error));
  std::size_t feasible = 0;
  double lo = HUGE_VAL, hi = -HUGE_VAL;
  for (const double v : swept->values) {
    if (!std::isfinite(v)) continue;
    ++feasible;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  if (5 * feasible < 4 * swept->values.size())
    return Status::fail(sentence(q, "its curve is infeasible over more than a fifth of its range."));
  if (!(lo >= ask.least && hi <= ask.most))
    return Status::fail(sentence(q, "its curve runs from " + widgets::format_text(lo, output.spec.unit, 4) + " to " +
                                        widgets::format_text(hi, output.spec.unit, 4) +
                                        ", which the range given does not hold."));
  const bool log = curve_on_log(ask, output);
  if (log && !(ask.least > 0)) return Status::fail(sentence(q, "a log axis needs a range above 0."));
  const double part = log ? std::log(hi / lo) / std::log(ask.most / ask.least) : (hi - lo) / (ask.most - ask.least);
  if (part < 0.1) return Status::fail(sentence(q, "its curve moves by less than a tenth of the range given."));
  if (!ask.below.empty()) {
    const Field* const below = lab.outputs().find(ask.below);
    if (!below) return Status::fail(sentence(q, unknown_key(lab.info().id, "output", ask.below, lab.outputs())));
    const auto under = sweep(lab, {*axis}, ask.below, progress);
    if (!under) return Status::fail(sentence(q, under.error));
    const auto finite =
        std::count_if(under->values.begin(), under->values.end(), [](double v) { return std::isfinite(v); });
    if (static_cast<std::size_t>(finite) < feasible)
      return Status::fail(sentence(q, ask.below + " is not a number everywhere that the curve is."));
  }
  for (const GivenLine& given : ask.given)
    if (!(given.value >= ask.least && given.value <= ask.most) || given.at < ask.lo || given.at > ask.hi)
      return Status::fail(sentence(q, "what is given as \"" + given.label + "\" lies outside of the range given."));
  return Status::ok();
}

}  // namespace

/// What is asked is written out: a live value is the outputs', and those are under the veil.
static std::string question_text(Reader& r, const char* key) {
  std::string text = r.text(key);
  if (text.find_first_of("{}") != std::string::npos)
    r.fail(std::string(key) + " holds a live value in braces: write the figure itself");
  return text;
}

Prediction parse_question(Reader& r, const Json& item) {
  Prediction p;
  p.id = r.text("id");
  if (!item.is_object()) return p;
  p.set = r.object("set");
  if (item.contains("draw")) {
    p.question = question_text(r, "ask");
    p.explain = r.text("why");
    p.curve = parse_curve(r, item);
    p.output = p.curve->output;
    return p;
  }
  p.question = question_text(r, "question");
  p.output = r.text("output");
  p.explain = r.text("explain");
  p.tolerance = r.number("tolerance", 0.1);
  if (const auto at = item.find("options"); at != item.end()) {
    const bool numbers =
        at->is_array() && std::all_of(at->begin(), at->end(), [](const Json& o) { return o.is_number(); });
    if (!numbers) r.fail("options must be a list of numbers");
    if (numbers)
      for (const Json& o : *at) p.options.push_back(o.get<double>());
  }
  read_slips(r, item, p);
  return p;
}

QuestionKind kind_of(const Prediction& q, const Field& output) {
  if (q.curve) return QuestionKind::curve;
  const bool chosen = !q.options.empty() || output.kind == Kind::choice || output.kind == Kind::toggle;
  return chosen ? QuestionKind::choice : QuestionKind::number;
}

std::vector<std::string> choices_of(const Prediction& q, const Field& output) {
  std::vector<std::string> out;
  if (!q.options.empty())
    for (const double o : q.options) out.push_back(widgets::format_text(o, output.spec.unit, 4));
  else if (output.kind == Kind::choice)
    for (const auto& o : *output.options) out.push_back(o.label);
  else if (output.kind == Kind::toggle)
    out = {"no", "yes"};
  return out;
}

std::size_t right_choice(const Prediction& q, double computed) {
  if (q.options.empty()) return static_cast<std::size_t>(std::max(computed, 0.0));
  const auto nearer = [&](double a, double b) { return std::abs(a - computed) < std::abs(b - computed); };
  return static_cast<std::size_t>(std::min_element(q.options.begin(), q.options.end(), nearer) - q.options.begin());
}

chapters::LabPtr asked_lab(const Prediction& question, std::string_view id) {
  auto lab = chapters::make_lab_by_id(id);
  if (!lab || !apply_inputs(*lab, parse_own_json(question.set))) return nullptr;
  return lab;
}

models::Result<SweepAxis> curve_axis(const chapters::Lab& lab, const CurveAsk& ask) {
  using Axis = models::Result<SweepAxis>;
  const Field* f = lab.inputs().find(ask.over);
  if (!f) return Axis::fail(unknown_key(lab.info().id, "input", ask.over, lab.inputs()));
  SweepAxis axis{ask.over, {}, {}, ask.scale == CurveScale::log};
  if (f->kind == Kind::choice) {
    const auto last = static_cast<double>(f->options->size()) - 1;
    if (ask.scale != CurveScale::step || !(ask.lo >= 0 && ask.hi <= last))
      return Axis::fail(ask.over + " is a choice: its scale is step, from 0 to " +
                        std::to_string(f->options->size() - 1) + ".");
    for (double v = std::ceil(ask.lo); v <= ask.hi; v += 1) {
      axis.values.push_back(v);
      axis.labels.push_back((*f->options)[static_cast<std::size_t>(v)].label);
    }
    return Axis::ok(std::move(axis));
  }
  if (!f->is_number()) return Axis::fail(ask.over + " cannot be drawn over: it is neither a number nor a choice.");
  if (!(f->spec.any_number || (ask.lo >= f->spec.range.lo && ask.hi <= f->spec.range.hi)))
    return Axis::fail(ask.over + " runs from " + widgets::format_text(f->spec.range.lo, f->spec.unit, 6) + " to " +
                      widgets::format_text(f->spec.range.hi, f->spec.unit, 6) + ": the question leaves that.");
  const bool whole = f->kind == Kind::integer || ask.scale == CurveScale::step;
  const std::size_t most = ask.points;
  const double span = ask.hi - ask.lo;
  const std::size_t n =
      whole && !axis.log && span + 1 <= static_cast<double>(most) ? static_cast<std::size_t>(span) + 1 : most;
  for (std::size_t i = 0; i < n; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(n - 1);
    double v = axis.log ? ask.lo * std::pow(ask.hi / ask.lo, share) : ask.lo + span * share;
    if (i + 1 == n) v = ask.hi;
    if (whole) v = std::round(v);
    if (axis.values.empty() || v > axis.values.back()) axis.values.push_back(v);
  }
  return Axis::ok(std::move(axis));
}

bool curve_on_log(const CurveAsk& ask, const Field& output) {
  if (output.spec.unit == "%") return false;
  return output.spec.range.scale == chapters::Scale::log || (ask.least > 0 && ask.most >= 100 * ask.least);
}

std::string explained(const Prediction& question, const chapters::Lab& lab) {
  const std::string_view words = question.explain;
  std::string out;
  for (std::size_t at = 0; at < words.size();) {
    const auto open = words.find('{', at), close = words.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos) return out += words.substr(at);
    const std::string_view key = words.substr(open + 1, close - open - 1);
    const Field* f = lab.outputs().find(key);
    if (!f) f = lab.inputs().find(key);
    out += words.substr(at, open - at);
    const bool number = f && f->is_number();
    out += number ? widgets::format_text(f->number(), f->spec.unit, 3,
                                         f->spec.binary ? widgets::Prefix::binary : widgets::Prefix::si)
           : f    ? display_text(*f)
                  : std::string(words.substr(open, close - open + 1));
    at = close + 1;
  }
  return out;
}

std::string gap_text(double said, double computed) {
  const double ratio = said / computed;
  if (!(ratio > 0) || !std::isfinite(ratio)) return {};
  const std::string side = ratio > 1 ? " too high" : " too low";
  if (ratio >= 2 || ratio <= 0.5)
    return widgets::format_text(std::max(ratio, 1 / ratio), widgets::times_unit, 2) + side;
  const double percent = std::abs(ratio - 1) * 100;
  return percent < 0.05 ? std::string() : widgets::format_text(percent, "%", 2) + side;
}

std::string verdict_text(bool close, std::string_view said, std::string_view computed, std::string_view gap) {
  if (close && said == computed) return "\xE2\x9C\x93 Right: " + std::string(said) + ".";
  std::string out = close ? "\xE2\x9C\x93 Close: you said " : "Not quite: you said ";
  out.append(said).append(", it is ").append(computed);
  if (!gap.empty()) out.append(" (").append(gap).append(")");
  return out + ".";
}

Status check_question(const Prediction& q, std::string_view id) {
  const auto fresh = chapters::make_lab_by_id(id);
  if (!fresh) return Status::fail(sentence(q, unknown_lab(id)));
  if (const auto set = apply_inputs(*fresh, parse_own_json(q.set)); !set) return Status::fail(sentence(q, set.error));
  const Field* output = fresh->outputs().find(q.output);
  if (!output) return Status::fail(sentence(q, unknown_key(id, "output", q.output, fresh->outputs())));
  return q.curve ? check_curve(q, *fresh, *output) : check_number(q, *fresh, *output);
}

}  // namespace app
