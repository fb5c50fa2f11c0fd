#include "models/trace/measure/spans.h"

#include <algorithm>

#include "models/trace/measure/intervals.h"

namespace models::trace {
namespace {

bool counts_as_span(const Trace& trace, const Event& e) {
  return e.kind != EventKind::instant && !trace.name(e).starts_with("ProfilerStep#");
}

bool has_spans(const Trace& trace, TrackKind kind) {
  return std::any_of(trace.tracks.begin(), trace.tracks.end(),
                     [&](const Track& t) { return t.kind == kind && t.count > 0; });
}

struct Open {
  std::uint32_t event;
  std::int64_t end_ns, self_ns;
};

/// Calls `use(event, self_ns)` for every span of a track, and returns for how long it was in any.
template <class Use>
std::int64_t walk_selves(const Trace& trace, const Track& track, const Use& use) {
  std::vector<Open> open;
  std::int64_t covered_ns = 0, reached = INT64_MIN;
  const auto close = [&] {
    use(open.back().event, std::max<std::int64_t>(0, open.back().self_ns));
    open.pop_back();
  };
  for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
    const Event& e = trace.events[i];
    if (!counts_as_span(trace, e)) continue;
    while (!open.empty() && open.back().end_ns <= e.start_ns) close();
    // One that outlasts the span around it takes from that only what lies inside.
    if (!open.empty()) open.back().self_ns -= std::min(e.end_ns(), open.back().end_ns) - e.start_ns;
    covered_ns += std::max<std::int64_t>(0, e.end_ns() - std::max(e.start_ns, reached));
    reached = std::max(reached, e.end_ns());
    open.push_back({i, e.end_ns(), e.duration_ns});
  }
  while (!open.empty()) close();
  return covered_ns;
}

}  // namespace

HostSpans host_spans(const Trace& trace) {
  HostSpans out;
  const TrackKind kind = has_spans(trace, TrackKind::thread)   ? TrackKind::thread
                         : has_spans(trace, TrackKind::python) ? TrackKind::python
                                                               : TrackKind::async;
  std::vector<SpanTime> by_name(trace.strings.size());
  for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
    const Track& track = trace.tracks[t];
    if (track.kind != kind || track.count == 0) continue;
    const std::int64_t covered_ns = walk_selves(trace, track, [&](std::uint32_t event, std::int64_t self_ns) {
      SpanTime& s = by_name[trace.events[event].name];
      ++s.count;
      s.self_ns += self_ns;
      s.total_ns += trace.events[event].duration_ns;
      if (s.longest != none && self_ns <= s.longest_self_ns) return;
      s.longest = event;
      s.longest_self_ns = self_ns;
    });
    if (covered_ns <= out.busiest_ns) continue;
    out.busiest = t;
    out.busiest_ns = covered_ns;
  }
  for (std::uint32_t name = 0; name < by_name.size(); ++name) {
    if (by_name[name].count == 0) continue;
    by_name[name].name = name;
    out.self_ns += by_name[name].self_ns;
    out.names.push_back(by_name[name]);
  }
  std::stable_sort(out.names.begin(), out.names.end(),
                   [](const SpanTime& a, const SpanTime& b) { return a.self_ns > b.self_ns; });
  return out;
}

std::vector<double> track_profile(const Trace& trace, std::uint32_t track, std::int64_t from_ns, std::int64_t to_ns,
                                  std::size_t bins) {
  CoveredShares shares(from_ns, to_ns, bins);
  if (track >= trace.tracks.size()) return shares.take();
  const Track& t = trace.tracks[track];
  for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
    if (const Event& e = trace.events[i]; counts_as_span(trace, e)) shares.add(e.start_ns, e.end_ns());
  return shares.take();
}

}  // namespace models::trace
