#include "chapters/mechanism/short_name.h"

#include <algorithm>

namespace chapters {
namespace {

/// Is this byte a later one of a letter of UTF-8?
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Where the letter with that number begins, counted from 0.
std::size_t letter_at(std::string_view text, std::size_t number) {
  std::size_t i = 0, seen = 0;
  for (; i < text.size(); ++i)
    if (!continues(text[i]) && seen++ == number) break;
  return i;
}

}  // namespace

std::string short_name(std::string_view name, std::size_t most) {
  constexpr std::string_view dots = "...";
  std::string text(name);
  if (letter_at(name, most) < name.size()) {
    text.resize(letter_at(name, most - dots.size()));
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text += dots;
  }
  std::replace(text.begin(), text.end(), '`', '\'');
  return text;
}

}  // namespace chapters
