#include "models/trace/replay/job_graph.h"

#include <algorithm>
#include <utility>

namespace models::trace {

std::uint32_t JobGraph::add_lane(std::string name, std::uint32_t rank) {
  lanes.push_back({std::move(name), rank});
  return static_cast<std::uint32_t>(lanes.size() - 1);
}

std::uint32_t JobGraph::add_task(const JobTask& task) {
  tasks.push_back(task);
  return static_cast<std::uint32_t>(tasks.size() - 1);
}

void JobGraph::add_edge(std::uint32_t from, std::uint32_t to, JobEdgeKind kind, JobEdgeAt at, std::int64_t delay_ns) {
  edges.push_back({.from = from, .to = to, .delay_ns = delay_ns, .kind = kind, .at = at});
}

std::uint32_t JobGraph::ranks() const {
  std::uint32_t most = 0;
  for (const JobLane& lane : lanes) most = std::max(most, lane.rank + 1);
  return most;
}

}  // namespace models::trace
