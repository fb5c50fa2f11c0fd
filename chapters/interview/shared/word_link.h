#pragma once
#include <string_view>

#include "widgets/base/painter.h"

namespace chapters::interview {

/// A small word that leads somewhere, its left corner at `at`; true when it is clicked, or Enter is pressed on it.
bool word_link(const widgets::Painter& p, const char* id, std::string_view words, ImVec2 at);
/// The same with its right end at `end`.
bool right_link(const widgets::Painter& p, const char* id, std::string_view words, ImVec2 end);

}  // namespace chapters::interview
