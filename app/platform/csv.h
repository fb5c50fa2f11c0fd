#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "widgets/base/painter.h"

namespace app {

/// The recorded tables one after another, an empty line between: "# name", the columns, the rows. Quoted as RFC 4180
/// says; lines end with a line feed alone. Short rows are filled up with empty cells. A text that a spreadsheet
/// would take for a formula has an apostrophe in front, and control characters are left out.
std::string to_csv(const widgets::Record& record);

/// The same in long form: one row an observation, under one row of names. A table's first column is the input and each
/// further one an output; `row` counts the rows of a table, so that they can be put together again. A unit that stands
/// behind a column's name in parentheses has a column of its own. `scenario` is a link to what was shown.
std::string to_long_csv(const widgets::Record& record, std::string_view lab, std::string_view scenario);

/// One row with its line feed, quoted likewise.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace app
