#pragma once
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/profiling/trace_viewer/replay_facts.h"
#include "models/base/result.h"
#include "models/trace/measure/metrics.h"
#include "models/trace/trace.h"
#include "models/trace/writers/sample.h"

namespace chapters::profiling::trace_viewer {

/// A recording with what was measured on it, and what it would win. Immutable; shared by all who show it.
struct Recording {
  models::trace::Trace trace;
  models::trace::Metrics metrics;
  Replayed replayed;
};
using RecordingPtr = std::shared_ptr<const Recording>;

/// Reads and measures a file, once: the result stays with the file's bytes. Fails where the file is not at hand, cannot
/// be read or is no recording, and when it was cancelled.
models::Result<RecordingPtr> read_recording(const FileInput& file, Progress& progress);
/// All ranks of a made-up run.
const std::vector<RecordingPtr>& sample_recordings(models::SampleFault fault);

}  // namespace chapters::profiling::trace_viewer
