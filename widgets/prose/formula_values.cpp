#include <algorithm>

#include "widgets/prose/formula.h"

namespace widgets {

std::size_t live_key_length(std::string_view s) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto word = [&](char c) { return (c >= 'a' && c <= 'z') || digit(c) || c == '_'; };
  std::size_t n = 0;
  if (s.empty() || s[0] < 'a' || s[0] > 'z') return 0;
  while (n < s.size() && word(s[n])) ++n;
  if (n < s.size() && s[n] == '.') {
    std::size_t suffix = n + 1;
    while (suffix < s.size() && word(s[suffix])) ++suffix;
    return suffix > n + 1 ? suffix : 0;
  }
  if (n < s.size() && s[n] == ':') {
    std::size_t unit = n + 1;
    while (unit < s.size() && (letter(s[unit]) || digit(s[unit]) || s[unit] == '/' || s[unit] == '%' || s[unit] == '^'))
      ++unit;
    return unit > n + 1 ? unit : 0;
  }
  return n;
}

LiveKey split_live_key(std::string_view key) {
  LiveKey parts;
  const std::size_t mark = key.find_first_of(".:");
  parts.name = key.substr(0, mark);
  if (mark == std::string_view::npos) return parts;
  const std::string_view suffix = key.substr(mark + 1);
  if (key[mark] == ':')
    parts.unit = suffix;
  else if (suffix == "bin")
    parts.prefix = Prefix::binary;
  else if (suffix == "raw")
    parts.prefix = Prefix::none;
  else
    parts.name = key;  // an unknown suffix makes an unknown key, which is shown as such
  return parts;
}

std::uint32_t ValueCache::slot(std::string_view key) {
  const auto found = std::find(keys.begin(), keys.end(), key);
  if (found != keys.end()) return static_cast<std::uint32_t>(found - keys.begin());
  keys.emplace_back(key);
  texts.emplace_back();
  return static_cast<std::uint32_t>(keys.size() - 1);
}

bool ValueCache::refresh(const ValueSource& source) {
  bool changed = false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    NumberText scratch;
    const std::string_view now = source.text(keys[i], scratch);
    if (now == texts[i]) continue;
    texts[i].assign(now);
    changed = true;
  }
  return changed;
}

}  // namespace widgets
