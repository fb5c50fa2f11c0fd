#pragma once
#include <string_view>

#include "app/shell/controls/controls.h"

/// The control of each kind of field, for draw_control. Each returns true when the value changed in this frame.
namespace app {

bool number_control(const chapters::Field& field, ControlState& state, float width);
bool choice_control(const chapters::Field& field, ControlState& state, float width);
bool choices_control(const chapters::Field& field, ControlState& state, float width);
/// Texts, paths and lists of numbers share one box that shows the value and turns into a text input when pressed.
bool text_control(const chapters::Field& field, ControlState& state, float width);
bool table_control(const chapters::Field& field, ControlState& state, float width);

/// The label of a field for Dear ImGui, whose ids want a NUL at the end: labels are literals or strings of the catalog.
inline const char* control_label(const chapters::Field& field) { return field.spec.label.data(); }

/// Opens the text box of a field with `text` in it.
void start_typing(const chapters::Field& field, ControlState& state, std::string_view text);
/// The text box of a value being typed. Enter or leaving it sets the value; Escape keeps the old one.
bool typing_box(const chapters::Field& field, ControlState& state, float width);
/// Takes what was typed for a field, or keeps the sentence that refuses it to be shown under the control `key`.
bool take_typed(const chapters::Field& field, ControlState& state, std::string_view key);

}  // namespace app
