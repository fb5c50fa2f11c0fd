#pragma once
#include <cstddef>

#include "models/trace/builder.h"

namespace models::trace {

/// Reads an event as profilers write it, in one pass over its bytes: texts of ASCII without escapes, no slips. `json`
/// is its brace; the text ends at `end`, where a 0 stands, and 63 bytes behind that may be read. Offsets of the record
/// count from `base`, the place of `json`. Returns what follows the event, or nullptr where anything is out of the
/// ordinary or the text ends: then nothing is said about the event, and EventReader looks closer.
const char* read_plain_event(const char* json, const char* end, std::size_t base, Record& record);

/// Whether the arguments of such an event may hold something that the builder asks for.
inline bool args_matter(const Record& r) {
  return !(r.category == "cpu_op" || r.category == "python_function" || r.category == "Operator");
}

}  // namespace models::trace
