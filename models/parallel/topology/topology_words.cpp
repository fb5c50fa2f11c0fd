#include "models/parallel/topology/topology_words.h"

#include <cctype>

namespace models::parallel {

std::string topology_plain_text(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  bool line_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\x1b') {  // CSI: ESC [ parameters letter
      if (i + 1 < text.size() && text[i + 1] == '[') {
        i += 2;
        while (i < text.size() && !std::isalpha(static_cast<unsigned char>(text[i])) && text[i] != '\n') ++i;
        if (i < text.size() && text[i] == '\n') --i;
      }
      continue;
    }
    if (line_start && (c == '#' || c == '>' || c == '|')) continue;
    if (c == '\n' || c == '\r') {
      line_start = true;
      plain += '\n';
      continue;
    }
    const bool space = c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\0';
    if (!space) line_start = false;
    plain += space ? ' ' : c;
  }
  return plain;
}

TopologyWords topology_words(std::string_view text) {
  TopologyWords words;
  std::size_t line = 0, first = std::string_view::npos;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size() || text[i] == ' ' || text[i] == '\n';
    if (!end) {
      if (first == std::string_view::npos) first = i;
      continue;
    }
    if (first != std::string_view::npos) words.push_back({text.substr(first, i - first), line});
    first = std::string_view::npos;
    if (i < text.size() && text[i] == '\n') ++line;
  }
  return words;
}

std::optional<std::int32_t> topology_number(std::string_view word) {
  if (word.empty() || word.size() > 6 || word.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  std::int32_t n = 0;
  std::from_chars(word.data(), word.data() + word.size(), n);
  return n;
}

std::string topology_quote(std::string_view word) {
  std::string out;
  for (const char c : word.substr(0, 40)) out += c > ' ' && c < '\x7f' ? c : '?';
  if (word.size() > 40) out += "...";
  return out;
}

}  // namespace models::parallel
