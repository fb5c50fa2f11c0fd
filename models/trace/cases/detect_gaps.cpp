#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "models/trace/cases/detect_parts.h"

namespace models::trace {
namespace {

/// Shorter gaps are the ordinary latency between kernels.
constexpr std::int64_t short_gap_ns = 12'000;
/// An operation that takes so many times as long as its name usually does was interrupted.
constexpr std::int64_t interrupted_times = 8, interrupted_ns = 300'000;
/// A launching call loads code where it takes so long, and so many times as long as the median call.
constexpr std::int64_t loading_ns = 1'000'000, loading_times = 100;
/// Gaps of launching that leave less than this part for the second half of a recording were those of its start.
constexpr double least_in_second_half = 0.1;
/// Fewer gaps than this are no pattern.
constexpr std::size_t many_kernels = 10;

/// What an operation of a name usually takes.
class UsualTimes {
 public:
  explicit UsualTimes(const DetectRow& row) : trace_(*row.trace) {
    std::unordered_map<std::uint32_t, std::vector<std::int64_t>> all;
    for (std::size_t t = 0; t < row.host.size(); ++t)
      for (const HostSegment& s : row.host[t])
        if (s.work == HostWork::launching) all[trace_.events[s.event].name].push_back(s.end_ns - s.start_ns);
    for (auto& [name, times] : all) {
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
      std::nth_element(times.begin(), middle, times.end());
      usual_[name] = *middle;
      every_.insert(every_.end(), times.begin(), times.end());
    }
    if (every_.empty()) return;
    const auto middle = every_.begin() + static_cast<std::ptrdiff_t>(every_.size() / 2);
    std::nth_element(every_.begin(), middle, every_.end());
    typical_ = *middle;
  }
  /// By how much a segment is longer than an interruption explains; 0 of an ordinary one.
  std::int64_t beyond(const HostSegment& s) const {
    const auto at = usual_.find(trace_.events[s.event].name);
    const std::int64_t usual = std::min(at == usual_.end() ? typical_ : at->second, 4 * typical_ + 1);
    const std::int64_t ns = s.end_ns - s.start_ns;
    return ns > interrupted_ns && ns > interrupted_times * usual ? ns - usual : 0;
  }

 private:
  const Trace& trace_;
  std::unordered_map<std::uint32_t, std::int64_t> usual_;
  std::vector<std::int64_t> every_;
  std::int64_t typical_ = 0;
};

/// The launching calls that are the first of their kernel and take long enough to load its code; none where launches
/// are as long later on, which somebody else interrupts.
class FirstLaunches {
 public:
  explicit FirstLaunches(const Trace& trace) {
    std::vector<std::uint32_t> calls;
    std::vector<std::int64_t> times;
    for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
      const Event& e = trace.events[i];
      if (e.cls != EventClass::runtime || e.link == none) continue;
      calls.push_back(i);
      times.push_back(e.duration_ns);
    }
    if (calls.empty()) return;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    const std::int64_t least_ns = std::max(loading_ns, loading_times * *middle);
    std::stable_sort(calls.begin(), calls.end(), [&](std::uint32_t a, std::uint32_t b) {
      return trace.events[a].start_ns < trace.events[b].start_ns;
    });
    std::unordered_set<std::uint32_t> launched;
    std::int64_t first_ns = 0, later_ns = 0;
    for (const std::uint32_t i : calls) {
      const bool first = launched.insert(trace.events[trace.events[i].link].name).second;
      if (trace.events[i].duration_ns < least_ns) continue;
      (first ? first_ns : later_ns) += trace.events[i].duration_ns;
      if (first) first_.insert(i);
    }
    if (later_ns > first_ns / 3) first_.clear();
  }
  bool holds(std::uint32_t event) const { return first_.contains(event); }

 private:
  std::unordered_set<std::uint32_t> first_;
};

Cause cause_of(HostWork work) {
  switch (work) {
    case HostWork::loading:
      return Cause::slow_loader;
    case HostWork::computing:
      return Cause::page_faults;
    case HostWork::compiling:
      return Cause::recompilation;
    case HostWork::syncing:
      return Cause::hidden_sync;
    case HostWork::paging_copy:
      return Cause::pageable_copy;
    case HostWork::saving:
      return Cause::checkpoint_write;
    case HostWork::silent:
      return Cause::garbage_collection;
    case HostWork::launching:
      return Cause::small_kernels;
    case HostWork::other:
      break;
  }
  return Cause::nothing;
}

/// A gap of the compute stream that the host explains: its segments between the gap's start and the launch.
class GapReader {
 public:
  GapReader(const DetectRow& row, const Intervals& waiting, RowCosts& costs)
      : row_(row), waiting_(waiting), costs_(costs), usual_(row), first_(*row.trace) {}

