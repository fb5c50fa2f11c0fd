#pragma once
#include "chapters/kernels/lab/lab.h"

/// Parts of the picture of kernels/lab, each in its own file. Sizes are in px; each part begins at the cursor.
namespace chapters::kernels::lab {

/// Buttons that run and stop in `width`, and how far the measurement has come.
void draw_tools(Inputs& in, const Outputs& out, const Picture& picture, View& view, float width);
/// Height of the row of tools, px.
float tools_height();
/// A row for each rung, its rate on one axis; pressing in it selects or predicts the rung.
void draw_rungs(Inputs& in, const Picture& picture, ImVec2 size);
/// The roofline with a dot a rung at each level of memory.
void draw_roofline(const Picture& picture, View& view, ImVec2 size);
/// The source of the selected rung and the editor of sources for a GPU.
void draw_source(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// A button in the lab's own rows; true when pressed.
bool tool(const char* label, bool enabled, bool strong = false);

}  // namespace chapters::kernels::lab
