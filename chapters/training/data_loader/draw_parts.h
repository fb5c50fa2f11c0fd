#pragma once
#include "chapters/training/data_loader/lab.h"

/// Parts of the picture of training/data-loader, each in its own file.
namespace chapters::training::data_loader {

/// The parts as channels of one river in `size` px from the cursor.
void draw_river(const Picture& picture, ImVec2 size);

}  // namespace chapters::training::data_loader