  void host_gap(std::int64_t from_ns, std::int64_t to_ns, std::uint32_t track) {
    const std::vector<HostSegment>& all = row_.host[track];
    auto at = std::upper_bound(all.begin(), all.end(), from_ns,
                               [](std::int64_t ns, const HostSegment& s) { return ns < s.end_ns; });
    HostWork led_by = HostWork::other;  // what stood before the silence
    // The gap of a wait is what follows it: the device ran dry while the host stood still.
    if (at != all.end() && at->start_ns < from_ns) led_by = at->work;
    if (at != all.begin() && led_by == HostWork::other) led_by = std::prev(at)->work;
    const bool after_sync = at != all.end() && at->work == HostWork::syncing && at->start_ns <= from_ns;
    for (; at != all.end() && at->start_ns < to_ns; ++at) {
      // While its rank waits for another one in a collective, the host costs nothing.
      const std::int64_t ns = waiting_.outside(std::max(at->start_ns, from_ns), std::min(at->end_ns, to_ns));
      Cause cause = cause_of(at->work);
      if (at->work == HostWork::silent) {
        if (led_by == HostWork::syncing) cause = Cause::hidden_sync;
        if (led_by == HostWork::saving) cause = Cause::checkpoint_write;
      }
      if (at->work == HostWork::launching && usual_.beyond(*at) > 0)
        cause = first_.holds(at->event) ? Cause::slow_first_launch : Cause::contention;
      if (at->work == HostWork::launching && cause == Cause::small_kernels && after_sync) cause = Cause::nothing;
      if (at->work != HostWork::silent && ns > short_gap_ns) led_by = at->work;
      if (cause == Cause::small_kernels)
        paced_.push_back({at->event, ns, from_ns});
      else
        costs_.add(cause, ns, at->event);
      if (cause != Cause::nothing) costs_.explained_ns += std::max<std::int64_t>(ns, 0);
    }
  }

  /// A host that has run ahead by the middle of a recording, and stays ahead, is no slower than its device: the gaps
  /// before were those of a queue that was empty at the start.
  void add_paced() {
    const std::int64_t middle = row_.first_ns + (row_.last_ns - row_.first_ns) / 2;
    double all = 0, later = 0;
    for (const Paced& p : paced_) {
      all += static_cast<double>(p.ns);
      if (p.from_ns >= middle) later += static_cast<double>(p.ns);
    }
    if (later < least_in_second_half * all || paced_.size() < many_kernels) return;
    for (const Paced& p : paced_) costs_.add(Cause::small_kernels, p.ns, p.event);
  }

 private:
  struct Paced {
    std::uint32_t event;
    std::int64_t ns, from_ns;
  };
  const DetectRow& row_;
  const Intervals& waiting_;
  RowCosts& costs_;
  UsualTimes usual_;
  FirstLaunches first_;
  std::vector<Paced> paced_;
};

/// Waiting for a copy from the host on another stream: its time since the gap began.
std::uint32_t copy_that_ends(const DetectRow& row, std::int64_t at_ns) {
  for (const std::uint32_t i : row.copies) {
    const Event& e = row.trace->events[i];
    if (e.start_ns > at_ns) break;
    if (e.end_ns() > at_ns - 20'000 && e.end_ns() <= at_ns) return i;
  }
  return none;
}

}  // namespace

void cost_of_gaps(const DetectRow& row, const Intervals& waiting, RowCosts& costs) {
  const Trace& trace = *row.trace;
  GapReader reader(row, waiting, costs);
  std::int64_t busy_until = row.first_ns;
  for (const std::uint32_t i : row.work) {
    const Event& e = trace.events[i];
    const std::int64_t gap = e.start_ns - busy_until;
    const Event* call = e.link == none ? nullptr : &trace.events[e.link];
    if (gap > 0) costs.idle_ns += gap;
    if (gap > short_gap_ns && call && call->end_ns() > busy_until) {
      reader.host_gap(busy_until, std::min(call->end_ns(), e.start_ns), call->track);
    } else if (gap > short_gap_ns) {
      if (const std::uint32_t copy = copy_that_ends(row, e.start_ns);
          copy != none && trace.name(trace.events[copy]).find("Pageable") != std::string_view::npos)
        costs.add(Cause::pageable_copy, gap, copy);
    }
    if (e.cls == EventClass::memory && e.duration_ns >= large_copy_ns) {
      const std::string_view name = trace.name(e);
      if (name.find("HtoD") != std::string_view::npos && name.find("Pageable") != std::string_view::npos)
        costs.add(Cause::pageable_copy, e.duration_ns, i);
      if (name.find("DtoH") != std::string_view::npos) costs.add(Cause::checkpoint_write, e.duration_ns, i);
    }
    busy_until = std::max(busy_until, e.end_ns());
  }
  reader.add_paced();
  // Where the compute stream is idle meanwhile, the wait explains it.
  for (const Intervals::Part& part : waiting.parts)
    costs.explained_ns += idle_between(row, std::max(part.start_ns, row.first_ns), part.end_ns);
}

}  // namespace models::trace
