#pragma once
#include <string>
#include <string_view>

#include "models/trace_source.h"

namespace models::trace {

/// Finds where values begin and end in a growing text, without looking at what they mean. Offsets are in source.text.
class Scanner {
 public:
  explicit Scanner(Source& source) : source_(source) {}

  std::size_t at = 0;

  /// Moves over white space. The character there, or 0 at the end of the text.
  char peek();
  /// Moves over `c` if it is next.
  bool take(char c);
  enum class End { whole, cut, broken };
  /// Moves over one value. cut: the text ends inside it. broken: a text in it has a line end, or it grows beyond what an event may
  /// take (`most_bytes`, 0 for any): a quote is missing or one too many. Then `at` is where this was seen.
  End skip_value(std::size_t most_bytes);
  /// From `from` on, the next place where an event seems to begin after another: "}, {" and one of the keys of events.
  /// npos when there is none in the whole text; looks no further than `limit`.
  std::size_t next_event(std::size_t from, std::size_t limit);

 private:
  Source& source_;
};

}  // namespace models::trace
