#include <algorithm>

#include "models/gpu/access/index_parts.h"

namespace models::gpu {
namespace {

bool word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}
bool digit(char c) { return c >= '0' && c <= '9'; }

/// Where a comment that begins here ends; `at` where none does. npos: it is never closed.
std::size_t behind_comment(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) != "/*") return at;
  const std::size_t close = text.find("*/", at + 2);
  return close == std::string_view::npos ? close : close + 2;
}

/// Letters of a word with its members ("threadIdx.x", "std::size_t"), or of a number ("0x40u", "2.5f").
std::size_t run_length(std::string_view text, std::size_t at) {
  const bool number = digit(text[at]);
  std::size_t n = 0;
  while (at + n < text.size()) {
    const char c = text[at + n];
    const char after = at + n + 1 < text.size() ? text[at + n + 1] : ' ';
    if (word_letter(c))
      ++n;
    else if (c == '.' && (number || (word_letter(after) && !digit(after))))
      ++n;
    else if (!number && c == ':' && after == ':')
      n += 2;
    else
      break;
  }
  return n;
}

std::size_t symbol_length(std::string_view text, std::size_t at) {
  static constexpr std::string_view wide[] = {"<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
                                              "-=",  "*=",  "/=", "%=", "|=", "&=", "^=", "++", "--", "->"};
  for (const std::string_view w : wide)
    if (text.substr(at, w.size()) == w) return w.size();
  return 1;
}

/// A line that ends in one of these goes on in the next; one that begins with an operator does too.
bool goes_on(const IndexToken& last) {
  if (last.kind == IndexTokenKind::end || last.kind == IndexTokenKind::closed) return true;
  return last.kind == IndexTokenKind::symbol && last.text != ")" && last.text != "]" && last.text != "}";
}
bool begins_inside(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n')) ++at;
  return at < text.size() && std::string_view("+*/%|^?:=<>&)],").find(text[at]) != std::string_view::npos &&
         text.substr(at, 2) != "//" && text.substr(at, 2) != "/*";
}

}  // namespace

std::string index_place(std::size_t at) { return "character " + std::to_string(at); }

bool is_type_word(std::string_view word) {
  static constexpr std::string_view types[] = {
      "int",      "unsigned", "long",     "short",   "signed",  "char",        "const",   "constexpr",   "auto",
      "size_t",   "int64_t",  "uint64_t", "int32_t", "uint",    "uint32_t",    "static",  "std::size_t", "std::int64_t",
      "register", "volatile", "float",    "double",  "int16_t", "uint16_t",    "uint8_t", "int8_t",      "ptrdiff_t",
      "half",     "__half",   "float2",   "float4",  "int4",    "int2",        "uint4",   "double2",     "uint2",
      "index_t",  "Index",    "ll",       "ull",     "bool",    "__restrict__"};
  return std::find(std::begin(types), std::end(types), word) != std::end(types);
}

Result<std::vector<IndexToken>> index_tokens(std::string_view text) {
  using Out = Result<std::vector<IndexToken>>;
  if (text.size() > index_text_most) {
    return Out::fail("The text has " + std::to_string(text.size()) +
                     " letters: keep the line with the access, at most " + std::to_string(index_text_most) + ".");
  }
  std::vector<IndexToken> tokens;
  int depth = 0;
  const auto add = [&](IndexTokenKind kind, std::size_t at, std::size_t length, bool new_line = false) {
    tokens.push_back({kind, text.substr(at, length), at + 1, new_line});
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t behind = behind_comment(text, at);
    if (behind == std::string_view::npos)
      return Out::fail("The comment at " + index_place(at + 1) + " is not closed: end it with */.");
    if (behind != at) {
      at = behind;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else if (c == '\n') {
      if (depth <= 0 && !tokens.empty() && !goes_on(tokens.back()) && !begins_inside(text, at))
        add(IndexTokenKind::end, at, 1, true);
      ++at;
    } else if (c == ';' || c == '{' || c == '}') {
      add(IndexTokenKind::end, at, 1);
      ++at;
    } else if (word_letter(c)) {
      const std::size_t n = run_length(text, at);
      add(digit(c) ? IndexTokenKind::number : IndexTokenKind::word, at, n);
      at += n;
    } else {
      const std::size_t n = symbol_length(text, at);
      add(IndexTokenKind::symbol, at, n);
      depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      at += n;
    }
  }
  tokens.push_back({IndexTokenKind::closed, {}, text.size() + 1, false});
  return Out::ok(std::move(tokens));
}

}  // namespace models::gpu
