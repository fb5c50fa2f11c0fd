#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/parallel/topology/topology_parse.h"

/// What the readers of both tables share.
namespace models::parallel {

/// A word and the line that it stands on.
struct TopologyWord {
  std::string_view text;
  std::size_t line = 0;
};
using TopologyWords = std::vector<TopologyWord>;

/// The text without escape sequences of terminals and without the marks that comments and quotations begin with.
std::string topology_plain_text(std::string_view text);
TopologyWords topology_words(std::string_view text);
/// A whole number of at most six digits and nothing else.
std::optional<std::int32_t> topology_number(std::string_view word);
/// At most 40 characters, those that cannot be printed as '?'.
std::string topology_quote(std::string_view word);

/// Where AMD's first table begins; the number of words where there is none.
std::size_t find_rocm_table(const TopologyWords& words);
Result<TopologyTable> parse_rocm(const TopologyWords& words);

}  // namespace models::parallel
