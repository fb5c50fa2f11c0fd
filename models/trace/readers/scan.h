#pragma once
#include <algorithm>
#include <string_view>

#include "models/trace/text/source.h"

namespace models::trace {

/// Finds where values begin and end in a text that passes by, without looking at what they mean. Offsets are the
/// source's.
class Scanner {
 public:
  explicit Scanner(Source& source) : source_(source) {}

  static constexpr std::size_t nothing = static_cast<std::size_t>(-1);

  std::size_t at = 0;
  std::size_t keep = nothing;  ///< from here on the text is still needed; nothing: from `at` on

  /// Moves over white space. The character there, or 0 at the end of the text.
  char peek();
  /// At the next value of an array, or member of an object, of which `close` is the end. An end and a comma are passed.
  enum class Next { value, comma, end };
  Next next_of(char close);
  /// Moves over `c` if it is next.
  bool take(char c);
  enum class End { whole, cut, broken };
  /// Moves over one value. cut: the text ends inside it. broken: a text in it has a line end, or it grows beyond what
  /// an event may take (`max_bytes`, 0 for any): a quote is missing or one too many. Then `at` is where this was seen.
  End skip_value(std::size_t max_bytes);
  /// From `from` on, the next place where an event seems to begin after another: "}, {" and one of the keys of events.
  /// `nothing` when there is none. Needs the text from `keep` on, so set it.
  std::size_t next_event(std::size_t from);
  /// From `from` on, the next place of `text`, with what stands before it gone; `nothing` when there is none.
  std::size_t find(std::size_t from, std::string_view text);

 private:
  bool more() { return source_.more(std::min(at, keep)); }
  Source& source_;
};

}  // namespace models::trace
