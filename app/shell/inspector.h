#pragma once
#include "app/shell/shell.h"

/// The parts of the inspector.
namespace app {

struct OutputState {
  bool feasible = true;
  bool hidden = false;  ///< a question is open: no figure may be seen, by hover neither
};

/// What the learner has guessed for this output, while its question's scenario is open; null: nothing.
const Guess* guess_of(const Shell& shell, std::string_view key);

/// The figures that stand large, two beside each other, with the change since the step before.
void draw_headlines(Shell& shell, const OutputState& state, float width);

/// One output as a row: label, value on the decimal point, unit.
void draw_output_row(Shell& shell, const chapters::Field& field, const OutputState& state, float width);

/// The output whose item was drawn last, into the clipboard, value and unit: a right click or Ctrl+C over it, or Ctrl+C
/// where it has the keyboard. Nothing while it is veiled.
void copy_output(Shell& shell, const chapters::Field& field, const OutputState& state);

/// Formula, source and exact value of the output whose item was drawn last, on hover.
void explain_output(const chapters::Field& field, const OutputState& state);

}  // namespace app
