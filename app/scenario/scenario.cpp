#include "app/scenario/scenario.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Fields;
using chapters::Kind;

std::string shown(const Json& v) {
  std::string s = v.dump(-1, ' ', false, Json::error_handler_t::replace);
  return s.size() > 60 ? excerpt(s, 57) + "..." : s;
}

std::string number_text(double v) { return std::string(widgets::format(v, "", 6).view()); }

std::string range_of(const Field& f) {
  std::string s = number_text(f.spec.lo) + " to " + number_text(f.spec.hi);
  if (!f.spec.unit.empty()) s += " " + std::string(f.spec.unit);
  return s;
}

std::string option_ids(const Field& f) {
  std::vector<std::string> ids;
  for (const auto& o : *f.options) ids.push_back(o.id);
  return sentence_list(ids, 40);
}

std::string complain(const Field& f, const Json& v, const std::string& allowed) {
  return std::string(f.key) + " is " + shown(v) + ": " + allowed + ".";
}

std::string number_from(const Field& f, const Json& v) {
  const bool whole = f.kind == Kind::integer;
  const std::string allowed =
      std::string(whole ? "a whole number" : "a number") + " from " + range_of(f) + " is allowed";
  if (f.spec.any_number && v.is_string()) {
    const auto d = widgets::parse_special(v.get_ref<const std::string&>());
    if (!d) return complain(f, v, "a number, inf, -inf or nan is allowed");
    f.set_number(*d);
    return {};
  }
  if (!v.is_number()) return complain(f, v, allowed);
  const double d = v.get<double>();
  if (f.spec.any_number) {
    f.set_number(d);
    return {};
  }
  if (!(d >= f.spec.lo && d <= f.spec.hi) || (whole && d != std::floor(d))) return complain(f, v, allowed);
  f.set_number(d);
  return {};
}

std::string table_from(const Field& f, const Json& v, const FileReader& read) {
  if (!v.is_array() || v.size() > f.spec.max_items)
    return complain(f, v,
                    "a list of at most " + std::to_string(f.spec.max_items) + " rows, each an object, is allowed");
  Fields cells;
  f.table_columns(cells);
  // Check every row on a scratch row first, so that a bad one changes nothing.
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1) {
      f.table_resize(0);
      f.table_resize(v.size());
    }
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (!v[i].is_object()) return complain(f, v[i], "each row must be an object");
      if (pass == 1)
        f.table_row(i, cells);
      else
        f.table_columns(cells);
      for (const auto& [key, cell] : v[i].items()) {
        const Field* c = cells.find(key);
        if (!c) return unknown_key(std::string(f.key) + "[" + std::to_string(i) + "]", "column", key, cells);
        if (auto error = field_from_json(*c, cell, read); !error.empty())
          return std::string(f.key) + "[" + std::to_string(i) + "]." + error;
      }
    }
  }
  return {};
}

}  // namespace

