#include <nlohmann/json.hpp>

#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/scenario/sentences.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/registry.h"

/// The ways in: by name, with a scenario, by a link. Files: workspace_files.cpp.
namespace app {

using chapters::Field;
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
  auto inputs = link_inputs(link);
  if (!inputs) return Status::fail(std::move(inputs.error));
  const chapters::Fields& fields = inputs_of(link.lab);
  return ask_about_files(
      {"The link", named_files(fields, *inputs), [this, lab = link.lab, inputs = *inputs](bool with) {
         Json values = inputs;
         if (!with) leave_files_out(inputs_of(lab), values);
         return open_with(lab, values, Json::object());
       }});
}

models::Status Workspace::apply_preset(const Preset& preset) {
  auto opened = open_with(lab().info().id, parse_own_json(preset.set), Json::object());
  if (opened) progress.try_preset(lab().info().id, preset.name);
  return opened;
}

}  // namespace app
