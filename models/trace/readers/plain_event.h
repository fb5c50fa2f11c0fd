#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "models/trace/builder/builder.h"

namespace models::trace {

/// Reads events as profilers write them, each in one pass over its bytes: texts of ASCII without escapes, no slips.
/// What stands between the values (commas, keys, white space) is the same in event after event, so it is remembered and
/// compared instead of read.
class PlainEvents {
 public:
  PlainEvents();
  ~PlainEvents();
  /// `json` is the event's brace; the text ends at `end`, where a 0 stands, and 63 bytes behind that may be read.
  /// Offsets of the record count from `base`, the place of `json`. Returns what follows the event, or nullptr where
  /// anything is out of the ordinary or the text ends: then nothing is said about the event, and EventReader looks
  /// closer. What was read before changes the time this takes and nothing else.
  const char* read(const char* json, const char* end, std::size_t base, Record& record);

 private:
  enum class Member : std::uint8_t;
  struct Gap;
  class Pass;
  void forget();
  std::unique_ptr<Gap[]> gaps_;
  std::size_t known_ = 0, unknown_ = 0;  ///< gaps remembered; gaps seen for which there was no room
};

/// Whether the arguments of such an event may hold something that the builder asks for.
inline bool args_matter(const Record& r) {
  return !(r.category == "cpu_op" || r.category == "python_function" || r.category == "Operator");
}

}  // namespace models::trace
