#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "models/trace/replay/recorded_build.h"

namespace models::trace {
namespace {

/// One after another: a call inside another begins when that has ended and takes no time.
void set_apart(std::vector<RecordedCall>& calls) {
  std::stable_sort(calls.begin(), calls.end(),
                   [](const RecordedCall& a, const RecordedCall& b) { return a.start_ns < b.start_ns; });
  std::int64_t at = INT64_MIN;
  for (RecordedCall& c : calls) {
    c.start_ns = std::max(c.start_ns, at);
    c.end_ns = std::max(c.end_ns, c.start_ns);
    at = c.end_ns;
  }
}

std::int64_t time_in(const std::vector<RecordedCall>& calls) {
  std::int64_t sum = 0;
  for (const RecordedCall& c : calls) sum += c.end_ns - c.start_ns;
  return sum;
}

/// For how long calls of both are under way; each by time and apart.
std::int64_t common_time(const std::vector<RecordedCall>& a, const std::vector<RecordedCall>& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum += std::max<std::int64_t>(0, std::min(a[i].end_ns, b[j].end_ns) - std::max(a[i].start_ns, b[j].start_ns));
    if (a[i].end_ns < b[j].end_ns)
      ++i;
    else
      ++j;
  }
  return sum;
}

/// Threads that take turns.
struct ThreadGroup {
  std::string_view pid;
  std::vector<RecordedCall> calls;
  std::vector<std::uint32_t> tracks;
};

/// The thread with most calls first; one joins the first group of its process with which its calls overlap for less
/// than a fiftieth of their time.
std::vector<ThreadGroup> take_turns(const Trace& trace, std::map<std::uint32_t, std::vector<RecordedCall>>& by_track) {
  constexpr std::size_t max_groups = 64;  // where there are more, what comes last is taken for one
  std::vector<std::uint32_t> tracks;
  for (auto& [track, calls] : by_track) {
    set_apart(calls);
    tracks.push_back(track);
  }
  std::stable_sort(tracks.begin(), tracks.end(),
                   [&](auto a, auto b) { return by_track[a].size() > by_track[b].size(); });
  std::vector<ThreadGroup> groups;
  for (const std::uint32_t t : tracks) {
    std::vector<RecordedCall>& calls = by_track[t];
    const std::int64_t time = time_in(calls);
    auto joined = std::find_if(groups.begin(), groups.end(), [&](const ThreadGroup& g) {
      return g.pid == trace.tracks[t].pid && common_time(g.calls, calls) <= time / 50;
    });
    if (joined == groups.end() && groups.size() < max_groups)
      joined = groups.insert(joined, {trace.tracks[t].pid, {}, {}});
    if (joined == groups.end()) --joined;
    joined->calls.insert(joined->calls.end(), calls.begin(), calls.end());
    joined->tracks.push_back(t);
    set_apart(joined->calls);
  }
  return groups;
}

}  // namespace

void RecordedJobBuilder::add_hosts(std::uint32_t part) {
  const Trace& trace = *job_.parts[part].trace;
  std::vector<bool> launches(trace.events.size(), false), waits(trace.strings.size(), false);
  for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
    if (job_.part_of[rank] != part) continue;
    for (const Track& t : trace.tracks) {
      if (t.kind != TrackKind::stream || t.device != job_.ranks[rank].device) continue;
      for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
        if (trace.events[i].link != none) launches[trace.events[i].link] = true;
    }
  }
  for (std::size_t s = 0; s < waits.size(); ++s) waits[s] = waits_for_device(trace.strings[s]);
  std::map<std::uint32_t, std::vector<RecordedCall>> by_track;
  for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
    const Track& track = trace.tracks[t];
    if (track.kind != TrackKind::thread) continue;
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      const Event& e = trace.events[i];
      if (e.kind == EventKind::span && (launches[i] || (e.cls == EventClass::runtime && waits[e.name])))
        by_track[t].push_back({e.start_ns, e.end_ns(), i, t});
    }
  }
  for (ThreadGroup& g : take_turns(trace, by_track)) add_host(part, std::move(g.calls), g.tracks);
}

void RecordedJobBuilder::add_host(std::uint32_t part, std::vector<RecordedCall> calls,
                                  const std::vector<std::uint32_t>& tracks) {
  const Trace& trace = *job_.parts[part].trace;
  std::int64_t at = calls.front().start_ns, last_ns = calls.back().end_ns;
  RecordedJob::HostLane host;
  host.part = part;
  host.first = static_cast<std::uint32_t>(graph_.tasks.size());
  for (const std::uint32_t t : tracks) {
    const Track& track = trace.tracks[t];
    host.threads.push_back(track.pid + '\n' + track.tid);
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i)
      if (trace.events[i].kind == EventKind::span) {
        at = std::min(at, trace.events[i].start_ns);
        last_ns = std::max(last_ns, trace.events[i].end_ns());
      }
  }
  // The lane belongs to the device that it launches work on first.
  std::uint32_t rank = no_task;
  for (const RecordedCall& c : calls) {
    const std::uint32_t work = trace.events[c.event].link;
    for (std::uint32_t r = 0; r < job_.ranks.size() && work != none && rank == no_task; ++r)
      if (job_.part_of[r] == part && trace.tracks[trace.events[work].track].device == job_.ranks[r].device) rank = r;
    if (rank != no_task) break;
  }
  for (std::uint32_t r = 0; r < job_.ranks.size() && rank == no_task; ++r)
    if (job_.part_of[r] == part) rank = r;
  const std::uint32_t lane = graph_.add_lane("host", rank);
  part_of_lane_.push_back(part);
  const auto task = [&](std::int64_t from, std::int64_t to, std::uint32_t event, std::uint32_t track) {
    add(part, {.duration_ns = far_span(from, to), .lane = lane, .event = event}, from, to, track);
  };
  for (const RecordedCall& c : calls) {
    if (c.start_ns > at) task(at, c.start_ns, none, c.track);
    task(c.start_ns, c.end_ns, c.event, c.track);
    at = c.end_ns;
  }
  if (last_ns > at) task(at, last_ns, none, calls.back().track);
  host.count = static_cast<std::uint32_t>(graph_.tasks.size()) - host.first;
  job_.hosts.push_back(std::move(host));
}

}  // namespace models::trace
