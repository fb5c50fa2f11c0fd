#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "models/trace/measure/metrics.h"

namespace models::trace {
namespace {

/// From the beginning of a gap until the call that ended it, on the thread of that call.
struct Wait {
  std::int64_t start_ns = 0, end_ns = 0;
};

/// A span of the thread, or of its Python functions, while it is the innermost one.
struct Piece {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t event = none;  ///< none: no span is open
};

bool says_nothing(const Trace& trace, const Event& e) {
  return e.kind != EventKind::span || trace.name(e).starts_with("ProfilerStep#");
}

/// What is innermost on a track in each of the waits, which are apart and by time; calls `use(piece)` by time.
template <class Use>
void walk(const Trace& trace, const Track& track, const std::vector<Wait>& waits, const Use& use) {
  std::vector<std::uint32_t> open;
  std::size_t wait = 0;
  std::int64_t at = INT64_MIN;
  // What is on top of `open` is innermost from `at` to `until`.
  const auto advance = [&](std::int64_t until) {
    while (wait < waits.size() && waits[wait].end_ns <= at) ++wait;
    for (std::size_t w = wait; w < waits.size() && waits[w].start_ns < until; ++w) {
      const Piece piece{std::max(at, waits[w].start_ns), std::min(until, waits[w].end_ns),
                        open.empty() ? none : open.back()};
      if (piece.end_ns > piece.start_ns) use(piece);
    }
    at = std::max(at, until);
  };
  const auto end_of = [&](std::uint32_t i) { return trace.events[i].end_ns(); };
  const auto close_until = [&](std::int64_t time) {
    while (!open.empty() && end_of(open.back()) <= time) {
      advance(end_of(open.back()));
      open.pop_back();
    }
  };
  for (std::uint32_t i = track.first; i < track.first + track.count && wait < waits.size(); ++i) {
    const Event& e = trace.events[i];
    if (says_nothing(trace, e)) continue;
    close_until(e.start_ns);
    advance(e.start_ns);
    open.push_back(i);
  }
  close_until(INT64_MAX);
  advance(INT64_MAX);
}

class Watch {
 public:
  Watch(const Trace& trace, const HostThreads& host, HostWait& out) : trace_(trace), host_(host), out_(out) {}

  void thread(std::uint32_t track, std::vector<Wait> waits) {
    for (const Wait& w : waits) out_.total_ns += w.end_ns - w.start_ns;
    std::vector<bool> synchronised(waits.size());
    const auto tracks = tracks_to_ask(track);
    for (const std::uint32_t t : tracks) find_syncs(trace_.tracks[t], waits, synchronised);
    for (const std::uint32_t t : tracks) {
      std::vector<Wait> unseen;
      walk(trace_, trace_.tracks[t], waits, [&](const Piece& p) {
        if (p.event == none)
          unseen.push_back({p.start_ns, p.end_ns});
        else
          add(p);
      });
      waits = std::move(unseen);
    }
    for (const Wait& w : waits) add({w.start_ns, w.end_ns, none});
  }

  void finish() {
    for (const auto& [name, time] : times_) out_.what.push_back(time);
    std::sort(out_.what.begin(), out_.what.end(),
              [](const HostTime& a, const HostTime& b) { return a.ns != b.ns ? a.ns > b.ns : a.name < b.name; });
  }

 private:
  /// Where to look for what the host did, best first: the thread that launches, its Python functions, then the other
  /// threads of the process by when they begin: while autograd's thread has nothing to launch, the main thread knows
  /// why.
  std::vector<std::uint32_t> tracks_to_ask(std::uint32_t thread) const {
    constexpr std::size_t most = 8;
    std::vector<std::uint32_t> out{thread};
    const Track& own = trace_.tracks[thread];
    const auto add_from = [&](const HostThreads::Tracks& group, const std::string& id, bool of_this_thread) {
      const auto found = group.find(id);
      if (found == group.end()) return;
      for (const std::uint32_t t : found->second) {
        if (out.size() == most) return;
        if (t != thread && (trace_.tracks[t].tid == own.tid) == of_this_thread) out.push_back(t);
      }
    };
    add_from(host_.of_thread, own.pid + '\n' + own.tid, true);
    add_from(host_.of_process, own.pid, false);
    return out;
  }

