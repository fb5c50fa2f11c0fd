#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace app::cli {

/// Rows of cells under each other, the first column to the left, the others to the right, the last to the left again.
/// In rows of two cells only the first is padded.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows);

}  // namespace app::cli
