#pragma once
#include <string_view>

#include "chapters/inference/state_space/lab.h"
#include "widgets/base/painter.h"

/// What both large pictures of the lab are made of: names left of a lane and handles that are dragged.
namespace chapters::inference::state_space {

/// One or two lines of small type in the middle of `height` px below `top`; the second where it has room.
void paint_words(const widgets::Painter& p, float room, float x, float top, float height, std::string_view first,
                 std::string_view second, ImU32 colour);

struct HandleState {
  bool held = false, hot = false;
  int steps = 0;  ///< by the arrow keys
};
HandleState handle_at(const char* id, ImVec2 min, ImVec2 extent, ImGuiMouseCursor cursor);
void paint_handle(const widgets::Painter& p, ImVec2 at, bool hot, bool across);

}  // namespace chapters::inference::state_space
