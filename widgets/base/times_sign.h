#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace widgets {

/// A formula as it is shown: " x " between two factors, as describe and hovers have it, becomes " × ". Written into
/// `room`, which the result views; without an x it is `formula` itself, and what `room` cannot hold is cut.
inline std::string_view with_times_signs(std::string_view formula, std::span<char> room) {
  constexpr std::string_view typed = " x ", shown = " \xC3\x97";  // its second space may begin the next sign
  if (formula.find(typed) == std::string_view::npos) return formula;
  std::size_t n = 0;
  while (!formula.empty()) {
    const bool times = formula.starts_with(typed);
    const std::string_view next = times ? shown : formula.substr(0, 1);
    if (n + next.size() > room.size()) break;
    n += next.copy(room.data() + n, next.size());
    formula.remove_prefix(times ? typed.size() - 1 : 1);
  }
  return {room.data(), n};
}

}  // namespace widgets
