#pragma once
#include <cstdint>
#include <vector>

#include "models/trace/trace.h"

/// What the threads of the host spent their time in: all that there is to say of a recording without a device.
namespace models::trace {

/// Spans of one name over all threads. Self time is a span's own, without the spans inside it.
struct SpanTime {
  std::uint32_t name = 0;  ///< index into Trace::strings
  std::int64_t count = 0, self_ns = 0, total_ns = 0;
  std::uint32_t longest = none;  ///< the span with the longest self time
  std::int64_t longest_self_ns = 0;
};
struct HostSpans {
  std::vector<SpanTime> names;   ///< the longest self time first
  std::int64_t self_ns = 0;      ///< for how long all threads together were in some span
  std::uint32_t busiest = none;  ///< the track that is in some span for the longest time
  std::int64_t busiest_ns = 0;
};

/// Over the threads of the host (and Python's functions where no thread recorded anything else); over asynchronous
/// spans where there is neither. Steps and the recorder's own spans count as nothing.
HostSpans host_spans(const Trace& trace);

/// Share of each of `bins` equal parts of the time from `from_ns` to `to_ns` in which a track is in some span, 0 to 1.
std::vector<double> track_profile(const Trace& trace, std::uint32_t track, std::int64_t from_ns, std::int64_t to_ns,
                                  std::size_t bins);

}  // namespace models::trace