FileText read_text_file(const std::string& path) {
  constexpr std::size_t most = 8u << 20;
  std::ifstream in(path, std::ios::binary);
  if (!in) return {{}, "The file " + path + " cannot be opened: check the path and that it may be read."};
  std::string text;
  // In pieces that follow the size of the file: to clear a buffer of the limit for each of a hundred files is most of
  // reading them.
  for (std::size_t piece = 64u << 10; in && text.size() <= most; piece *= 2) {
    const std::size_t before = text.size();
    text.resize(std::min(before + piece, most + 1));
    in.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return {{}, "The file " + path + " cannot be read: is it a folder?"};
  if (text.size() > most) return {{}, "The file " + path + " is larger than 8 MiB: choose a smaller one."};
  if (text.empty()) return {{}, "The file " + path + " is empty or cannot be read: choose another."};
  return {std::move(text), {}};
}

std::string to_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json field_to_json(const Field& f) {
  switch (f.kind) {
    case Kind::real:
      if (std::isfinite(f.real())) return f.real();
      if (!f.spec.any_number) return nullptr;
      return std::isnan(f.real()) ? "nan" : f.real() < 0 ? "-inf" : "inf";
    case Kind::integer:
      return f.integer();
    case Kind::toggle:
      return f.toggle();
    case Kind::choice:
      return f.choice_id();
    case Kind::choices:
      return f.chosen();
    case Kind::text:
      return f.text();
    case Kind::file:
      return f.file().path;
    case Kind::reals:
      return f.reals();
    case Kind::table: {
      Json rows = Json::array();
      Fields cells;
      for (std::size_t i = 0; i < f.table_size(); ++i) {
        f.table_row(i, cells);
        rows.push_back(fields_to_json(cells));
      }
      return rows;
    }
  }
  return nullptr;
}

Json fields_to_json(const Fields& fields) {
  Json out = Json::object();
  for (const Field& f : fields) out[std::string(f.key)] = field_to_json(f);
  return out;
}

std::string field_from_json(const Field& f, const Json& v, const FileReader& read) {
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      return number_from(f, v);
    case Kind::toggle:
      if (v.is_boolean())
        f.toggle() = v.get<bool>();
      else if (v.is_number() && (v.get<double>() == 0 || v.get<double>() == 1))
        f.toggle() = v.get<double>() == 1;
      else
        return complain(f, v, "true or false is allowed");
      return {};
    case Kind::choice:
      if (!v.is_string() || !f.set_choice_id(v.get_ref<const std::string&>()))
        return complain(f, v, "allowed are " + option_ids(f));
      return {};
    case Kind::choices: {
      if (!v.is_array() || v.size() > f.spec.max_items)
        return complain(
            f, v, "a list of at most " + std::to_string(f.spec.max_items) + " of " + option_ids(f) + " is allowed");
      std::vector<std::string> ids;
      for (const Json& e : v) {
        const bool known = e.is_string() && std::any_of(f.options->begin(), f.options->end(), [&](const auto& o) {
                             return o.id == e.get_ref<const std::string&>();
                           });
        if (!known) return complain(f, e, "allowed are " + option_ids(f));
        const auto& id = e.get_ref<const std::string&>();
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
      }
      f.chosen() = std::move(ids);
      return {};
    }
    case Kind::text:
      if (!v.is_string() || v.get_ref<const std::string&>().size() > f.spec.max_bytes)
        return complain(f, v,
                        "a text of at most " +
                            std::string(widgets::format(static_cast<double>(f.spec.max_bytes), "", 9)) +
                            " bytes is allowed");
      f.text() = v.get<std::string>();
      return {};
    case Kind::file: {
      if (!v.is_string()) return complain(f, v, "a path is expected");
      const auto& path = v.get_ref<const std::string&>();
      if (path.empty()) {
        f.file() = {};
        return {};
      }
      if (auto error = load_file(f, path, read); !error.empty()) return std::string(f.key) + ": " + error;
      return {};
    }
    case Kind::reals: {
      const std::string allowed =
          "a list of at most " + std::to_string(f.spec.max_items) + " numbers from " + range_of(f) + " is allowed";
      if (!v.is_array() || v.size() > f.spec.max_items) return complain(f, v, allowed);
      std::vector<double> values;
      for (const Json& e : v) {
        if (!e.is_number() || !(e.get<double>() >= f.spec.lo && e.get<double>() <= f.spec.hi))
          return complain(f, e, allowed);
        values.push_back(e.get<double>());
      }
      f.reals() = std::move(values);
      return {};
    }
    case Kind::table:
      return table_from(f, v, read);
  }
  return {};
}

std::string set_field_from_text(const Field& f, std::string_view text, const FileReader& read) {
  switch (f.kind) {
    case Kind::real:
    case Kind::integer: {
      if (f.spec.any_number && widgets::parse_special(text)) return field_from_json(f, std::string(text), read);
      const auto parsed = widgets::parse_quantity(text, f.spec.unit);
      if (!parsed.error.empty()) return std::string(f.key) + ": " + parsed.error;
      return field_from_json(f, parsed.value, read);
    }
    case Kind::toggle: {
      for (std::string_view yes : {"true", "1", "on", "yes"})
        if (text == yes) return field_from_json(f, true, read);
      for (std::string_view no : {"false", "0", "off", "no"})
        if (text == no) return field_from_json(f, false, read);
      return field_from_json(f, std::string(text), read);
    }
    case Kind::choice:
    case Kind::text:
    case Kind::file:
      return field_from_json(f, std::string(text), read);
    case Kind::choices:
      if (text.empty() || text.front() != '[' ||
          (text.back() == ']' && text.find('"') == std::string_view::npos)) {  // a,b,c or [a,b,c]
        Json list = Json::array();
        std::stringstream in{
            std::string(!text.empty() && text.front() == '[' ? text.substr(1, text.size() - 2) : text)};
        for (std::string id; std::getline(in, id, ',');) list.push_back(id);
        return field_from_json(f, list, read);
      }
      [[fallthrough]];
    case Kind::reals:
    case Kind::table: {
      const Json parsed = Json::parse(text, nullptr, false);
      if (parsed.is_discarded())
        return std::string(f.key) + " is \"" + excerpt(text) + "\": a JSON list such as [1,2,3] is expected.";
      return field_from_json(f, parsed, read);
    }
  }
  return {};
}

