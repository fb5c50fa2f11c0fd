#include "app/cli/table.h"

#include <algorithm>
#include <ostream>

namespace app::cli {

void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  const auto width_of = [](const std::string& s) {  // characters, not bytes
    return static_cast<std::size_t>(
        std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  };
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), row.size()));
      widths[i] = std::max(widths[i], row.size() > 2 ? width_of(row[i]) : i == 0 ? width_of(row[i]) : 0);
    }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(std::max(widths[i], width_of(row[i])) - width_of(row[i]), ' ');
      const bool last = i + 1 == row.size(), left = i == 0 || last;
      line += "  " + (left ? row[i] : pad + row[i]) + (left && !last ? pad : "");
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out << line << "\n";
  }
}

}  // namespace app::cli
