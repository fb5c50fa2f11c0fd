#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/content.h"

namespace support {

/// Which words of what a lab says a newcomer could not look up: neither everyday English (plain_words.txt), nor a term
/// of the glossary or another word for one, nor the name of something in the catalog.
class KnownWords {
 public:
  /// Reads the glossary, and the names of the bundled catalog's chips, models and networks.
  explicit KnownWords(const std::vector<app::Term>& glossary);

  /// Each once, in lower case, in order. Figures (what stands between backticks and begins with a digit), single
  /// letters, numbers, and names out of a recording (with an underscore or parentheses) are not looked at.
  std::vector<std::string> unknown_in(std::string_view text) const;

 private:
  bool is_plain(const std::string& word) const;
  std::size_t term_at(const std::vector<std::string>& words, std::size_t i) const;

  std::set<std::string, std::less<>> plain_, names_;
  std::set<std::vector<std::string>> terms_;  ///< their words in lower case
  std::size_t longest_term_ = 1;
};

}  // namespace support