std::string apply_inputs(chapters::Lab& lab, const Json& inputs, const FileReader& read) {
  if (!inputs.is_object()) return "The inputs are " + shown(inputs) + ": an object of keys and values is expected.";
  const auto trial = lab.clone();  // a bad value must leave the running state as it was
  for (int pass = 0; pass < 2; ++pass) {
    const Fields& fields = pass == 0 ? trial->inputs() : lab.inputs();
    for (const auto& [key, value] : inputs.items()) {
      const Field* f = fields.find(key);
      if (!f) return unknown_key(lab.info().id, "input", key, fields);
      if (pass == 1 && f->kind == Kind::file)
        f->file() = trial->inputs().find(key)->file();  // read once
      else if (auto error = field_from_json(*f, value, read); !error.empty())
        return error;
    }
  }
  return {};
}

std::string apply_view(chapters::Lab& lab, const Json& view) {
  if (!view.is_object()) return "The view is " + shown(view) + ": an object of keys and values is expected.";
  const auto trial = lab.clone();
  for (int pass = 0; pass < 2; ++pass) {
    const Fields& fields = pass == 0 ? trial->view() : lab.view();
    for (const auto& [key, value] : view.items()) {
      const Field* f = fields.find(key);
      if (!f) return unknown_key(lab.info().id, "view setting", key, fields);
      if (auto error = field_from_json(*f, value); !error.empty()) return error;
    }
  }
  return {};
}

bool is_personal(const Field& f) { return f.spec.origin == chapters::Origin::kept || f.spec.origin == chapters::Origin::clock; }

Json scenario_inputs(const chapters::Lab& lab) {
  Json out = Json::object();
  for (const Field& f : lab.inputs())
    if (!is_personal(f)) out[std::string(f.key)] = field_to_json(f);
  return out;
}

Json set_by_hand(const chapters::Lab& lab) {
  Json out = Json::object();
  for (const Field& f : lab.inputs())
    if (!is_personal(f) && f.spec.origin != chapters::Origin::measured) out[std::string(f.key)] = field_to_json(f);
  return out;
}

void reset_scenario(chapters::Lab& lab) {
  Json stays = Json::object();
  for (const Field& f : lab.inputs())
    if (is_personal(f) || f.spec.origin == chapters::Origin::measured) stays[std::string(f.key)] = field_to_json(f);
  lab.reset();
  for (const auto& [key, value] : stays.items()) field_from_json(*lab.inputs().find(key), value);
}

Json scenario_to_json(const chapters::Lab& lab) {
  Json out = {{"lab", lab.info().id}, {"version", 1}, {"inputs", scenario_inputs(lab)}};
  if (lab.view().size() > 0) out["view"] = fields_to_json(lab.view());
  return out;
}

Scenario parse_scenario(std::string_view text) {
  Scenario s;
  if (text.size() > (8u << 20)) return {.error = "The scenario is larger than 8 MiB."};
  if (!shallow_enough(text)) return {.error = "The scenario is nested deeper than 64 levels: it is not one of ours."};
  const Json doc = Json::parse(text, nullptr, false);
  if (doc.is_discarded() || !doc.is_object())
    return {.error = "The scenario is not a JSON object: it must read {\"lab\": ..., \"inputs\": {...}}."};
  for (const auto& [key, value] : doc.items()) {
    if (key == "lab") {
      if (!value.is_string())
        return {.error = "lab is " + shown(value) + ": a lab's id such as \"roofline/roofline\" is expected."};
      s.lab = value.get<std::string>();
    } else if (key == "version") {
      if (!value.is_number_integer() || value.get<std::int64_t>() != 1)
        return {.error = "version is " + shown(value) + ": this program reads version 1."};
    } else if (key == "inputs" || key == "view") {
      if (!value.is_object())
        return {.error = key + " is " + shown(value) + ": an object of keys and values is expected."};
      (key == "inputs" ? s.inputs_text : s.view_text) = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    } else {
      return {.error = "The scenario has the unknown key \"" + excerpt(key) +
                       "\": allowed are lab, version, inputs and view."};
    }
  }
  if (s.lab.empty())
    return {.error =
                "The scenario names no lab: add \"lab\": \"roofline/roofline\" or another id from `ridgeline list`."};
  if (!chapters::make_lab_by_id(s.lab)) return {.error = unknown_lab(s.lab)};
  return s;
}

Json evaluation_to_json(const chapters::Lab& lab) {
  const bool feasible = lab.reason().empty();
  Json outputs = fields_to_json(lab.outputs());
  if (!feasible)
    for (auto& [key, value] : outputs.items()) value = nullptr;
  return {{"lab", lab.info().id},
          {"feasible", feasible},
          {"reason", lab.reason()},
          {"inputs", fields_to_json(lab.inputs())},
          {"outputs", outputs}};
}

}  // namespace app
