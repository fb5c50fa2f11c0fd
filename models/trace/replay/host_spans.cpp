#include "models/trace/replay/host_spans.h"

#include <algorithm>
#include <unordered_map>

#include "models/trace/measure/metrics.h"

namespace models::trace {
namespace {

struct NamedSpans {
  HostSpanWin span;
  std::vector<std::uint32_t> events;
};

/// The spans of the threads that the job has lanes for, by name.
std::vector<NamedSpans> spans_by_name(const Trace& trace) {
  std::vector<bool> launches(trace.tracks.size(), false);
  for (const Event& e : trace.events)
    if (e.cls == EventClass::runtime && e.link != none) launches[e.track] = true;
  std::vector<NamedSpans> out;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const Event& e = trace.events[i];
    if (e.kind != EventKind::span || on_device(e.cls)) continue;
    // Annotations may stand on a track of their own beside the thread's.
    const Track& own = trace.tracks[e.track];
    bool beside = launches[e.track];
    for (std::size_t t = 0; t < trace.tracks.size() && !beside && own.device < 0; ++t)
      beside = launches[t] && trace.tracks[t].pid == own.pid && trace.tracks[t].tid == own.tid;
    if (!beside || trace.name(e).starts_with("ProfilerStep#")) continue;
    const auto [at, fresh] = places.emplace(e.name, out.size());
    if (fresh) out.push_back({{.name = std::string(trace.name(e))}, {}});
    NamedSpans& n = out[at->second];
    n.events.push_back(i);
    ++n.span.count;
    n.span.total_ns += e.duration_ns;
    if (e.duration_ns <= n.span.longest_ns && n.span.longest != none) continue;
    n.span.longest_ns = e.duration_ns;
    n.span.longest = i;
  }
  return out;
}

}  // namespace

Result<HostSpanWins> host_span_wins(const Trace& trace, std::size_t most) {
  using Made = Result<HostSpanWins>;
  const Metrics metrics = measure(trace);
  if (metrics.devices.empty()) return Made::fail("No device did any work in this recording.");
  const RecordedRank rank{&trace, metrics.devices.front().device, metrics.steps};
  const auto job = recorded_job({&rank, 1});
  if (!job) return Made::fail(job.error);
  std::vector<NamedSpans> all = spans_by_name(trace);
  std::sort(all.begin(), all.end(), [](const NamedSpans& a, const NamedSpans& b) {
    return a.span.total_ns != b.span.total_ns ? a.span.total_ns > b.span.total_ns : a.span.name < b.span.name;
  });
  HostSpanWins out;
  out.fit = job->fit;
  out.left_out = static_cast<std::int64_t>(all.size() - std::min(all.size(), most));
  all.resize(std::min(all.size(), most));
  for (NamedSpans& n : all) {
    n.span.won_ns = job->replay->won_ns(without_events(*job, 0, n.events));
    out.spans.push_back(std::move(n.span));
  }
  std::stable_sort(out.spans.begin(), out.spans.end(),
                   [](const HostSpanWin& a, const HostSpanWin& b) { return a.won_ns > b.won_ns; });
  return Made::ok(std::move(out));
}

}  // namespace models::trace
