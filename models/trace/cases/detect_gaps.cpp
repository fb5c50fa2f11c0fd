#include <algorithm>

#include "models/trace/cases/detect_calls.h"
#include "models/trace/cases/detect_parts.h"

namespace models::trace {
namespace {

/// Shorter gaps are the ordinary latency between kernels.
constexpr std::int64_t short_gap_ns = 12'000;
/// Gaps of launching that leave less than this part for the second half of a recording were those of its start.
constexpr double least_in_second_half = 0.1;
/// Fewer gaps than this are no pattern.
constexpr std::size_t many_kernels = 10;

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
  UsualCalls usual_;
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
