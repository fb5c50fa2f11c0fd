#include "app/scenario/scenario.h"

#include <new>
#include <nlohmann/json.hpp>

#include "app/scenario/file_mode.h"
#include "app/scenario/file_set.h"
#include "app/scenario/own_handed_on.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Fields;
using models::Status;

/// Sets the fields that `values` names, one after another, and stops at the first that cannot be set.
Status set_fields(const chapters::Lab& lab, const Fields& fields, std::string_view what, const Json& values,
                  const FileReader& read) {
  for (const auto& [key, value] : values.items()) {
    const Field* f = fields.find(key);
    if (!f) return Status::fail(unknown_key(lab.info().id, what, key, fields));
    if (auto set = field_from_json(*f, value, read); !set) return set;
  }
  return Status::ok();
}

/// Sets the inputs that `checked`, a copy of the lab, took before. Its files are taken over, so that each is read once.
Status apply_checked_inputs(chapters::Lab& lab, const chapters::Lab& checked, const Json& inputs,
                            const FileReader& read) {
  for (const auto& [key, value] : inputs.items()) {
    const Field& f = *lab.inputs().find(key);
    if (f.kind == chapters::Kind::file)
      f.file() = checked.inputs().find(key)->file();
    else if (auto set = field_from_json(f, value, read); !set)
      return set;
  }
  return Status::ok();
}

Status no_memory() {
  return Status::fail("There is not enough memory for this scenario: it was not opened; close other programs.");
}

/// Gives the inputs that `changed` names the values that they had in `before`.
void take_back(chapters::Lab& lab, const chapters::Lab& before, const Json& changed) {
  for (const auto& [key, value] : changed.items()) {
    const Field *f = lab.inputs().find(key), *was = before.inputs().find(key);
    if (!f) continue;
    if (f->kind == chapters::Kind::file)
      f->file() = was->file();
    else
      (void)field_from_json(*f, field_to_json(*was));  // two copies of one lab: what one held the other takes
  }
}

Json inputs_where(const chapters::Lab& lab, bool (*wanted)(const Field&)) {
  Json out = Json::object();
  for (const Field& f : lab.inputs())
    if (wanted(f)) out[std::string(f.key)] = field_to_json(f);
  return out;
}

std::string object_expected(const std::string& what, const Json& value) {
  return what + json_excerpt(value) + ": an object of keys and values is expected.";
}

/// Outputs, which may be large, stay where they are.
chapters::LabPtr copy_of_inputs(const chapters::Lab& lab) { return lab.with_inputs(*lab.keep_inputs()); }

}  // namespace

