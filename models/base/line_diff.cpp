#include "models/base/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "models/base/trimmed.h"

namespace models {
std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

LineDiff diff_lines(std::string_view before, std::string_view after) {
  auto a = split_lines(before), b = split_lines(after);
  for (auto* lines : {&a, &b})
    for (auto& line : *lines) line = trimmed(line);
  LineDiff out;
  out.changed.assign(b.size(), true);
  if (std::max(a.size(), b.size()) > max_diff_lines) {
    const std::set<std::string_view> known(a.begin(), a.end()), kept(b.begin(), b.end());
    for (std::size_t j = 0; j < b.size(); ++j) out.changed[j] = !known.contains(b[j]);
    out.removed =
        static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](auto line) { return !kept.contains(line); }));
  } else {
    // common[i][j]: length of a longest common subsequence of a[i..] and b[j..].
    const std::size_t width = b.size() + 1;
    std::vector<std::uint16_t> common((a.size() + 1) * width, 0);
    for (std::size_t i = a.size(); i-- > 0;)
      for (std::size_t j = b.size(); j-- > 0;)
        common[i * width + j] = a[i] == b[j] ? static_cast<std::uint16_t>(common[(i + 1) * width + j + 1] + 1)
                                             : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        out.changed[j] = false;
        ++i;
        ++j;
      } else if (common[(i + 1) * width + j] >= common[i * width + j + 1])
        ++i;
      else
        ++j;
    }
    out.removed = a.size() - common[0];
  }
  out.added = static_cast<std::size_t>(std::count(out.changed.begin(), out.changed.end(), true));
  return out;
}

}  // namespace models
