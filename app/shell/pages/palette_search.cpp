#include "app/shell/pages/palette_search.h"

#include <algorithm>

namespace app {
namespace {

/// Words of small letters and digits with one space between them; bytes of other alphabets stay as they are.
std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool counts = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') || (small & 0x80);
    if (counts)
      out += small;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// Does a word of the name begin here and read on as `typed`?
bool has_phrase(const std::string& name, std::string_view typed) {
  for (std::size_t at = name.find(typed); at != std::string::npos; at = name.find(typed, at + 1))
    if (at == 0 || name[at - 1] == ' ') return true;
  return false;
}

bool has_words(const std::string& name, std::string_view typed) {
  for (std::size_t at = 0; at < typed.size();) {
    const std::size_t end = std::min(typed.find(' ', at), typed.size());
    if (!has_phrase(name, typed.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

NameFit name_fit(std::string_view whole_name, std::string_view whole_typed) {
  constexpr std::size_t least_inside = 3;
  const std::string name = folded(whole_name), typed = folded(whole_typed);
  if (typed.empty() || name.empty()) return NameFit::none;
  if (name == typed) return NameFit::whole;
  if (name.starts_with(typed)) return NameFit::start;
  if (has_phrase(name, typed)) return NameFit::phrase;
  if (has_words(name, typed)) return NameFit::words;
  return typed.size() >= least_inside && name.find(typed) != std::string::npos ? NameFit::inside : NameFit::none;
}

NameFit best_fit(std::string_view name, const std::vector<std::string>& also, std::string_view typed) {
  NameFit best = name_fit(name, typed);
  for (const std::string& other : also) {
    NameFit fit = name_fit(other, typed);
    if (fit == NameFit::start) fit = NameFit::phrase;
    best = std::min(best, fit);
  }
  return best;
}

}  // namespace app
