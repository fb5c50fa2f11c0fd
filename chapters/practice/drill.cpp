#include "chapters/practice/drill.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "chapters/mechanism/list_text.h"
#include "chapters/mechanism/registry.h"
#include "chapters/practice/drill_answers.h"
#include "chapters/practice/drill_text.h"
#include "models/base/counter_random.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters {

const Drill* find_drill(const std::vector<Drill>& drills, std::string_view id) {
  const auto at = std::find_if(drills.begin(), drills.end(), [&](const Drill& d) { return d.id == id; });
  return at == drills.end() ? nullptr : &*at;
}
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t next() { return state_ = models::counter_hash(state_, 0x9E3779B97F4A7C15u); }
  std::uint64_t state_;
};

double rounded(double v, int digits) {
  if (v == 0 || !std::isfinite(v)) return v;
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(v)))) - digits + 1;
  // Multiples of exact powers of ten only: 3.3e-6 is 33 / 1e7 and not 33 * 1e-7.
  const double power = std::pow(10.0, std::abs(exponent));
  return exponent >= 0 ? std::round(v / power) * power : std::round(v * power) / power;
}

/// "m,n,k" in its parts.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}
/// Several inputs that take the same value.
std::vector<std::string> keys_of(const DrillVary& vary) { return parts_of(vary.key); }

/// A text that is a number and nothing else.
bool read_whole(std::string_view text, double& v) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), v);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

double chosen(const DrillVary& vary, Random& random) {
  const double t = random.unit();
  switch (vary.scale) {
    case DrillScale::power_of_two: {
      const double a = std::round(std::log2(vary.lo)), b = std::round(std::log2(vary.hi));
      return std::exp2(a + std::floor(t * (b - a + 1)));
    }
    case DrillScale::step:
      return vary.lo + vary.step * std::floor(t * (std::floor((vary.hi - vary.lo) / vary.step + 1e-9) + 1));
    case DrillScale::log:
      return std::clamp(rounded(vary.lo * std::pow(vary.hi / vary.lo, t), vary.digits), vary.lo, vary.hi);
    case DrillScale::linear:
      break;
  }
  return std::clamp(rounded(vary.lo + (vary.hi - vary.lo) * t, vary.digits), vary.lo, vary.hi);
}

std::string set_number(const Field& f, double v) {
  if (!f.spec.any_number && !(v >= f.spec.range.lo && v <= f.spec.range.hi))
    return "sets " + std::string(f.key) + " to " + widgets::exact(v) + ", which is outside its range";
  f.set_number(v);
  return {};
}

std::string set_text(const Field& f, std::string_view text) {
  const std::string wrong = "sets " + std::string(f.key) + " to \"" + std::string(text) + "\", which it cannot be";
  switch (f.kind) {
    case Kind::real:
    case Kind::integer: {
      double v = 0;
      return read_whole(text, v) ? set_number(f, v) : wrong;
    }
    case Kind::toggle:
      if (text != "true" && text != "false") return wrong;
      f.toggle() = text == "true";
      return {};
    case Kind::choice:
      return f.set_choice_id(text) ? "" : wrong;
    case Kind::text:
      f.text() = text;
      return {};
    case Kind::reals: {  // "[1,2,3]"
      if (!text.starts_with('[') || !text.ends_with(']')) return wrong;
      std::vector<double> values;
      for (const std::string& part : parts_of(text.substr(1, text.size() - 2))) {
        double& v = values.emplace_back();
        if (!read_whole(part, v) || !(v >= f.spec.range.lo && v <= f.spec.range.hi)) return wrong;
      }
      f.reals() = std::move(values);
      return {};
    }
    case Kind::choices:
      f.chosen().clear();
      for (std::string& id : parts_of(text)) {
        if (std::none_of(f.options->begin(), f.options->end(), [&](const Choice& o) { return o.id == id; }))
          return wrong;
        f.chosen().push_back(std::move(id));
      }
      return {};
    default:
      return wrong;
  }
}

