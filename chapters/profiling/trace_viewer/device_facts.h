#pragma once
#include "chapters/profiling/trace_viewer/lab.h"

/// What the recording shown says about the device that was chosen, or about its threads where it has none.
namespace chapters::profiling::trace_viewer {

/// The figures of the chosen time, which `m` measures, and of the device's whole recording, with their tables.
void state_device(const models::trace::WindowMetrics& m, const Row& row, Outputs& out);
/// What the threads did, where that is all there is.
void state_threads(Run& run, Outputs& out);
/// The findings about the recording shown.
void state_findings(const Row& row, Outputs& out);

}  // namespace chapters::profiling::trace_viewer
