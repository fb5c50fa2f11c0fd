#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "app/shell/shell.h"

/// Terms of the glossary in running text.
namespace app {
namespace {

bool letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; }
char low(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Does `term` stand at `at`, as words of its own (a plural s may follow)? Short terms and abbreviations must be
/// written as the glossary has them. Returns its length there, or 0.
std::size_t stands(std::string_view text, std::size_t at, std::string_view term) {
  if (term.empty() || at + term.size() > text.size() || (at > 0 && (letter(text[at - 1]) || text[at - 1] == '-')))
    return 0;
  const bool exact =
      term.size() < 4 || std::any_of(term.begin() + 1, term.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  for (std::size_t i = 0; i < term.size(); ++i)
    if (exact ? text[at + i] != term[i] : low(text[at + i]) != low(term[i])) return 0;
  std::size_t end = at + term.size();
  if (end < text.size() && text[end] == 's') ++end;
  return end < text.size() && (letter(text[end]) || text[end] == '-') ? 0 : end - at;
}

/// The end of what must stay as it is at `at`: code, a formula, a live value, a link. `at` itself when nothing of that
/// kind begins there.
std::size_t skip(std::string_view line, std::size_t at) {
  const auto to = [&](char close) {
    const auto end = line.find(close, at + 1);
    return end == std::string_view::npos ? line.size() : end + 1;
  };
  switch (line[at]) {
    case '`':
      return to('`');
    case '$':
      return to('$');
    case '{':
      return to('}');
    case '<':
      return to('>');
    case '\\':
      return std::min(at + 2, line.size());
    case '[': {
      const auto end = line.find(']', at);
      if (end == std::string_view::npos) return line.size();
      if (end + 1 < line.size() && line[end + 1] == '(') {
        const auto close = line.find(')', end);
        return close == std::string_view::npos ? line.size() : close + 1;
      }
      return end + 1;
    }
    default:
      return at;
  }
}

/// A term's name, or another word for it.
struct TermWord {
  std::string_view word;
  std::size_t term = 0;  ///< its place in the glossary
};

/// The words of a glossary, in its order, by the letter that they begin with: in a text only these can stand there.
class TermWords {
 public:
  explicit TermWords(const std::vector<Term>& glossary) {
    for (std::size_t i = 0; i < glossary.size(); ++i) {
      add(glossary[i].term, i);
      for (const std::string& other : glossary[i].also) add(other, i);
    }
  }
  std::span<const TermWord> that_begin_with(char c) const { return words_[static_cast<unsigned char>(low(c))]; }

 private:
  void add(std::string_view word, std::size_t term) {
    if (!word.empty()) words_[static_cast<unsigned char>(low(word.front()))].push_back({word, term});
  }
  std::array<std::vector<TermWord>, 256> words_;
};

}  // namespace

std::string link_terms(std::string_view markdown, const std::vector<Term>& glossary) {
  std::string out;
  out.reserve(markdown.size() + 512);
  std::vector<char> used(glossary.size(), 0);
  const TermWords words(glossary);
  bool fenced = false;
  while (!markdown.empty()) {
    const auto end = markdown.find('\n');
    const std::string_view line = markdown.substr(0, end == std::string_view::npos ? markdown.size() : end + 1);
    markdown.remove_prefix(line.size());
    const bool fence = line.starts_with("```");
    if (fence) fenced = !fenced;
    if (fenced || fence || line.starts_with("#") || line.starts_with("|") || line.starts_with("    ")) {
      out += line;
      continue;
    }
    for (std::size_t at = 0; at < line.size();) {
      if (const std::size_t past = skip(line, at); past > at) {
        out += line.substr(at, past - at);
        at = past;
        continue;
      }
      // The longest term that stands here.
      std::size_t best = glossary.size(), length = 0;
      if (letter(line[at]) && (at == 0 || !letter(line[at - 1])))
        for (const TermWord& w : words.that_begin_with(line[at]))
          if (const std::size_t n = stands(line, at, w.word); n > length) {
            best = w.term;
            length = n;
          }
      if (length == 0) {
        out += line[at++];
        continue;
      }
      const std::string_view word = line.substr(at, length);
      // A target with a space or a parenthesis would end there.
      const std::string& term = glossary[best].term;
      if (!used[best])
        out += "[" + std::string(word) + "](<term:" + term + ">)";
      else
        out += word;
      used[best] = 1;
      at += length;
    }
  }
  return out;
}

const std::string& prose_with_terms(Shell& shell, const std::string& markdown) {
  GlossaryState& state = shell.glossary;
  if (state.prose != markdown) {
    state.prose = markdown;
    state.linked = link_terms(markdown, shell.workspace.content.glossary);
  }
  return state.linked;
}

}  // namespace app
