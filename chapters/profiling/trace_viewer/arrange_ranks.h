#pragma once
#include "chapters/profiling/trace_viewer/lab.h"

namespace chapters::profiling::trace_viewer {

/// The heat map of ranks and its sentence: who waits in which collective, or a figure of each step.
void arrange_ranks(const Inputs& in, const Outputs& out, const Run& run, Picture& pic);

}  // namespace chapters::profiling::trace_viewer
