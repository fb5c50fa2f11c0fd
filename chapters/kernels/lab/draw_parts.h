#pragma once
#include "chapters/kernels/lab/lab.h"

/// Parts of the picture of kernels/lab, each in its own file. Sizes are in px; each part begins at the cursor.
namespace chapters::kernels::lab {

/// Buttons that run and stop, and how far the measurement has come.
void draw_tools(Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// A row for each rung, `row` px high; pressing in it selects or predicts the rung.
void draw_bars(Inputs& in, const Outputs& out, const Picture& picture, float row);
/// The roofline, or rates by rung where the operation has no arithmetic.
void draw_roofline(const Outputs& out, const Picture& picture, View& view, float width, float height);
/// The source of the selected rung and the editor of CUDA sources.
void draw_source(const Inputs& in, const Outputs& out, const SourcePicture& source, View& view, float width,
                 float height);
/// A button in the lab's own rows; true when pressed.
bool tool(const char* label, bool enabled, bool strong = false);

}  // namespace chapters::kernels::lab