std::string set_value(const Lab& lab, const DrillValue& value) {
  const Field* f = lab.inputs().find(value.key);
  return f ? set_text(*f, value.text)
           : "sets " + value.key + ", which " + std::string(lab.info().id) + " does not have";
}

/// What an input is as text, for links.
std::string text_of(const Field& f) {
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      return widgets::exact(f.number());
    case Kind::toggle:
      return f.toggle() ? "true" : "false";
    case Kind::choice:
      return std::string(f.choice_id());
    case Kind::text:
      return f.text();
    case Kind::choices: {
      std::string s;
      for (const auto& id : f.chosen()) (s += s.empty() ? "" : ",") += id;
      return s;
    }
    case Kind::reals:
      return list_text(f.reals());
    default:
      return {};
  }
}

double number_of(const Lab& lab, std::string_view key) {
  const Field* f = lab.outputs().find(key);
  if (!f) f = lab.inputs().find(key);
  if (!f) return std::nan("");
  return f->is_number() ? f->number() : std::nan("");
}

/// A number carried over reads no longer than people write it, and stays within what the input takes.
double tidy(const Field& f, double v) {
  return f.spec.any_number ? rounded(v, 3) : std::clamp(rounded(v, 3), f.spec.range.lo, f.spec.range.hi);
}

/// What varies, as texts in its order: the same for all inputs of one entry.
std::vector<std::string> drawn_texts(const Drill& d, std::uint64_t seed, std::uint64_t attempt) {
  Random random(models::counter_hash(seed, attempt));
  std::vector<std::string> texts;
  for (const auto& vary : d.vary)
    texts.push_back(vary.options.empty() ? widgets::exact(chosen(vary, random))
                                         : vary.options[random.below(vary.options.size())]);
  return texts;
}

constexpr std::uint64_t max_attempts = 16;  // some of a range may be infeasible (a chip without the format)
constexpr int max_followed = 4;             // templates before one that follows

struct Maker {
  const Drill& drill;
  const std::vector<Drill>& drills;
  DrillLabs& labs;
  DrillFigure previous{std::nan("")};

  /// Sets the lab to what `seed` makes of the template and computes. Returns an error or "".
  std::string set_up(const Drill& d, std::uint64_t seed, std::uint64_t attempt, Lab*& lab, int depth) {
    struct Carried {
      std::string key, text;
      double number;
    };
    std::vector<Carried> carried;
    DrillFigure came{std::nan("")};
    if (!d.follows.empty()) {
      const Drill* before = find_drill(drills, d.follows);
      if (!before || depth > max_followed) return "follows \"" + d.follows + "\", which is not there";
      Lab* other = nullptr;
      if (auto error = set_up(*before, seed, attempt, other, depth + 1); !error.empty()) return error;
      came.value = number_of(*other, before->output);
      if (const Field* f = other->outputs().find(before->output)) came = {came.value, f->spec.unit, f->spec.binary};
      for (const auto& [from, to] : d.carry) {
        const Field* in = other->inputs().find(from);
        carried.push_back({to, in ? text_of(*in) : std::string(), in ? std::nan("") : number_of(*other, from)});
      }
    }
    lab = labs.reset(d.lab);
    if (!lab) return "asks about \"" + d.lab + "\", which is no lab for drills";
    for (const auto& value : d.set)
      if (auto error = set_value(*lab, value); !error.empty()) return error;
    const std::vector<std::string> texts = drawn_texts(d, seed, attempt);
    for (std::size_t i = 0; i < d.vary.size(); ++i)
      for (const auto& key : keys_of(d.vary[i]))
        if (auto error = set_value(*lab, {key, texts[i]}); !error.empty()) return error;
    if (seed == 0)
      for (const auto& value : d.published)
        if (auto error = set_value(*lab, value); !error.empty()) return error;
    for (const auto& c : carried) {
      const Field* f = lab->inputs().find(c.key);
      if (!f) return "carries to " + c.key + ", which " + d.lab + " does not have";
      if (!c.text.empty()) {
        if (auto error = set_text(*f, c.text); !error.empty()) return error;
      } else if (std::isfinite(c.number)) {
        f->set_number(tidy(*f, c.number));
      }
    }
    lab->compute_facts();
    if (depth == 0) previous = came;
    return {};
  }

