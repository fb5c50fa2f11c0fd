#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab_interface.h"
#include "models/trace/trace.h"

namespace chapters {

/// The trace in a file that is a profiler's recording. It is read in passing and stays where it is; what comes from
/// elsewhere than a file is held. Reading moves `progress` to `share`. Fails in one sentence.
models::Result<models::trace::Trace> read_trace_file(const FileInput& file, Progress& progress, double share);

/// All of a file's text, unpacked where it is a gz. Fails in one sentence: `too_large` where it has more than
/// `most_bytes`.
models::Result<std::string> whole_text_of(const FileBytes& file, std::uint64_t most_bytes, std::string_view too_large);

}  // namespace chapters
