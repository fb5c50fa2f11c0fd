#pragma once
#include <cstdint>
#include <vector>

#include "chapters/profiling/trace_viewer/lanes.h"

/// Which tracks of a recording become lanes, and in which order.
namespace chapters::profiling::trace_viewer {

bool is_stream(const models::trace::Track& track);
/// What most of the time of the track's work on the device goes into.
StreamWork work_of(const models::trace::Trace& trace, const models::trace::Track& track);
/// The tracks of a source in the order in which they are shown.
std::vector<std::uint32_t> tracks_to_show(const LaneSource& source);
/// Moves the stream that communicates, where that is asked for, and the thread that launches right after the first
/// stream; how many tracks stand before the gaps.
std::size_t put_answer_first(const models::trace::Trace& trace, bool communication, std::vector<std::uint32_t>& tracks);

}  // namespace chapters::profiling::trace_viewer
