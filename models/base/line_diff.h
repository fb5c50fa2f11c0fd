#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace models {

/// Lines of a text without their line ends; a last line without one counts too.
std::vector<std::string_view> split_lines(std::string_view text);

/// Which lines of `after` are not in a longest common subsequence of the lines of both texts: what was changed or
/// added. White space at the ends of a line does not count. Of several such subsequences the one that keeps changed
/// lines together at the end. Texts of more than `max_diff_lines` lines are compared line by line, as sets. Source:
/// Hunt and McIlroy 1976 (by dynamic programming).
struct LineDiff {
  std::vector<bool> changed;  ///< one a line of `after`
  std::size_t removed = 0;    ///< lines of `before` that are in no pair
  std::size_t added = 0;      ///< lines of `after` that are in no pair
};
inline constexpr std::size_t max_diff_lines = 600;
LineDiff diff_lines(std::string_view before, std::string_view after);

}  // namespace models
