#pragma once
#include <functional>
#include <string>

#include "chapters/mechanism/field.h"

namespace app {

/// What a person is in the middle of typing; kept between frames by the inspector.
struct ControlState {
  std::string editing;  ///< key of the field whose value is being typed
  char buffer[65536] = {};
  bool focus = false;            ///< give the text box the keyboard on its first frame
  char search[64] = {};          ///< in an open list of options
  std::string error_key, error;  ///< the last refused value, shown under its control
  chapters::Fields cells;        ///< fields of the table that is being drawn; kept so that their memory is used again
  /// The lab's inputs, by which an option is offered or not (Choice::when); null offers all.
  const chapters::Fields* inputs = nullptr;
};

/// Draws the control that fits the field's description and changes the field. Refused values are said in `state.error`.
/// Returns true when the value changed this frame.
bool draw_control(const chapters::Field& field, ControlState& state, float width);

/// A searchable list of options inside an open popup. Returns the chosen index or -1. `chosen(i)` marks what is on.
int draw_option_list(const chapters::Choices& options, ControlState& state,
                     const std::function<bool(std::size_t)>& chosen);

}  // namespace app
