#pragma once
#include <cstdint>
#include <limits>

#include "models/trace/trace.h"

/// A recording reduced to what its diagnosis and its replay read, for a person who may not hand on the rest.
namespace models::trace {

/// Times since the recording's first span. Spans of the host count where they begin, work of a device where its launch
/// begins.
struct ExtractWindow {
  std::int64_t from_ns = 0, to_ns = std::numeric_limits<std::int64_t>::max();
};

/// Kept are the spans of devices, of threads that launch work or call the runtime, and of steps: names, categories,
/// times in whole nanoseconds counted from the first, streams, which call launched what, and what a collective says of
/// its process group. Left out are Python's stacks, counters, shapes and other arguments, names of processes and
/// threads, which are numbered, and folders in names. Written by to_chrome_json it reads back to the same diagnosis.
/// Fails in one sentence where no span of a device lies in the window, the recording cannot be read any more, or a
/// whole recording's extract would be diagnosed otherwise.
Result<Trace> diagnosis_extract(const Trace& trace, const ExtractWindow& window = {});

}  // namespace models::trace
