#include "app/content/load_drills.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/platform/json.h"
#include "widgets/base/parts.h"

namespace app {
namespace {

/// One template being read; remembers the first thing that is wrong with it.
struct Reading {
  const Json& object;
  std::string error;

  void blame(const std::string& what) {
    if (error.empty()) error = what;
  }
  const Json* find(const char* key) const {
    const auto at = object.find(key);
    return at == object.end() ? nullptr : &*at;
  }
  std::string text(const char* key, bool required) {
    const Json* v = find(key);
    if (!v && required) blame(std::string("the key \"") + key + "\" is missing");
    if (v && !v->is_string()) blame(std::string(key) + " must be a text");
    return v && v->is_string() ? v->get<std::string>() : std::string();
  }
  double number(const char* key, double otherwise, double lo, double hi) {
    const Json* v = find(key);
    if (!v) return otherwise;
    const double n = v->is_number() ? v->get<double>() : std::nan("");
    if (!(n >= lo && n <= hi))
      blame(std::string(key) + " must be a number from " + widgets::exact(lo) + " to " + widgets::exact(hi));
    return n >= lo && n <= hi ? n : otherwise;
  }
};

std::optional<std::string> value_text(const Json& v) {
  if (v.is_string()) return v.get<std::string>();
  if (v.is_boolean()) return v.get<bool>() ? "true" : "false";
  if (v.is_number() && std::isfinite(v.get<double>())) return widgets::exact(v.get<double>());
  if (!v.is_array()) return {};
  std::string joined;
  for (const Json& e : v) {
    if (!e.is_string()) return {};
    joined += (joined.empty() ? "" : ",") + e.get<std::string>();
  }
  return joined;
}

std::vector<chapters::DrillValue> values(Reading& r, const char* key) {
  std::vector<chapters::DrillValue> out;
  const Json* object = r.find(key);
  if (!object) return out;
  if (!object->is_object())
    r.blame(std::string(key) + " must be an object");
  else
    for (const auto& [name, value] : object->items()) {
      const auto text = value_text(value);
      if (text)
        out.push_back({name, *text});
      else
        r.blame(std::string(key) + "." + name + " must be a number, a text, true, false or a list of texts");
    }
  return out;
}

const Json& list(Reading& r, const char* key) {
  static const Json none = Json::array();
  const Json* v = r.find(key);
  if (v && !v->is_array()) r.blame(std::string(key) + " must be a list");
  return v && v->is_array() ? *v : none;
}

models::Result<chapters::DrillVary> vary_of(const Json& v) {
  using Vary = models::Result<chapters::DrillVary>;
  if (!v.is_object()) return Vary::fail("an entry of vary must be an object");
  Reading r{v, {}};
  chapters::DrillVary out;
  out.key = r.text("key", true);
  if (r.find("options")) {
    for (const Json& o : list(r, "options")) {
      const auto text = value_text(o);
      if (text) out.options.push_back(*text);
    }
    if (out.options.empty()) r.blame("options of " + out.key + " must hold at least one value");
  } else {
    out.lo = r.number("lo", std::nan(""), -1e300, 1e300);
    out.hi = r.number("hi", std::nan(""), -1e300, 1e300);
    out.digits = static_cast<int>(r.number("digits", 2, 1, 15));
    out.step = r.number("step", 1, 1e-300, 1e300);
    const std::string scale = r.text("scale", false);
    using chapters::DrillScale;
    if (scale == "log")
      out.scale = DrillScale::log;
    else if (scale == "step")
      out.scale = DrillScale::step;
    else if (scale == "power_of_two")
      out.scale = DrillScale::power_of_two;
    else if (!scale.empty() && scale != "linear")
      r.blame("scale of " + out.key + " is \"" + scale + "\": linear, log, step or power_of_two is allowed");
    if (!(out.lo < out.hi)) r.blame("lo of " + out.key + " must be below hi");
    const bool positive = out.scale == DrillScale::log || out.scale == DrillScale::power_of_two;
    if (positive && !(out.lo > 0)) r.blame("lo of " + out.key + " must be above 0 on this scale");
  }
  return r.error.empty() ? Vary::ok(std::move(out)) : Vary::fail(std::move(r.error));
}

void read_red_herrings(Reading& r, chapters::Drill& d) {
  for (const Json& v : list(r, "red_herrings")) {
    const std::string key = v.is_string() ? v.get<std::string>() : std::string();
    if (std::none_of(d.vary.begin(), d.vary.end(), [&](const auto& vary) { return vary.key == key; }))
      r.blame("red_herrings names \"" + key + "\", which is no key of vary");
    d.red_herrings.push_back(key);
  }
}

chapters::Drill drill_of(Reading& r) {
  chapters::Drill d;
  d.id = r.text("id", true);
  d.title = r.text("title", true);
  d.lab = r.text("lab", true);
  d.output = r.text("output", true);
  d.ask = r.text("ask", true);
  d.hint = r.text("hint", false);
  d.level = static_cast<int>(r.number("level", 0, 1, chapters::drill_levels));
  if (d.level == 0) r.blame("level must be a number from 1 to 6");
  d.tolerance = r.number("tolerance", 0.05, 1e-6, 0.5);
  d.set = values(r, "set");
  d.published = values(r, "published");
  for (const Json& v : list(r, "vary")) {
    if (auto vary = vary_of(v))
      d.vary.push_back(std::move(*vary));
    else
      r.blame(vary.error);
  }
  for (const Json& v : list(r, "steps")) {
    if (v.is_string())
      d.steps.push_back(v.get<std::string>());
    else
      r.blame("steps must be texts");
  }
  if (d.steps.empty()) r.blame("steps must show how the answer is found");
  for (const Json& v : list(r, "slips")) {
    if (!v.is_object()) {
      r.blame("an entry of slips must be an object");
      continue;
    }
    Reading slip{v, {}};
    d.slips.push_back({values(slip, "set"), slip.text("output", false), slip.text("says", true),
                       slip.number("factor", 1, -1e12, 1e12)});
    if (!slip.error.empty()) r.blame(slip.error);
  }
  d.follows = r.text("follows", false);
  for (auto& v : values(r, "carry")) d.carry.emplace_back(std::move(v.key), std::move(v.text));
  d.ask_alone = r.text("ask_alone", false);
  if (!d.ask_alone.empty() && d.follows.empty())
    r.blame("ask_alone is for a drill that follows another: add \"follows\", or leave it out");
  read_red_herrings(r, d);
  return d;
}

}  // namespace

std::vector<chapters::Drill> parse_drills(std::string_view text, std::string_view origin,
                                          std::vector<std::string>& errors) {
  std::vector<chapters::Drill> out;
  const auto complain = [&](const std::string& what) { errors.push_back(std::string(origin) + ": " + what + "."); };
  const auto doc = parse_json(text);
  if (!doc || !doc->is_object()) {
    complain("this is not a JSON object: {\"topic\": {...}, \"drills\": [...]} is expected");
    return out;
  }
  const auto topic = doc->find("topic");
  const auto drills = doc->find("drills");
  if (topic == doc->end() || !topic->is_object() || drills == doc->end() || !drills->is_array()) {
    complain("\"topic\" must be an object and \"drills\" a list");
    return out;
  }
  Reading heading{*topic, {}};
  const std::string id = heading.text("id", true), label = heading.text("label", true);
  if (!heading.error.empty()) {
    complain("topic: " + heading.error);
    return out;
  }
  int n = 0;
  for (const Json& one : *drills) {
    const std::string where = "drill " + std::to_string(++n);
    if (!one.is_object()) {
      complain(where + " must be an object");
      continue;
    }
    Reading r{one, {}};
    chapters::Drill d = drill_of(r);
    d.topic = id;
    d.topic_label = label;
    if (r.error.empty())
      out.push_back(std::move(d));
    else
      complain(where + (d.id.empty() ? "" : " (" + d.id + ")") + ": " + r.error);
  }
  return out;
}

}  // namespace app