  /// The answer in the state of an attempt, 0 where it has none. `error` is set where the template is broken.
  double answer(std::uint64_t seed, std::uint64_t attempt, Lab*& lab, std::string& error) {
    error = set_up(drill, seed, attempt, lab, 0);
    if (!error.empty() || !lab->reason().empty()) return 0;
    const double value = number_of(*lab, drill.output);
    const bool follows_answer = drill.follows.empty() || std::isfinite(previous.value);
    return std::isfinite(value) && follows_answer ? value : 0;
  }
};

models::Result<DrillQuestion> failed(const Drill& drill, const std::string& what) {
  return models::Result<DrillQuestion>::fail("Drill " + drill.id + " " + what + ".");
}
std::string not_a_number(const Drill& drill) {
  return "asks for " + drill.output + ", which is no number of " + drill.lab;
}
std::string no_answer(std::uint64_t seed) { return "has no answer for seed " + std::to_string(seed); }

/// The output that is asked for, or null where it is no number.
const Field* asked_of(const Drill& drill, const Lab& lab) {
  const Field* asked = lab.outputs().find(drill.output);
  return asked && asked->is_number() ? asked : nullptr;
}

std::string link_of(const Drill& drill, const Lab& lab) {
  std::vector<std::string> keys;
  for (const auto& v : drill.set) keys.push_back(v.key);
  for (const auto& v : drill.vary)
    for (auto& key : keys_of(v)) keys.push_back(std::move(key));
  for (const auto& [from, to] : drill.carry) keys.push_back(to);
  std::string link = drill.lab;
  char separator = '?';
  for (const auto& key : keys)
    if (const Field* f = lab.inputs().find(key)) {
      (link += separator) += key + "=" + text_of(*f);
      separator = '&';
    }
  return link;
}

/// The first "{name}" that is still in braces, or "".
std::string unfilled(const std::string& text) {
  const auto open = text.find('{'), close = text.find('}', open);
  return open == std::string::npos || close == std::string::npos ? "" : text.substr(open, close - open + 1);
}

/// What counts: "±5 %, in B with any prefix; within 15 % counts half".
std::string unit_label_of(const DrillQuestion& q) {
  std::string label = "\xC2\xB1" + widgets::format_text(q.drill->tolerance * 100, "%", 2);
  if (q.unit == "%")
    label += " of it, in %";
  else
    label += q.unit.empty() ? ", a plain number" : ", in " + std::string(q.unit) + " with any prefix";
  if (takes_near(*q.drill)) label += "; within " + widgets::format_text(near_tolerance * 100, "%", 2) + " counts half";
  return label;
}

/// Computes what each known slip comes to. Returns an error or "".
std::string fill_slips(const Lab& lab, const Maker& maker, DrillQuestion& q) {
  for (const auto& slip : q.drill->slips) {
    LabPtr changed;  // null where the slip reads another figure of the same state
    if (!slip.set.empty()) {
      changed = lab.clone();
      for (const auto& value : slip.set)
        if (auto error = set_value(*changed, value); !error.empty()) return error;
      changed->compute_facts();
    }
    const Lab& other = changed ? *changed : lab;
    const double v = number_of(other, slip.output.empty() ? q.drill->output : slip.output) * slip.factor;
    if (std::isfinite(v) && other.reason().empty())
      q.slips.emplace_back(v, fill_drill_text(slip.says, {other, {v, q.unit, q.binary}, maker.previous}));
  }
  return {};
}

}  // namespace

