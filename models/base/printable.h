#pragma once
#include <string>
#include <string_view>

namespace models {

/// At most `most` characters of a text that was read, on one line: what is not printable ASCII is a question mark. For
/// sentences that quote what somebody wrote.
inline std::string printable(std::string_view text, std::size_t most = 40) {
  std::string out;
  for (const char c : text.substr(0, most)) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

}  // namespace models
