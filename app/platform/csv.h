#pragma once
#include <string>

#include "widgets/base/painter.h"

namespace app {

/// The recorded tables one after another, an empty line between: "# name", the columns, the rows. Quoted as RFC 4180
/// says; lines end with a line feed alone. Short rows are filled up with empty cells. A text that a spreadsheet
/// would take for a formula has an apostrophe in front, and control characters are left out.
std::string to_csv(const widgets::Record& record);

}  // namespace app
