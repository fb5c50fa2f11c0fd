#pragma once
#include <string>

#include "widgets/base/painter.h"

namespace app {

/// The recorded picture as a vector SVG of the record's size in pixels, its corner at the origin: text as text (Inter
/// or JetBrains Mono with fallbacks), clips nested, dashes and opacity kept. Any bytes in a text give well-formed XML.
/// Shapes with a coordinate that is not finite are left out. `background`: painted behind everything; 0 is transparent.
std::string to_svg(const widgets::Record& record, ImU32 background = 0);

}  // namespace app
