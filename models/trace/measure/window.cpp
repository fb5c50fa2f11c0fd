#include "models/trace/measure/window.h"

#include <algorithm>
#include <map>

#include "models/trace/measure/intervals.h"

namespace models::trace {
namespace {

bool works_on(const Event& e, const Track& t, int device) {
  return t.device == device && e.kind == EventKind::span && on_device(e.cls);
}

/// Grows a union of intervals that come in order of start.
struct Union {
  std::int64_t total = 0, end = INT64_MIN;
  void add(std::int64_t from, std::int64_t to) {
    const std::int64_t begin = std::max(from, end);
    if (to > begin) total += to - begin;
    end = std::max(end, to);
  }
};

/// What of a gap lies between two times, each part of it cut there.
Gap cut(const Gap& whole, std::int64_t from_ns, std::int64_t to_ns) {
  const auto inside = [&](std::int64_t a, std::int64_t b) {
    return std::max<std::int64_t>(0, std::min(b, to_ns) - std::max(a, from_ns));
  };
  const std::int64_t called_ns = whole.start_ns + whole.before_ns;
  return {
      .start_ns = from_ns,
      .end_ns = to_ns,
      .next = whole.next,
      .before_ns = inside(whole.start_ns, called_ns),
      .inside_ns = inside(called_ns, called_ns + whole.inside_ns),
      .cause = whole.cause,
  };
}

/// Times that spans cover.
class Cover {
 public:
  void add(std::int64_t from_ns, std::int64_t to_ns) { parts_.push_back({from_ns, to_ns}); }
  /// After the last add(): what overlaps becomes one.
  void sort() {
    std::sort(parts_.begin(), parts_.end(), [](const Stretch& a, const Stretch& b) { return a.from_ns < b.from_ns; });
    std::size_t kept = 0;
    for (const Stretch& p : parts_) {
      if (kept > 0 && p.from_ns <= parts_[kept - 1].to_ns)
        parts_[kept - 1].to_ns = std::max(parts_[kept - 1].to_ns, p.to_ns);
      else
        parts_[kept++] = p;
    }
    parts_.resize(kept);
  }
  bool holds(std::int64_t time_ns) const {
    const auto after = std::upper_bound(parts_.begin(), parts_.end(), time_ns,
                                        [](std::int64_t t, const Stretch& p) { return t < p.from_ns; });
    return after != parts_.begin() && std::prev(after)->to_ns >= time_ns;
  }

 private:
  struct Stretch {
    std::int64_t from_ns = 0, to_ns = 0;
  };
  std::vector<Stretch> parts_;
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

double WindowMetrics::overlap_pct_of_comm() const {
  return comm_ns > 0 ? 100 * static_cast<double>(comp_and_comm_ns) / static_cast<double>(comm_ns) : 0;
}

std::vector<std::uint32_t> device_events(const Trace& trace, int device) {
  std::vector<std::uint32_t> out;
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    return trace.events[a].start_ns < trace.events[b].start_ns;
  };
  for (const Track& t : trace.tracks) {
    if (t.device != device) continue;
    const auto middle = static_cast<std::ptrdiff_t>(out.size());
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
      if (works_on(trace.events[i], t, device)) out.push_back(i);
    std::inplace_merge(out.begin(), out.begin() + middle, out.end(), earlier);
  }
  return out;
}

Extent device_extent(const Trace& trace, int device) {
  Extent x;
  bool any = false;
  for (const Track& t : trace.tracks)
    if (t.device == device)
      for (std::uint32_t i = t.first; i < t.first + t.count; ++i) {
        const Event& e = trace.events[i];
        if (!works_on(e, t, device)) continue;
        x.first_ns = any ? std::min(x.first_ns, e.start_ns) : e.start_ns;
        x.last_ns = any ? std::max(x.last_ns, e.end_ns()) : e.end_ns();
        any = true;
      }
  return x;
}

WindowMetrics measure_window(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns) {
  WindowMetrics m;
  if (to_ns <= from_ns) return m;
  m.window_ns = to_ns - from_ns;
  Union busy, comp, comm, mem, both;
  // The latest end so far, inside the window and in truth: a gap is cut at the ends of the window, and judged by its
  // whole length.
  std::int64_t reached = from_ns, ended = INT64_MIN;
  const auto close_gap = [&](std::uint32_t next, std::int64_t start) {
    if (start <= reached) return;
    Gap gap{.start_ns = reached, .end_ns = start};
    if (next != none)
      gap = cut(gap_before(trace, ended == INT64_MIN ? from_ns : ended, next, trace.events[next].start_ns), reached,
                start);
    add_gap(m.idle, trace, gap);
  };
  bool closed = false;
  for (const std::uint32_t i : device_events(trace, device)) {
    const Event& e = trace.events[i];
    if (e.start_ns >= to_ns) {
      close_gap(i, to_ns);
      closed = true;
      break;
    }
    if (e.end_ns() <= from_ns) {
      ended = std::max(ended, e.end_ns());
      continue;
    }
    const std::int64_t a = std::max(e.start_ns, from_ns), b = std::min(e.end_ns(), to_ns);
    ++m.events;
    close_gap(i, a);
    reached = std::max(reached, b);
    ended = std::max(ended, e.end_ns());
    busy.add(a, b);
    (e.cls == EventClass::communication ? comm : e.cls == EventClass::memory ? mem : comp).add(a, b);
    if (e.cls != EventClass::memory) both.add(a, b);
  }
  if (!closed) close_gap(none, to_ns);
  m.busy_ns = busy.total;
  m.idle_ns = m.window_ns - m.busy_ns;
  m.comp_ns = comp.total;
  m.comm_ns = comm.total;
  m.mem_ns = mem.total;
  m.comp_and_comm_ns = comp.total + comm.total - both.total;
  m.exposed_comm_ns = comm.total - m.comp_and_comm_ns;
  m.exposed_mem_ns = busy.total - both.total;
  return m;
}

std::vector<double> busy_profile(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns,
                                 std::size_t bins) {
  CoveredShares shares(from_ns, to_ns, bins);
  for (const std::uint32_t i : device_events(trace, device))
    shares.add(trace.events[i].start_ns, trace.events[i].end_ns());
  return shares.take();
}

std::vector<QueueSample> device_queue(const Trace& trace, int device) {
  std::vector<std::int64_t> calls, starts;
  for (const Track& t : trace.tracks) {
    if (t.kind != TrackKind::stream || t.device != device) continue;
    const auto middle = static_cast<std::ptrdiff_t>(starts.size());
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i) {
      const Event& e = trace.events[i];
      if (!on_device(e.cls) || e.link == none) continue;
      calls.push_back(trace.events[e.link].start_ns);
      starts.push_back(e.start_ns);
    }
    std::inplace_merge(starts.begin(), starts.begin() + middle, starts.end());  // a track is by start
  }
  std::sort(calls.begin(), calls.end());
  std::vector<QueueSample> out;
  out.reserve(2 * calls.size());
  std::int64_t length = 0;
  for (std::size_t called = 0, started = 0; called < calls.size() || started < starts.size();) {
    const bool call = started == starts.size() || (called < calls.size() && calls[called] <= starts[started]);
    const std::int64_t time_ns = call ? calls[called++] : starts[started++];
    length += call ? 1 : -1;
    if (!out.empty() && out.back().time_ns == time_ns)
      out.back().length = length;
    else
      out.push_back({time_ns, length});
  }
  return out;
}

std::vector<bool> matching_strings(const Trace& trace, std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.empty()) return {};
  std::vector<bool> out(trace.strings.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string& s = trace.strings[i];
    out[i] = std::search(s.begin(), s.end(), text.begin(), text.end(),
                         [](char a, char b) { return lower(a) == lower(b); }) != s.end();
  }
  return out;
}

