#pragma once
#include "chapters/profiling/trace_viewer/lab.h"

/// What several recordings say about each other: ranks of one job, and a run beside another.
namespace chapters::profiling::trace_viewer {

/// Means of the steps of each row, who waits for whom, and who computes longest. A rank that stands out is a finding.
void state_ranks(Run& run, Outputs& out);
/// That a rank computes longer is a finding of its own only where no collective says who is late. It stands where what
/// it adds to the steps puts it among what costs the recording shown its time.
void add_slowest(const Run& run, Outputs& out);

/// The recording beside, measured over the same step. Its kernels stand beside those of the recording shown, joined by
/// name.
void state_beside(const Inputs& in, Run& run, Outputs& out);

}  // namespace chapters::profiling::trace_viewer
