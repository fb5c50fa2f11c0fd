#pragma once
#include <imgui.h>

/// Inks for what is printed, on white.
namespace widgets {

inline constexpr ImU32 paper_ink = IM_COL32(20, 24, 28, 255), paper_rule = IM_COL32(200, 205, 210, 255),
                       paper_head = IM_COL32(90, 98, 106, 255);

}  // namespace widgets