Status apply_inputs(chapters::Lab& lab, const Json& given, const FileReader& read) {
  if (!given.is_object()) return Status::fail(object_expected("The inputs are ", given));
  const auto sets = with_file_sets(lab, given);
  if (!sets) return Status::fail(sets.error);
  const Json& inputs = *sets;
  chapters::LabPtr trial, before;
  try {
    trial = copy_of_inputs(lab);  // A bad value must leave the running state as it was.
    if (auto checked = set_fields(*trial, trial->inputs(), "input", inputs, read); !checked) return checked;
    before = copy_of_inputs(lab);
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
  try {
    return apply_checked_inputs(lab, *trial, inputs, read);
  } catch (const std::bad_alloc&) {
    take_back(lab, *before, inputs);
    return no_memory();
  }
}

Status apply_view(chapters::Lab& lab, const Json& view) {
  if (!view.is_object()) return Status::fail(object_expected("The view is ", view));
  const auto trial = copy_of_inputs(lab);
  if (auto checked = set_fields(*trial, trial->view(), "view setting", view, {}); !checked) return checked;
  return set_fields(lab, lab.view(), "view setting", view, {});
}

bool is_personal(const Field& f) {
  return f.spec.origin == chapters::Origin::kept || f.spec.origin == chapters::Origin::clock;
}

Json scenario_inputs(const chapters::Lab& lab) {
  return inputs_where(lab, [](const Field& f) { return !is_personal(f); });
}

Json set_by_hand(const chapters::Lab& lab) {
  return inputs_where(lab,
                      [](const Field& f) { return !is_personal(f) && f.spec.origin != chapters::Origin::measured; });
}

void reset_scenario(chapters::Lab& lab) {
  const Json stays =
      inputs_where(lab, [](const Field& f) { return is_personal(f) || f.spec.origin == chapters::Origin::measured; });
  lab.reset();
  // What the lab itself held a moment ago is valid, so none of these can fail.
  for (const auto& [key, value] : stays.items()) (void)field_from_json(*lab.inputs().find(key), value);
}

Json inputs_to_hand_on(const chapters::Lab& lab) {
  Json out = scenario_inputs(lab);
  for (const Field& f : lab.inputs())
    if (waits_for_mode(f, lab.inputs())) out.erase(std::string(f.key));
  return out;
}

Json scenario_to_json(const chapters::Lab& lab) {
  Json out = {{"lab", lab.info().id}, {"version", 1}, {"inputs", inputs_to_hand_on(lab)}};
  if (lab.view().size() > 0) out["view"] = fields_to_json(lab.view());
  if (const auto own = own_used(lab.inputs()); !own.empty()) out[own_key] = own_to_json(own);
  return out;
}

models::Result<Scenario> parse_scenario(std::string_view text) try {
  constexpr auto fail = models::Result<Scenario>::fail;
  if (text.size() > (8u << 20)) return fail("The scenario is larger than 8 MiB.");
  if (!shallow_enough(text)) return fail("The scenario is nested deeper than 64 levels: it is not one of ours.");
  const auto doc = parse_json(text);
  if (!doc || !doc->is_object())
    return fail("The scenario is not a JSON object: it must read {\"lab\": ..., \"inputs\": {...}}.");
  Scenario s;
  for (const auto& [key, value] : doc->items()) {
    if (key == "lab") {
      if (!value.is_string())
        return fail("lab is " + json_excerpt(value) + ": a lab's id such as \"roofline/roofline\" is expected.");
      s.lab = value.get<std::string>();
    } else if (key == "version") {
      if (!value.is_number_integer() || value.get<std::int64_t>() != 1)
        return fail("version is " + json_excerpt(value) + ": this program reads version 1.");
    } else if (key == "inputs" || key == "view") {
      if (!value.is_object()) return fail(object_expected(key + " is ", value));
      (key == "inputs" ? s.inputs_text : s.view_text) = to_text(value);
    } else if (key == own_key) {
      if (!value.is_array()) return fail("own is " + json_excerpt(value) + ": a list of models and chips is expected.");
      s.own_text = to_text(value);
    } else {
      return fail("The scenario has the unknown key \"" + excerpt(key) +
                  "\": allowed are lab, version, inputs, view and own.");
    }
  }
  if (s.lab.empty())
    return fail("The scenario names no lab: add \"lab\": \"roofline/roofline\" or another id from `ridgeline list`.");
  if (!chapters::has_lab(s.lab)) return fail(unknown_lab(s.lab));
  return models::Result<Scenario>::ok(std::move(s));
} catch (const std::bad_alloc&) {
  return models::Result<Scenario>::fail(no_memory().error);
}

Json evaluation_to_json(const chapters::Lab& lab) {
  const bool feasible = lab.reason().empty();
  Json outputs = fields_to_json(lab.outputs());
  if (!feasible)
    for (auto& [key, value] : outputs.items()) value = nullptr;
  return {{"lab", lab.info().id},
          {"feasible", feasible},
          {"reason", lab.reason()},
          {"used", used_by(lab.inputs())},
          {"inputs", fields_to_json(lab.inputs())},
          {"outputs", outputs}};
}

}  // namespace app
