#pragma once

namespace widgets {

/// A tab at the cursor: its label underlined, or on a plate, when it is selected. True when it was chosen.
bool tab(const char* label, bool selected, bool underline);

}  // namespace widgets
