#include <algorithm>
#include <numeric>

#include "models/trace/replay/replay.h"

namespace models::trace {
namespace {

/// The parts of each meeting, by task; those of one meeting lie together.
struct MeetingParts {
  std::vector<std::uint32_t> first, tasks;

  explicit MeetingParts(const JobGraph& graph) : first(graph.meetings + std::size_t{1}, 0) {
    for (const JobTask& t : graph.tasks)
      if (t.meeting != no_task) ++first[t.meeting + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    tasks.resize(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t i = 0; i < graph.tasks.size(); ++i)
      if (const std::uint32_t m = graph.tasks[i].meeting; m != no_task) tasks[next[m]++] = i;
  }
  /// Calls `use(last, second_ns, parts)`: the task that came last, the first of several, and when the last of the
  /// others came.
  template <class Use>
  void each(const JobTimes& times, const Use& use) const {
    for (std::size_t m = 0; m + 1 < first.size(); ++m) {
      const std::span<const std::uint32_t> parts(tasks.data() + first[m], first[m + 1] - first[m]);
      if (parts.size() < 2) continue;
      std::uint32_t last = parts.front();
      for (const std::uint32_t p : parts)
        if (times.start_ns[p] > times.start_ns[last]) last = p;
      std::int64_t second_ns = 0;
      for (const std::uint32_t p : parts)
        if (p != last) second_ns = std::max(second_ns, times.start_ns[p]);
      use(last, second_ns, parts);
    }
  }
};

}  // namespace

JobBlame blame_of(const JobGraph& graph, const JobTimes& times) {
  JobBlame out;
  const std::size_t ranks = graph.ranks();
  for (auto* of_rank : {&out.waited_ns, &out.caused_ns, &out.late_ns, &out.spared_ns, &out.times_last})
    of_rank->assign(ranks, 0);
  MeetingParts(graph).each(times, [&](std::uint32_t last, std::int64_t second_ns, auto parts) {
    const std::uint32_t culprit = graph.rank_of(last);
    std::int64_t cost_ns = 0;
    for (const std::uint32_t p : parts) {
      const std::int64_t waited_ns = times.start_ns[last] - times.start_ns[p];
      out.waited_ns[graph.rank_of(p)] += waited_ns;
      cost_ns += waited_ns;
    }
    out.caused_ns[culprit] += cost_ns;
    out.late_ns[culprit] += times.start_ns[last] - second_ns;
    out.spared_ns[culprit] += (times.start_ns[last] - second_ns) * (static_cast<std::int64_t>(parts.size()) - 1);
    out.total_ns += cost_ns;
    if (cost_ns > 0) ++out.times_last[culprit];
  });
  return out;
}

std::vector<std::int64_t> waits_matrix(const JobGraph& graph, const JobTimes& times) {
  const std::size_t ranks = graph.ranks();
  std::vector<std::int64_t> out(ranks * ranks, 0);
  MeetingParts(graph).each(times, [&](std::uint32_t last, std::int64_t, auto parts) {
    for (const std::uint32_t p : parts)
      out[graph.rank_of(p) * ranks + graph.rank_of(last)] += times.start_ns[last] - times.start_ns[p];
  });
  return out;
}

}  // namespace models::trace
