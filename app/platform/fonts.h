#pragma once
#include <imgui.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "widgets/base/theme.h"

namespace app {

/// Where fonts are looked for, in order: the folders in RIDGELINE_FONTS (separated by colons), then the user's, then
/// the system's.
std::vector<std::filesystem::path> font_folders();

/// The first readable font file of this name in `folders`; empty when there is none.
std::filesystem::path find_font(std::string_view file_name, const std::vector<std::filesystem::path>& folders);

/// Adds Inter Regular, Inter SemiBold and JetBrains Mono Regular to the atlas. What is not installed falls back to the
/// other weight, and in the end to Dear ImGui's own font; never null. Sizes are chosen at drawing time (Dear
/// ImGui 1.92).
widgets::Fonts load_fonts(ImFontAtlas& atlas, const std::vector<std::filesystem::path>& folders = font_folders());

}  // namespace app
