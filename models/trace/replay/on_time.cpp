#include <algorithm>
#include <vector>

#include "models/trace/replay/replay.h"

namespace models::trace {
namespace {

/// A meeting of the rank with others: when it came, and how much later than the last of them.
struct Arrival {
  std::int64_t at_ns = 0, late_ns = 0;
};

/// The rank's arrivals in a run, by time.
std::vector<Arrival> arrivals_of(const JobGraph& graph, const JobTimes& times, std::uint32_t rank) {
  std::vector<std::int64_t> own(graph.meetings, -1), others(graph.meetings, -1);
  for (std::uint32_t i = 0; i < graph.tasks.size(); ++i)
    if (const std::uint32_t m = graph.tasks[i].meeting; m != no_task) {
      std::int64_t& last = graph.rank_of(i) == rank ? own[m] : others[m];
      last = std::max(last, times.start_ns[i]);
    }
  std::vector<Arrival> out;
  for (std::uint32_t m = 0; m < graph.meetings; ++m)
    if (own[m] >= 0 && others[m] >= 0) out.push_back({own[m], std::max<std::int64_t>(0, own[m] - others[m])});
  std::sort(out.begin(), out.end(), [](const Arrival& a, const Arrival& b) { return a.at_ns < b.at_ns; });
  return out;
}

}  // namespace

std::vector<JobChange> rank_on_time(const Replay& replay, std::uint32_t rank) {
  constexpr int max_runs = 8;
  constexpr std::int64_t enough_ns = 1000;
  const JobGraph& graph = replay.graph();
  std::vector<JobChange> changes;
  for (std::uint32_t i = 0; i < graph.tasks.size(); ++i)
    if (graph.rank_of(i) == rank && (graph.tasks[i].meeting == no_task || graph.tasks[i].not_before_ns > 0))
      changes.push_back(
          {.task = i, .duration_ns = graph.tasks[i].duration_ns, .not_before_ns = graph.tasks[i].not_before_ns});
  JobTimes times = replay.unchanged();
  for (int run = 0; run < max_runs; ++run) {
    const std::vector<Arrival> arrivals = arrivals_of(graph, times, rank);
    // Between two arrivals: how much later than at the first, and the sum of that before.
    std::vector<std::int64_t> cut_ns(arrivals.size()), before_ns(arrivals.size() + 1, 0);
    for (std::size_t k = 0; k < arrivals.size(); ++k) {
      cut_ns[k] = std::max<std::int64_t>(0, arrivals[k].late_ns - (k > 0 ? arrivals[k - 1].late_ns : 0));
      before_ns[k + 1] = before_ns[k] + cut_ns[k];
    }
    if (before_ns.back() < enough_ns) break;
    const auto interval_of = [&](std::int64_t at) {
      return static_cast<std::size_t>(std::lower_bound(arrivals.begin(), arrivals.end(), at,
                                                       [](const Arrival& a, std::int64_t t) { return a.at_ns < t; }) -
                                      arrivals.begin());
    };
    const auto share_cut = [&](std::size_t k) {
      const std::int64_t took_ns = arrivals[k].at_ns - (k > 0 ? arrivals[k - 1].at_ns : 0);
      return took_ns > 0 ? std::min(1.0, static_cast<double>(cut_ns[k]) / static_cast<double>(took_ns)) : 0.0;
    };
    for (JobChange& c : changes) {
      if (const std::size_t k = interval_of(times.end_ns[c.task]);
          k < arrivals.size() && graph.tasks[c.task].meeting == no_task)
        c.duration_ns -= static_cast<std::int64_t>(share_cut(k) * static_cast<double>(c.duration_ns));
      if (c.not_before_ns <= 0) continue;
      const std::size_t k = interval_of(c.not_before_ns);
      const std::int64_t since_ns = c.not_before_ns - (k > 0 ? arrivals[k - 1].at_ns : 0);
      const double inside = k < arrivals.size() ? share_cut(k) * static_cast<double>(since_ns) : 0;
      c.not_before_ns = std::max<std::int64_t>(0, c.not_before_ns - before_ns[k] - static_cast<std::int64_t>(inside));
    }
    replay.run(changes, times);
  }
  return changes;
}

}  // namespace models::trace
