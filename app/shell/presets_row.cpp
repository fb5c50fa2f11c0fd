#include "app/shell/presets_row.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "app/shell/ui.h"
#include "chapters/mechanism/registry.h"
#include "widgets/stage/sentence.h"

namespace app {
namespace {

std::string inputs_text(const chapters::Lab& lab) { return to_text(set_by_hand(lab)); }

/// Looks again when the inputs may have changed; allocates nothing while they have not.
void find_lit(PresetState& state, Session& session, const std::vector<Preset>& presets) {
  const std::string_view id = session.lab().info().id;
  if (state.lab != id || state.inputs.size() != presets.size()) {
    state = {};
    state.lab = id;
    for (const Preset& preset : presets) {
      const chapters::LabPtr lab = chapters::make_lab_by_id(id);
      const bool reads = apply_inputs(*lab, parse_own_json(preset.set)).error.empty();
      state.inputs.push_back(reads ? inputs_text(*lab) : std::string());
    }
  } else if (state.edits == session.edits() && state.version == session.version()) {
    return;
  }
  state.edits = session.edits();
  state.version = session.version();
  const std::string now = inputs_text(session.lab());
  if (state.pressed >= presets.size() || state.inputs[state.pressed] != now) state.pressed = PresetState::none;
  state.lit = state.pressed;
  for (std::size_t i = 0; i < presets.size() && state.lit == PresetState::none; ++i)
    if (state.inputs[i] == now) state.lit = i;
}

/// The note that stands under the chips, and null where none does.
const std::string* shown_note(const PresetState& state, const std::vector<Preset>& presets, bool notes) {
  if (!notes || state.lit == PresetState::none || presets[state.lit].note.empty()) return nullptr;
  if (state.pressed != state.lit && presets[state.lit].set == "{}") return nullptr;
  return &presets[state.lit].note;
}

widgets::SentenceStyle note_style() { return {Type::small, widgets::Font::sans, theme().text, theme().text}; }
float chips_height() { return theme().type(Type::small) + theme().px(9 + 10); }

float chip_width_of(std::string_view label) { return widgets::text_size(label, Type::small).x + theme().px(20); }

/// How many chips from the first on have room, next to that of the preset that is lit, which is always on screen, and
/// to "more" where some are left out.
std::size_t chips_with_room(const std::vector<Preset>& presets, std::size_t lit, float width) {
  const float gap = theme().px(8), more = gap + chip_width_of("99 more");
  float all = 0;
  for (const Preset& preset : presets) all += chip_width_of(preset.name) + gap;
  if (all - gap <= width) return presets.size();
  float x = more - gap;
  if (lit < presets.size()) x += chip_width_of(presets[lit].name) + gap;
  std::size_t shown = 0;
  for (; shown < presets.size(); ++shown) {
    const float w = shown == lit ? 0 : chip_width_of(presets[shown].name) + gap;  // the lit one's room is kept
    if (x + w > width) break;
    x += w;
  }
  return shown;
}

/// Room for the note under the chips: a line of it is kept while none is shown, so that the picture does not move when
/// a preset is pressed.
float note_height(const PresetState& state, const std::vector<Preset>& presets, float width, bool notes) {
  const bool any = std::any_of(presets.begin(), presets.end(), [](const Preset& p) { return !p.note.empty(); });
  if (!notes || !any) return 0;
  const std::string* const note = shown_note(state, presets, notes);
  return theme().px(5) + widgets::sentence_height(note ? std::string_view(*note) : "A", width, note_style());
}

}  // namespace

float draw_presets(Shell& shell, float width, bool notes) {
  const auto& t = theme();
  Session& session = shell.workspace.current();
  const auto& presets = shell.workspace.content.of(session.lab().info().id).presets;
  PresetState& state = shell.preset;
  find_lit(state, session, presets);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(8);
  const auto press = [&](std::size_t i) {
    shell.workspace.say_failure(shell.workspace.apply_preset(presets[i]));
    state.pressed = i;
    state.version = 0;  // to be looked at again
  };
  const std::size_t shown = chips_with_room(presets, state.lit, width);
  ImGui::PushID("presets");
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) ImGui::SameLine(0, gap);
    if (ui::pill(presets[i].name.c_str(), state.lit == i)) press(i);
    ui::hint(presets[i].note);
  }
  const bool lit_apart = state.lit >= shown && state.lit < presets.size();
  if (lit_apart) {
    if (shown > 0) ImGui::SameLine(0, gap);
    if (ui::pill(presets[state.lit].name.c_str(), true)) press(state.lit);
    ui::hint(presets[state.lit].note);
  }
  if (const std::size_t left = presets.size() - shown - (lit_apart ? 1 : 0); left > 0) {
    char label[48];
    std::snprintf(label, sizeof label, "%zu more###more presets", left);
    if (shown > 0 || lit_apart) ImGui::SameLine(0, gap);
    if (ui::pill(label, false)) ImGui::OpenPopup("preset list");
    if (ImGui::BeginPopup("preset list")) {
      for (std::size_t i = shown; i < presets.size(); ++i) {
        if (ImGui::Selectable(presets[i].name.c_str(), state.lit == i)) press(i);
        ui::hint(presets[i].note);
      }
      ImGui::EndPopup();
    }
  }
  ImGui::PopID();
  const float under = note_height(state, presets, width, notes);
  if (const std::string* const note = shown_note(state, presets, notes))
    widgets::draw_sentence(widgets::Painter::window(), {at.x, at.y + chips_height()}, *note, width, note_style());
  return chips_height() + under;
}

float presets_height(Shell& shell, float width, bool notes) {
  Session& session = shell.workspace.current();
  const auto& presets = shell.workspace.content.of(session.lab().info().id).presets;
  find_lit(shell.preset, session, presets);
  return chips_height() + note_height(shell.preset, presets, width, notes);
}

}  // namespace app
