#include "models/transformer/json.h"

#include <algorithm>

#include "models/base/json_nesting.h"
#include "models/base/json_text.h"

namespace models {

namespace {

/// The key in quotes, cut between characters if it is very long.
std::string key_in_quotes(const std::string& key) {
  constexpr std::size_t longest = 60;
  std::size_t cut = std::min(longest, key.size());
  while (cut > 0 && cut < key.size() && (static_cast<unsigned char>(key[cut]) & 0xC0) == 0x80) --cut;
  return '"' + key.substr(0, cut) + (cut < key.size() ? "...\"" : "\"");
}

/// Line of a byte offset, counted from 1.
std::size_t line_of(std::string_view text, std::size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

/// Offset of the first byte that is not part of well-formed UTF-8 (overlong forms, surrogates and > U+10FFFF are not),
/// or text.size().
std::size_t first_bad_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                               : lead >= 0xE0 && lead <= 0xEF ? 3
                               : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                              : 0;
    if (length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      unsigned lowest = 0x80, highest = 0xBF;
      if (k == 1 && lead == 0xE0) lowest = 0xA0;
      if (k == 1 && lead == 0xED) highest = 0x9F;
      if (k == 1 && lead == 0xF0) lowest = 0x90;
      if (k == 1 && lead == 0xF4) highest = 0x8F;
      if (next < lowest || next > highest) return i;
    }
    i += length;
  }
  return i;
}

}  // namespace

std::string json_problem(std::string_view text, std::string_view origin) {
  const std::string name(origin);
  if (text.size() > longest_json_bytes)
    return name + " is " + std::to_string(text.size()) + " bytes long; at most " + std::to_string(longest_json_bytes) +
           " are read.";
  if (const std::size_t bad = first_bad_utf8(text); bad < text.size())
    return name + " is not UTF-8 text: the byte at offset " + std::to_string(bad) + " on line " +
           std::to_string(line_of(text, bad)) + " belongs to no character.";
  if (const int depth = json_nesting(text); depth > deepest_json)
    return name + " nests " + std::to_string(depth) + " levels deep; at most " + std::to_string(deepest_json) +
           " are read.";
  const JsonFailure failure = find_json_failure(text);
  const std::size_t offset = failure.byte > 0 ? failure.byte - 1 : 0;
  switch (failure.kind) {
    case JsonFailure::Kind::none:
      return {};
    case JsonFailure::Kind::syntax:
      if (offset >= text.size())
        return name + " is not complete JSON: it ends on line " + std::to_string(line_of(text, offset)) + " too early.";
      return name + " is not JSON: line " + std::to_string(line_of(text, offset)) +
             " has something else than expected at byte " + std::to_string(offset) + ".";
    case JsonFailure::Kind::repeated_key:
      return name + " gives the key " + key_in_quotes(failure.key) + " twice in one object; once is allowed.";
    case JsonFailure::Kind::number:
    case JsonFailure::Kind::other:
      break;
  }
  return name + " is not JSON that can be read: a number in it is too large.";
}

}  // namespace models
