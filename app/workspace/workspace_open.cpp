#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/scenario/file_mode.h"
#include "app/scenario/link.h"
#include "app/scenario/own_handed_on.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/scenario/sentences.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/registry.h"

/// The ways in: by name, with a scenario, by a link. Files: file_opening.h.
namespace app {

using chapters::Field;
using models::Status;

const chapters::Fields& Workspace::inputs_of(std::string_view lab) const {
  const auto at = std::find_if(prototypes_.begin(), prototypes_.end(), [&](const auto& p) { return p.lab == lab; });
  return at->copy->inputs();
}

namespace {

/// The rows that are there, behind those of `more` that are not; at most `most`, the ones that are there first.
Json with_rows(Json there, const Json& more, std::size_t most) {
  Json out = Json::array();
  for (const Json& row : more)
    if (std::find(there.begin(), there.end(), row) == there.end() && there.size() + out.size() < most)
      out.push_back(row);
  for (Json& row : there) out.push_back(std::move(row));
  return out;
}

}  // namespace

bool Workspace::open(std::string_view id) {
  if (!chapters::has_lab(id)) return false;
  enter(id, [&] { apply_shared(); });
  return true;
}

models::Status Workspace::open_with(std::string_view id, const Json& inputs, const Json& view) {
  const auto tried = try_scenario(id, std::make_shared<const Json>(inputs), std::make_shared<const Json>(view));
  return tried ? open_tried(*tried) : Status::fail(tried.error);
}

models::Status Workspace::open_tried(const TriedScenario& tried) {
  const std::string from(lab().info().id);
  const std::size_t steps = session(tried.lab).undo_depth();
  enter(tried.lab, [&] {
    const FileReader read = reader_of(*tried.trial);
    reset_scenario(lab());
    Json scenario = *tried.inputs;
    // A scenario replaces nothing that the learner did or measured: runs belong to the machine, and those that it
    // brings along stand beside them.
    for (const Field& f : lab().inputs()) {
      const std::string key(f.key);
      if (is_personal(f)) scenario.erase(key);
      if (f.spec.origin == chapters::Origin::measured && scenario.contains(key))
        scenario[key] = with_rows(field_to_json(f), scenario[key], f.spec.max_items);
    }
    // The trial took both, so neither can fail.
    (void)apply_inputs(lab(), scenario, read);
    (void)apply_view(lab(), *tried.view);
    clear_service_state(lab());
  });
  if (from != tried.lab && current_->undo_depth() > steps)
    arrivals_.push_back({from, tried.lab, current_->undo_depth(), 0});
  return Status::ok();
}

void Workspace::undo() {
  current_->undo();
  if (arrivals_.empty()) return;
  Arrival back = arrivals_.back();
  if (back.lab != lab().info().id || current_->undo_depth() + 1 != back.depth) return;
  arrivals_.pop_back();
  enter(back.from, [] {});
  back.edits = current_->edits();
  undone_arrival_ = std::move(back);
}

bool Workspace::redoes_arrival() const {
  return undone_arrival_ && undone_arrival_->from == current_->lab().info().id &&
         undone_arrival_->edits == current_->edits();
}

bool Workspace::can_redo() const { return redoes_arrival() || current_->can_redo(); }

void Workspace::redo() {
  if (!redoes_arrival()) return current_->redo();
  Arrival again = std::move(*undone_arrival_);
  undone_arrival_.reset();
  enter(again.lab, [this] { current_->redo(); });
  arrivals_.push_back(std::move(again));
}

namespace {

/// The files in the rows of a table.
void take_rows(const Field& to, const Field& from) {
  chapters::Fields mine, theirs;
  to.table_resize(from.table_size());
  for (std::size_t row = 0; row < from.table_size(); ++row) {
    mine.clear();
    theirs.clear();
    to.table_row(row, mine);
    from.table_row(row, theirs);
    for (const Field& f : theirs)
      if (f.kind == chapters::Kind::file) mine.find(f.key)->file() = f.file();
  }
}

}  // namespace

void Workspace::take_file(std::string_view id, std::string_view key, chapters::Lab&& trial, std::string_view table) {
  const auto take = [&] {
    if (!table.empty()) take_rows(*lab().inputs().find(table), *trial.inputs().find(table));
    if (!key.empty()) {
      const Field& input = *lab().inputs().find(key);
      input.file() = trial.inputs().find(key)->file();
      choose_mode(lab().inputs(), input);
    }
    current_->adopt(std::move(trial));
  };
  if (lab().info().id != id)
    return enter(id, [&] {
      apply_shared();
      take();
    });
  take();
  current_->update(false);
  ++openings_;  // where home is shown, the lab comes to the front
}

FileTaker Workspace::open_taker() const {
  const chapters::Lab& lab = current_->lab();
  return {std::string(lab.info().id), std::string(lab.info().title), lab.with_inputs(*lab.keep_inputs())};
}

models::Status Workspace::open_scenario(std::string_view text) {
  const auto scenario = parse_scenario(text);
  if (!scenario) return Status::fail(scenario.error);
  Json inputs = parse_own_json(scenario->inputs_text);
  const auto brought = bring_own(scenario->own_text, "the scenario");
  if (!brought) return Status::fail(brought.error);
  rename_own(inputs_of(scenario->lab), *brought, inputs);
  return open_with(scenario->lab, inputs, parse_own_json(scenario->view_text));
}

models::Status Workspace::open_link(std::string_view text) {
  const Link link = parse_link(text);
  if (link.lab.empty())
    return Status::fail("\"" + excerpt(text, 80) +
                        "\" is not a link to a lab: one reads roofline/roofline?chip=h100_sxm.");
  const auto brought = bring_own(link.own, "the link");  // first, so that its inputs can name that
  if (!brought) return Status::fail(brought.error);
  auto inputs = link_inputs(link);
  if (!inputs) return Status::fail(std::move(inputs.error));
  rename_own(inputs_of(link.lab), *brought, *inputs);
  auto named = named_files(inputs_of(link.lab), *inputs);
  return opening.open_scenario({link.lab,
                                std::make_shared<const Json>(std::move(*inputs)),
                                std::make_shared<const Json>(Json::object()),
                                std::move(named),
                                {}},
                               "The link");
}

models::Status Workspace::apply_preset(const Preset& preset) {
  auto opened = open_with(lab().info().id, parse_own_json(preset.set), Json::object());
  if (opened) progress.try_preset(lab().info().id, preset.name);
  return opened;
}

}  // namespace app
