#pragma once
#include <imgui.h>

#include "widgets/base/heading.h"
#include "widgets/base/parts.h"

/// Small pieces that the labs of this chapter share.
namespace chapters::driving {

using widgets::heading;

}  // namespace chapters::driving
