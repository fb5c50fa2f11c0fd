#include <algorithm>
#include <unordered_map>

#include "models/trace/cases/detect_parts.h"

namespace models::trace {
namespace {

/// Shorter gaps are the ordinary latency between kernels.
constexpr std::int64_t short_gap_ns = 12'000;
/// An operation that takes so many times as long as its name usually does was interrupted.
constexpr std::int64_t interrupted_times = 8, interrupted_ns = 300'000;

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
  GapReader(const DetectRow& row, RowCosts& costs) : row_(row), costs_(costs), usual_(row) {}

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
      const std::int64_t ns = std::min(at->end_ns, to_ns) - std::max(at->start_ns, from_ns);
      Cause cause = cause_of(at->work);
      if (at->work == HostWork::silent) {
        if (led_by == HostWork::syncing) cause = Cause::hidden_sync;
        if (led_by == HostWork::saving) cause = Cause::checkpoint_write;
      }
      if (at->work == HostWork::launching && usual_.beyond(*at) > 0) cause = Cause::contention;
      if (at->work == HostWork::launching && cause == Cause::small_kernels && after_sync) cause = Cause::nothing;
      if (at->work != HostWork::silent && ns > short_gap_ns) led_by = at->work;
      costs_.add(cause, ns, at->event);
      if (cause != Cause::nothing) costs_.explained_ns += std::max<std::int64_t>(ns, 0);
    }
  }

 private:
  const DetectRow& row_;
  RowCosts& costs_;
  UsualTimes usual_;
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

void cost_of_gaps(const DetectRow& row, std::span<const DetectRow>, std::size_t, RowCosts& costs) {
  const Trace& trace = *row.trace;
  GapReader reader(row, costs);
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
}

}  // namespace models::trace
