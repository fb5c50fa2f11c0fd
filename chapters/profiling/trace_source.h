#pragma once
#include <memory>
#include <string>
#include <vector>

#include "chapters/field.h"
#include "chapters/lab.h"
#include "models/trace.h"
#include "models/trace_metrics.h"
#include "models/trace_sample.h"

namespace chapters::profiling::viewer {

/// A recording with what was measured on it. Immutable; shared by all who show it.
struct Recording {
  models::trace::Trace trace;
  models::trace::Metrics metrics;
};
using RecordingPtr = std::shared_ptr<const Recording>;

/// Reads and measures a file, once: the result stays with the file's bytes. Null with a sentence in `error`.
RecordingPtr read_recording(const FileInput& file, Progress& progress, std::string& error);
/// All ranks of a made-up run.
const std::vector<RecordingPtr>& sample_recordings(models::SampleFault fault);

}  // namespace chapters::profiling::viewer
