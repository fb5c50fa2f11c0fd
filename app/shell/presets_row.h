#pragma once
#include "app/shell/shell.h"

namespace app {

/// Presets of the open lab as chips in one row, from the cursor on, in `width` px; those without room stand in a list
/// behind "n more". The chip of the preset whose inputs the lab has is lit, however it came to them, and its note
/// stands below where `notes` have room; that of the preset in which the lab opens only when it was pressed. Returns
/// their height in px.
float draw_presets(Shell& shell, float width, bool notes);
/// The same height without drawing.
float presets_height(Shell& shell, float width, bool notes);

}  // namespace app
