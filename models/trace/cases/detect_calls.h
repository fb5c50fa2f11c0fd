#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/trace/cases/detect_rows.h"

/// Which calls of a host take longer than their like.
namespace models::trace {

/// An operation that takes so many times as long as its name usually does was interrupted.
inline constexpr std::int64_t interrupted_times = 8, interrupted_ns = 300'000;
/// A launching call loads code where it takes so long, and so many times as long as the median call.
inline constexpr std::int64_t loading_ns = 1'000'000, loading_times = 100;

/// What an operation of a name usually takes.
class UsualCalls {
 public:
  explicit UsualCalls(const DetectRow& row) : trace_(*row.trace) {
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
    usual_ns_ = *middle;
    const std::int64_t least_ns = std::max(loading_ns, loading_times * usual_ns_);
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
  std::int64_t usual_ns() const { return usual_ns_; }  ///< what the median launching call takes

 private:
  std::unordered_set<std::uint32_t> first_;
  std::int64_t usual_ns_ = 0;
};

}  // namespace models::trace
