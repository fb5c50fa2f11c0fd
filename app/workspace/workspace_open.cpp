#include <nlohmann/json.hpp>

#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/registry.h"

/// The ways in: by name, with a scenario, by a link, with a file that was dropped.
namespace app {

using chapters::Field;
using chapters::Kind;
using models::Status;

bool Workspace::open(std::string_view id) {
  if (!chapters::has_lab(id)) return false;
  enter(id, [&] { apply_shared(); });
  return true;
}

models::Status Workspace::open_with(std::string_view id, const Json& inputs, const Json& view) {
  const auto trial = chapters::make_lab_by_id(id);
  if (!trial) return Status::fail(unknown_lab(id));
  if (auto set = apply_inputs(*trial, inputs); !set) return set;
  if (auto set = apply_view(*trial, view); !set) return set;
  enter(id, [&] {
    const FileReader read = reader_keeping(*trial);
    reset_scenario(lab());
    Json scenario = inputs;
    for (const Field& f : lab().inputs())
      if (is_personal(f)) scenario.erase(std::string(f.key));  // a scenario never replaces what the learner did
    // The trial took both, so they can only fail where a file has gone in between: then the rest stays as set.
    (void)apply_inputs(lab(), scenario, read);
    (void)apply_view(lab(), view);
    clear_service_state(lab());
    gather_shared();
  });
  return Status::ok();
}

models::Status Workspace::open_scenario(std::string_view text) {
  const auto scenario = parse_scenario(text);
  if (!scenario) return Status::fail(scenario.error);
  return open_with(scenario->lab, parse_own_json(scenario->inputs_text), parse_own_json(scenario->view_text));
}

models::Status Workspace::open_link(std::string_view text) {
  const Link link = parse_link(text);
  if (link.lab.empty())
    return Status::fail("\"" + excerpt(text, 80) +
                        "\" is not a link to a lab: one reads roofline/roofline?chip=h100_sxm.");
  const auto trial = chapters::make_lab_by_id(link.lab);
  for (const auto& [key, value] : link.sets) {
    const Field* f = trial->inputs().find(key);
    if (!f) return Status::fail(unknown_key(link.lab, "input", key, trial->inputs()));
    if (auto set = set_field_from_text(*f, value); !set) return set;
  }
  return open_with(link.lab, fields_to_json(trial->inputs()), Json::object());
}

models::Status Workspace::apply_preset(const Preset& preset) {
  auto opened = open_with(lab().info().id, parse_own_json(preset.set), Json::object());
  if (opened) progress.try_preset(lab().info().id, preset.name);
  return opened;
}

models::Status Workspace::drop_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) {  // A picture of gigabytes is no text, but some lab may want its bytes.
    const auto opened = drop_by_suffix(path, false);
    return opened ? *opened : Status::fail(text.error);
  }
  if (const auto doc = parse_json(*text); doc && doc->is_object()) {
    if (doc->contains("lab") && doc->contains("inputs")) return open_scenario(*text);
    if (doc->contains("steps")) return drop_lesson(path, *text);
  }
  const auto here = drop_on_open_lab(path, *text);
  if (here && *here) return *here;
  // Many things end in .json: only one that the lab can read is its own.
  if (const auto opened = drop_by_suffix(path, path.ends_with(".json"))) return *opened;
  if (here) return *here;
  return Status::fail(std::string(lab().info().title) +
                      " takes no file: open a lab with a file input, such as Transformer layer, and drop it there.");
}

models::Status Workspace::drop_lesson(const std::string& path, std::string_view text) {
  auto lesson = parse_lesson(text, path);
  if (!lesson) return Status::fail(std::move(lesson.error));
  say("Lesson \"" + lesson->title + "\" is loaded: start it from the palette (Ctrl+K).");
  content.lessons.push_back(std::move(*lesson));
  return Status::ok();
}

std::optional<models::Status> Workspace::drop_on_open_lab(const std::string& path, const std::string& text) {
  std::optional<Status> refused;
  for (const Field& f : lab().inputs()) {
    if (f.kind != Kind::file || f.file_spec.by_bytes) continue;
    const auto trial = lab().clone();
    trial->inputs().find(f.key)->file() = {path, text, nullptr};
    trial->compute();
    if (trial->reason().empty()) {
      f.file() = {path, text, nullptr};
      current_->update(false);
      say(std::string(f.spec.label) + ": " + path);
      return Status::ok();
    }
    if (!refused) refused = Status::fail(trial->reason());
  }
  return refused;
}

std::optional<models::Status> Workspace::drop_by_suffix(const std::string& path, bool only_if_feasible) {
  for (const Prototype& p : prototypes_)
    for (const Field& f : p.lab->inputs()) {
      if (f.kind != Kind::file || !accepts(f, path)) continue;
      const auto trial = p.lab->clone();
      const Field& input = *trial->inputs().find(f.key);
      if (auto loaded = load_file(input, path); !loaded) return loaded;
      if (only_if_feasible) {
        trial->compute();
        if (!trial->reason().empty()) continue;
      }
      enter(p.id, [&] {
        apply_shared();
        lab().inputs().find(f.key)->file() = input.file();
      });
      say(std::string(f.spec.label) + ": " + path);
      return Status::ok();
    }
  return {};
}

}  // namespace app