  /// A gap that begins while a synchronising call is under way: the call waited until the device had nothing left.
  void find_syncs(const Track& track, const std::vector<Wait>& waits, std::vector<bool>& found) {
    std::size_t wait = 0;
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      const Event& e = trace_.events[i];
      if (e.kind != EventKind::span || !synchronises(e.name)) continue;
      while (wait < waits.size() && waits[wait].start_ns < e.start_ns) ++wait;
      // Past those found: an operation and the call inside it are one wait.
      for (; wait < waits.size() && waits[wait].start_ns <= e.end_ns(); ++wait) {
        if (found[wait]) continue;
        found[wait] = true;
        const std::int64_t ns = waits[wait].end_ns - waits[wait].start_ns;
        ++out_.after_sync;
        out_.after_sync_ns += ns;
        if (ns > longest_after_sync_ns_) {
          longest_after_sync_ns_ = ns;
          out_.sync = i;
        }
      }
    }
  }

  bool synchronises(std::uint32_t name) {
    if (synchronises_.empty()) synchronises_.assign(trace_.strings.size(), -1);
    if (synchronises_[name] < 0) synchronises_[name] = waits_for_device(trace_.strings[name]) ? 1 : 0;
    return synchronises_[name] == 1;
  }

  void add(const Piece& p) {
    const std::uint32_t name = p.event == none ? none : trace_.events[p.event].name;
    HostTime& t = times_[name];
    t.name = name;
    const std::int64_t ns = p.end_ns - p.start_ns;
    t.ns += ns;
    ++t.pieces;
    if (ns > t.longest_ns) {
      t.longest_ns = ns;
      t.longest = p.event;
      t.start_ns = p.start_ns;
      t.end_ns = p.end_ns;
    }
  }

  const Trace& trace_;
  const HostThreads& host_;
  HostWait& out_;
  std::unordered_map<std::uint32_t, HostTime> times_;  // by name
  std::vector<std::int8_t> synchronises_;              // by name: -1 not yet asked
  std::int64_t longest_after_sync_ns_ = 0;
};

}  // namespace

bool waits_for_device(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return has("Synchronize") || name.ends_with("::item") || has("_local_scalar_dense");
}

bool blocks_host(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("block_until_ready") || has("try_to_block") || has("BlockUntil") || has("Synchronize")) return true;
  const auto letter = [&](std::size_t at) {
    return at < name.size() && ((name[at] >= 'a' && name[at] <= 'z') || (name[at] >= 'A' && name[at] <= 'Z'));
  };
  // As a word: an event that a stream is to wait for (cudaStreamWaitEvent) does not hold up the host.
  for (std::size_t at = name.find("wait"); at != std::string_view::npos; at = name.find("wait", at + 1))
    if (!(at > 0 && letter(at - 1)) && !letter(at + 4)) return true;
  return false;
}

HostThreads::HostThreads(const Trace& trace) {
  for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
    const Track& track = trace.tracks[t];
    if (track.count == 0 || (track.kind != TrackKind::thread && track.kind != TrackKind::python)) continue;
    of_process[track.pid].push_back(t);
    of_thread[track.pid + '\n' + track.tid].push_back(t);
  }
  for (Tracks* group : {&of_process, &of_thread})
    for (auto& [id, tracks] : *group)
      std::stable_sort(tracks.begin(), tracks.end(), [&](auto a, auto b) {
        return trace.events[trace.tracks[a].first].start_ns < trace.events[trace.tracks[b].first].start_ns;
      });
}

HostWait watch_host(const Trace& trace, const HostThreads& host, const std::vector<Gap>& gaps) {
  HostWait out;
  std::unordered_map<std::uint32_t, std::vector<Wait>> by_thread;
  for (const Gap& g : gaps) {
    if (g.cause != Gap::Cause::host_wait) continue;
    const Event& call = trace.events[trace.events[g.next].link];
    ++out.gaps;
    by_thread[call.track].push_back(
        {g.start_ns, std::min(call.start_ns, g.end_ns)});  // gaps of a device are apart and by time
  }
  if (by_thread.empty()) return out;
  Watch watch(trace, host, out);
  std::vector<std::uint32_t> threads;
  for (const auto& [track, waits] : by_thread) threads.push_back(track);
  std::sort(threads.begin(), threads.end());
  for (const std::uint32_t track : threads) watch.thread(track, by_thread[track]);
  watch.finish();
  return out;
}

}  // namespace models::trace