std::vector<Part> parts_of(const Trace& trace) {
  const auto strings_that_start = [&](std::string_view with) {
    std::vector<bool> out(trace.strings.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::string_view(trace.strings[i]).starts_with(with);
    return out;
  };
  const std::vector<bool> engine = strings_that_start("autograd::engine"),
                          optimizer = strings_that_start("Optimizer.step");
  std::vector<Cover> backward(trace.tracks.size());
  std::map<std::string, Cover> updates;  // by process
  for (std::size_t t = 0; t < trace.tracks.size(); ++t) {
    const Track& track = trace.tracks[t];
    if (track.kind == TrackKind::stream || track.kind == TrackKind::device_annotation) continue;
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      const Event& e = trace.events[i];
      if (e.kind != EventKind::span) continue;
      if (engine[e.name]) backward[t].add(e.start_ns, e.end_ns());
      if (optimizer[e.name]) updates[track.pid].add(e.start_ns, e.end_ns());
    }
    backward[t].sort();
  }
  for (auto& [pid, cover] : updates) cover.sort();
  std::vector<Part> out(trace.events.size(), Part::forward);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Event& e = trace.events[i];
    if (!on_device(e.cls) || e.link == none) continue;
    const Event& call = trace.events[e.link];
    const std::uint32_t track = trace.events[e.link].track;
    if (backward[track].holds(call.start_ns)) out[i] = Part::backward;
    const auto at = updates.find(trace.tracks[track].pid);
    if (at != updates.end() && at->second.holds(call.start_ns)) out[i] = Part::optimizer;
  }
  return out;
}

std::int64_t optimizer_busy_ns(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns) {
  const std::vector<Part> parts = parts_of(trace);
  Union busy;
  for (const std::uint32_t i : device_events(trace, device)) {
    const Event& e = trace.events[i];
    if (e.cls == EventClass::computation && parts[i] == Part::optimizer)
      busy.add(std::max(e.start_ns, from_ns), std::min(e.end_ns(), to_ns));
  }
  return busy.total;
}

namespace {

/// Mean computation of each row, by row.
std::map<std::uint32_t, double> means_of(const std::vector<RankStep>& steps) {
  std::map<std::uint32_t, double> sums;
  std::map<std::uint32_t, int> counts;
  for (const RankStep& s : steps) {
    sums[s.row] += s.comp_s;
    ++counts[s.row];
  }
  for (auto& [row, sum] : sums) sum /= counts[row];
  return sums;
}

Slowest compared(const std::map<std::uint32_t, double>& means, int row) {
  Slowest out;
  const auto own = row < 0 ? means.end() : means.find(static_cast<std::uint32_t>(row));
  if (means.size() < 2 || own == means.end()) return out;
  out.row = row;
  out.mean_comp_s = own->second;
  std::vector<double> others;
  for (const auto& [number, mean] : means)
    if (static_cast<int>(number) != row) others.push_back(mean);
  std::sort(others.begin(), others.end());
  const std::size_t n = others.size();
  out.median_comp_s = n % 2 ? others[n / 2] : (others[n / 2 - 1] + others[n / 2]) / 2;
  if (out.median_comp_s > 0) out.excess = out.mean_comp_s / out.median_comp_s - 1;
  return out;
}

}  // namespace

Slowest compare_rank(const std::vector<RankStep>& steps, int row) { return compared(means_of(steps), row); }

Slowest slowest_rank(const std::vector<RankStep>& steps) {
  const auto means = means_of(steps);
  const auto longest =
      std::max_element(means.begin(), means.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return longest == means.end() ? Slowest() : compared(means, static_cast<int>(longest->first));
}

}  // namespace models::trace