Lab* DrillLabs::reset(std::string_view id) {
  // A drill about drills would ask itself, and readiness is about one person's answers.
  if (id == "interview/drills" || id == "interview/readiness") return nullptr;
  auto at = labs_.find(id);
  if (at == labs_.end()) at = labs_.emplace(std::string(id), make_lab_by_id(id)).first;
  if (at->second) at->second->reset();
  return at->second.get();
}

models::Result<DrillQuestion> make_question(const Drill& drill, const std::vector<Drill>& drills, std::uint64_t seed,
                                            DrillLabs& labs, DrillWords words) {
  using Made = models::Result<DrillQuestion>;
  DrillQuestion q;
  q.drill = &drill;
  q.seed = seed;
  Maker maker{drill, drills, labs};
  Lab* lab = nullptr;
  const auto fail = [&](const std::string& what) { return failed(drill, what); };
  for (std::uint64_t attempt = 0; attempt < max_attempts && q.answer == 0; ++attempt) {
    std::string error;
    q.answer = maker.answer(seed, attempt, lab, error);
    if (!error.empty()) return fail(error);
  }
  const Field* asked = asked_of(drill, *lab);
  if (!asked) return fail(not_a_number(drill));
  q.unit = asked->spec.unit;
  q.binary = asked->spec.binary;
  if (q.answer == 0) return fail(no_answer(seed));
  if (words == DrillWords::none) return Made::ok(std::move(q));
  const bool alone = words == DrillWords::alone && !drill.follows.empty();
  if (alone && drill.ask_alone.empty())
    return fail("follows " + drill.follows + " and has no ask_alone: give it one, or ask it after that answer");
  const DrillNames names{*lab, {q.answer, q.unit, q.binary}, maker.previous};
  q.text = fill_drill_text(alone ? drill.ask_alone : drill.ask, names);
  q.hint = drill.hint.empty() ? std::string(asked->spec.formula) : fill_drill_text(drill.hint, names);
  for (const auto& step : drill.steps) q.steps.push_back(fill_drill_text(step, names));
  if (const auto left = unfilled(q.text); !left.empty())
    return fail("names " + left + " in its question, which nothing there has");
  q.link = link_of(drill, *lab);
  q.unit_label = unit_label_of(q);
  if (auto error = fill_slips(*lab, maker, q); !error.empty()) return fail("has a slip that " + error);
  return Made::ok(std::move(q));
}

models::Result<DrillQuestion> DrillAnswers::instance(std::uint64_t seed) {
  for (std::uint64_t attempt = 0; attempt < max_attempts; ++attempt) {
    std::string state = seed == 0 ? "as published" : "";
    const Drill* at = &drill_;
    for (int depth = 0; at && depth <= max_followed; ++depth) {
      for (const std::string& text : drawn_texts(*at, seed, attempt)) (state += text) += '\n';
      at = at->follows.empty() ? nullptr : find_drill(drills_, at->follows);
    }
    const auto [known, fresh] = known_.try_emplace(std::move(state), 0.0);
    if (fresh) {
      Maker maker{drill_, drills_, labs_};
      Lab* lab = nullptr;
      std::string error;
      known->second = maker.answer(seed, attempt, lab, error);
      if (!error.empty()) return failed(drill_, error);
      const Field* asked = asked_of(drill_, *lab);
      if (!asked) return failed(drill_, not_a_number(drill_));
      unit_ = asked->spec.unit;
      binary_ = asked->spec.binary;
    }
    if (known->second == 0) continue;
    DrillQuestion q;
    q.drill = &drill_;
    q.seed = seed;
    q.answer = known->second;
    q.unit = unit_;
    q.binary = binary_;
    return models::Result<DrillQuestion>::ok(std::move(q));
  }
  return failed(drill_, no_answer(seed));
}

}  // namespace chapters
