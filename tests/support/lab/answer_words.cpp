#include "tests/support/lab/answer_words.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "chapters/mechanism/catalog.h"
#include "tests/support/base/paths.h"

namespace support {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 128;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 128) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Words in lower case. Inside a word may stand - / . : _ ' and digits; what ends a sentence is none of it.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end = [&] {
    while (!word.empty() && !is_letter(word.back()) && !is_digit(word.back())) word.pop_back();
    if (!word.empty()) words.push_back(in_lower_case(word));
    word.clear();
  };
  for (const char c : text) {
    const bool starts = is_letter(c) || is_digit(c);
    const bool inside = c == '-' || c == '/' || c == '.' || c == ':' || c == '_' || c == '\'' || c == '(' || c == '+';
    if (starts || (inside && !word.empty()))
      word += c;
    else
      end();
  }
  end();
  return words;
}

/// The text without what stands between backticks and begins as a figure does.
std::string without_figures(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t from = std::min(text.find('`'), text.size());
    out += text.substr(0, from);
    if (from == text.size()) break;
    const std::size_t to = std::min(text.find('`', from + 1), text.size());
    const std::string_view inside = text.substr(from + 1, to - from - 1);
    const std::size_t first = inside.find_first_not_of("-+$~");
    // The words after the number of a figure are read: "14 layers".
    if (first != std::string_view::npos && is_digit(inside[first])) {
      const std::size_t space = inside.rfind(' ');
      const std::string_view last = space == std::string_view::npos ? std::string_view() : inside.substr(space + 1);
      if (last.size() > 3 && std::all_of(last.begin(), last.end(), [](char c) { return c >= 'a' && c <= 'z'; }))
        (out += ' ') += last;
    } else {
      out += inside;
    }
    text.remove_prefix(std::min(to + 1, text.size()));
  }
  return out;
}

/// What a word may be an inflection of, itself first: "stopped" of "stop", "carries" of "carry", "rank's" of "rank".
std::vector<std::string> stems_of(const std::string& word) {
  std::vector<std::string> out{word};
  const auto without = [&](std::string_view ending) {
    if (!word.ends_with(ending) || word.size() < ending.size() + 2) return;
    const std::string stem = word.substr(0, word.size() - ending.size());
    out.push_back(stem);
    if (ending == "s" || ending == "'s") return;
    out.push_back(stem + "e");
    if (stem.size() > 2 && stem.back() == stem[stem.size() - 2]) out.push_back(stem.substr(0, stem.size() - 1));
    if (stem.back() == 'i') out.push_back(stem.substr(0, stem.size() - 1) + "y");
  };
  for (const std::string_view ending : {"'s", "s", "es", "ed", "d", "ing", "er", "r", "est", "ly"}) without(ending);
  return out;
}

bool is_known_by_form(const std::string& word) {
  if (word.size() == 1 || word.find('_') != std::string::npos || word.find('(') != std::string::npos) return true;
  if (!std::any_of(word.begin(), word.end(), is_letter)) return true;
  if (word.starts_with("\xE2\x88\x9A")) return true;  // a root, "√L"
  // A number with what is written onto it: "2nd", "8x", "1e-8".
  if (is_digit(word.front()) && word.find_first_of("-/") == std::string::npos) return true;
  // A block of a picture, by its letter and number: "B0", "F12".
  return word.size() <= 3 && (word[0] == 'b' || word[0] == 'f' || word[0] == 'w' || word[0] == 'i') &&
         std::all_of(word.begin() + 1, word.end(), is_digit);
}

}  // namespace

KnownWords::KnownWords(const std::vector<app::Term>& glossary) {
  std::ifstream file(source_file("tests/support/lab/plain_words.txt"));
  for (std::string word; file >> word;) plain_.insert(word);
  const chapters::Catalog& catalog = chapters::catalog();
  for (const auto* choices : {&catalog.chip_choices, &catalog.model_choices, &catalog.network_choices,
                              &catalog.refused_chips, &catalog.collective_choices, &catalog.drill_topics})
    for (const auto& choice : *choices)
      for (const std::string& word : words_in(choice.label)) names_.insert(word);
  const auto add = [&](std::string_view name) {
    auto words = words_in(name);
    longest_term_ = std::max(longest_term_, words.size());
    terms_.insert(std::move(words));
  };
  for (const auto& term : glossary) {
    add(term.term);
    for (const auto& other : term.also) add(other);
  }
}

bool KnownWords::is_plain(const std::string& word) const {
  const auto stems = stems_of(word);
  return std::any_of(stems.begin(), stems.end(), [&](const std::string& s) { return plain_.contains(s); });
}

/// How many words from `i` on are one term, its last word in any inflection; 0 where they are none.
std::size_t KnownWords::term_at(const std::vector<std::string>& words, std::size_t i) const {
  for (std::size_t n = std::min(longest_term_, words.size() - i); n > 0; --n) {
    std::vector<std::string> part(words.begin() + static_cast<std::ptrdiff_t>(i),
                                  words.begin() + static_cast<std::ptrdiff_t>(i + n));
    for (const std::string& last : stems_of(words[i + n - 1])) {
      part.back() = last;
      if (terms_.contains(part)) return n;
    }
  }
  return 0;
}

std::vector<std::string> KnownWords::unknown_in(std::string_view text) const {
  const auto words = words_in(without_figures(text));
  std::set<std::string> out;
  for (std::size_t i = 0; i < words.size();) {
    if (const std::size_t n = term_at(words, i); n > 0) {
      i += n;
      continue;
    }
    const std::string& word = words[i++];
    if (is_known_by_form(word) || is_plain(word) || names_.contains(word)) continue;
    // Of a compound each part counts: "multiply-adds", "forward/backward".
    std::vector<std::string> parts(1);
    for (const char c : word) {
      if (c == '-' || c == '/')
        parts.emplace_back();
      else
        parts.back() += c;
    }
    const bool all = parts.size() > 1 && std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
                       return part.empty() || is_known_by_form(part) || is_plain(part) || term_at({part}, 0) == 1;
                     });
    if (!all) out.insert(word);
  }
  return {out.begin(), out.end()};
}

}  // namespace support
