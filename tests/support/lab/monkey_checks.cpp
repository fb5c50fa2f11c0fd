#include "tests/support/lab/monkey_checks.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/scenario/scenario.h"
#include "tests/support/lab/lab_walk.h"

namespace support {
namespace {

[[noreturn]] void fault(const std::string& what) { throw std::runtime_error(what); }

void equal(bool same, const char* what) {
  if (!same) fault(std::string(what) + " read back differently");
}

void equal_resume(const app::store::Resume& again, const app::store::Resume& kept) {
  for (const auto& [id, lab] : kept.labs) {
    const auto at = again.labs.find(id);
    if (at == again.labs.end()) fault("where the person was in " + id + " is not read back");
    if (at->second == lab) continue;
    fault("where the person was in " + id + " read back differently: " + lab.inputs + " " + lab.view + " " +
          std::to_string(lab.time_unix_s) + " as " + at->second.inputs + " " + at->second.view + " " +
          std::to_string(at->second.time_unix_s));
  }
  equal(again.labs.size() == kept.labs.size(), "the number of labs that were left");
  equal(again.lesson_steps == kept.lesson_steps, "the steps of lessons");
  equal(again.lesson == kept.lesson && again.drawer == kept.drawer, "the lesson or the drawer");
}

/// Without what a restart must not bring back.
std::string lasting(const chapters::Fields& view) {
  app::Json all = app::fields_to_json(view);
  for (const char* key : {"playing", "open_link", "ticking"}) all.erase(key);
  // A plot that nobody zoomed shows what there is to show, while an infeasible lab shows its last feasible picture.
  if (const auto zoomed = all.find("zoomed"); zoomed != all.end() && !zoomed->get<bool>())
    for (const char* key : {"x_lo", "x_hi", "y_lo", "y_hi"}) all.erase(key);
  return app::to_text(all);
}

}  // namespace

void check_values(app::Workspace& workspace) {
  const chapters::Lab& lab = workspace.lab();
  const std::string name(lab.info().id);
  const auto fresh = chapters::make_lab_by_id(name);
  if (const auto set = app::apply_inputs(*fresh, app::fields_to_json(lab.inputs())); !set)
    fault(name + ": an input out of its range: " + set.error);
  if (const auto set = app::apply_view(*fresh, app::fields_to_json(lab.view())); !set)
    fault(name + ": a value of the view out of its range: " + set.error);
  // While a lab's first figures are on their way it has none.
  if (!lab.reason().empty() || workspace.current().computing()) return;
  if (const std::string bad = first_bad_value(lab.outputs()); !bad.empty())
    fault(name + ": the output " + bad + " is not finite, or no option");
}

void check_ids(const ImGuiContext& g) {
  if (g.HoveredIdPreviousFrameItemCount <= 1) return;
  const ImGuiWindow* window = g.HoveredWindow;
  fault(std::to_string(g.HoveredIdPreviousFrameItemCount) + " items have one id under the pointer in window " +
        (window ? window->Name : "none"));
}

void check_vertices() {
  const ImDrawData* data = ImGui::GetDrawData();
  if (!data || !data->Valid) fault("nothing was drawn");
  for (const ImDrawList* list : data->CmdLists)
    for (const ImDrawVert& v : list->VtxBuffer)
      if (!std::isfinite(v.pos.x) || !std::isfinite(v.pos.y))
        fault(std::string("a vertex that is not a number, of ") + (list->_OwnerName ? list->_OwnerName : "no window"));
}

void check_nothing_asks(const app::Shell& s) {
  std::string open = s.page == app::Page::home ? " home" : s.page == app::Page::glossary ? " the glossary" : "";
  if (s.open_panel.open) open += " the panel that opens files";
  if (s.workspace.opening.asked()) open += " the question about files";
  if (s.palette.open) open += " the palette";
  if (s.closing.open) open += " the card at the end";
  if (s.help_open) open += " help";
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) open += " a popup";
  if (!open.empty()) fault("Escape, pressed again and again, does not lead out of:" + open);
}

KeptState kept_state(app::Workspace& w) {
  return {w.settings,
          w.progress,
          w.kept,
          w.recent,
          w.resume,
          w.files,
          w.notes.all(),
          std::string(w.lab().info().id),
          app::to_text(app::scenario_inputs(w.lab())),
          lasting(w.lab().view()),
          w.settings.drawer_open};
}

void check_read_again(const KeptState& kept, app::Workspace& again) {
  for (const auto& message : again.messages()) fault("after a restart: " + message.text);
  equal(again.settings == kept.settings, "the settings");
  equal(again.progress == kept.progress, "the progress");
  equal(again.kept == kept.kept, "what labs keep");
  equal(again.recent == kept.recent, "the recent list");
  equal_resume(again.resume, kept.resume);
  equal(again.files == kept.files, "the list of files");
  equal(again.notes.all() == kept.notes, "the notes");
  if (again.lab().info().id != kept.lab) fault("after a restart another lab is open than " + kept.lab);
  const std::string inputs = app::to_text(app::scenario_inputs(again.lab()));
  if (inputs != kept.inputs) fault("inputs read back differently: " + kept.inputs + " as " + inputs);
  const std::string view = lasting(again.lab().view());
  if (view != kept.view) fault("the view read back differently: " + kept.view + " as " + view);
}

std::string undoable(app::Workspace& workspace) { return app::to_text(app::set_by_hand(workspace.lab())); }

int check_undo(app::Workspace& workspace, const std::string& start) {
  constexpr int max_kept = 200;  // steps that a session keeps
  app::Session& session = workspace.current();
  const std::string end = undoable(workspace);
  int steps = 0;
  for (; session.can_undo(); ++steps) session.undo();
  if (steps > max_kept) fault("more steps can be undone than a session keeps");
  if (const std::string bottom = undoable(workspace); steps < max_kept && bottom != start)
    fault("undo of all " + std::to_string(steps) + " steps gives " + bottom + " instead of " + start);
  check_values(workspace);
  for (int i = 0; i < steps; ++i) session.redo();
  if (const std::string top = undoable(workspace); top != end)
    fault("redo of all " + std::to_string(steps) + " steps gives " + top + " instead of " + end);
  return steps;
}

}  // namespace support
