#pragma once
#include <imgui.h>

#include <span>
#include <string_view>

/// Words on a stage that lead to other labs with what was found here in them.
namespace chapters {

/// A word that can be pressed.
struct Door {
  const char* label = "";     ///< name of the button, as tests and the keyboard know it
  std::string_view words;     ///< what is shown
  std::string_view why_shut;  ///< not empty: it cannot be pressed, and this sentence says why
};

/// Height in pixels that draw_doors takes in `width` pixels.
float doors_height(std::span<const Door> doors, float width);
/// Draws the words from `at` on, one behind the other in as many rows as `width` pixels ask for. The index of the one
/// that is pressed, or -1.
int draw_doors(std::span<const Door> doors, ImVec2 at, float width);

}  // namespace chapters
