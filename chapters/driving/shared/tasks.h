#pragma once
#include <imgui.h>

#include "widgets/base/heading.h"
#include "widgets/base/parts.h"

/// Small pieces that the labs of this chapter share.
namespace chapters::driving {

using widgets::heading;

/// Height of a timeline's ruler.
inline float ruler_px() { return widgets::theme().type(widgets::Type::small) + widgets::theme().px(14); }

}  // namespace chapters::driving
