#pragma once
#include "app/shell/shell.h"

/// The parts of the explore panel: what runs, and how each answer is drawn.
namespace app {

/// The label of a field by its key; the key itself where there is no such field.
std::string_view field_label(const chapters::Fields& fields, std::string_view key);

/// Makes the panel ready for the open lab: a headline figure against an input over which it bends, which a job finds.
void begin_explore(Shell& shell);
/// Submits what the panel asks for as a job, or says in `error` why it cannot be asked.
void start_explore(Shell& shell);
/// Takes over what the job has found. True when a result arrived in this frame.
bool take_explored(ExploreState& state);

/// Writes the labels of a heat map's axes as text, once per sweep.
void label_sweep_axes(ExploreState& state, const chapters::Lab& lab);
void show_sweep(Shell& shell, ImVec2 size);
/// Sensitivities as a tornado chart: a row an input, the one that moves the output most on top.
void show_tornado(Shell& shell, float width);
void show_solution(Shell& shell);
void show_compare(Shell& shell, float width);
/// Keeps the present scenario as A, and takes away what A there was.
void set_aside_a(Shell& shell);
void forget_a(Shell& shell);

}  // namespace app
