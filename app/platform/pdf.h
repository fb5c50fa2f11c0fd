#pragma once
#include <span>
#include <string>
#include <string_view>

#include "widgets/base/painter.h"

namespace app {

/// The records as pages of a PDF 1.4, one each, every page of its record's size at 96 pixels an inch: real text in the
/// standard faces that every reader has (Helvetica for Inter, Courier for JetBrains Mono), lines, rectangles and
/// polygons as vectors. Letters outside of Windows-1252 become "?"; clips and opacity are left out. The same records
/// give the same bytes.
std::string to_pdf(std::span<const widgets::Record> pages, std::string_view title);

/// Width of a text in Helvetica at a size of 1, of what Windows-1252 has; for layouts that need no font.
double helvetica_width(std::string_view utf8);

}  // namespace app
