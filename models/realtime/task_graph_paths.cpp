#include <algorithm>

#include "models/realtime/task_graph.h"

// What a schedule hangs on: bounds, the chain that decides its end, and the room that the other tasks have.
namespace models {
namespace {

/// A task that is part of a circle among the tasks not placed yet, and the ones it passes through.
std::string name_circle(const TaskGraph& graph, const std::vector<bool>& placed) {
  std::size_t at = 0;
  while (placed[at]) ++at;
  std::vector<std::size_t> path;
  while (std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    const auto& after = graph.tasks[at].after;
    at = *std::find_if(after.begin(), after.end(), [&](std::size_t d) { return !placed[d]; });
  }
  std::string out;
  for (auto it = std::find(path.begin(), path.end(), at); it != path.end(); ++it)
    out += "'" + graph.tasks[*it].name + "' waits for ";
  return out + "'" + graph.tasks[at].name + "', a circle: take one dependency away.";
}

}  // namespace

Result<std::vector<std::size_t>> topological_order(const TaskGraph& graph) {
  using R = Result<std::vector<std::size_t>>;
  const std::size_t n = graph.tasks.size();
  if (n == 0) return R::fail("There is no task to schedule: add one.");
  for (const GraphTask& t : graph.tasks)
    for (const std::size_t d : t.after)
      if (d >= n) return R::fail("'" + t.name + "' waits for a task that does not exist.");
  std::vector<std::size_t> order;
  std::vector<bool> placed(n, false);
  for (bool grew = true; grew && order.size() < n;) {
    grew = false;
    for (std::size_t i = 0; i < n; ++i) {
      const auto& after = graph.tasks[i].after;
      if (placed[i] || !std::all_of(after.begin(), after.end(), [&](std::size_t d) { return placed[d]; })) continue;
      placed[i] = grew = true;
      order.push_back(i);
    }
  }
  if (order.size() < n) return R::fail(name_circle(graph, placed));
  return R::ok(std::move(order));
}

std::int64_t critical_path_ns(const TaskGraph& graph) {
  const auto order = topological_order(graph);
  if (!order) return 0;
  std::vector<std::int64_t> end(graph.tasks.size(), 0);
  std::int64_t longest = 0;
  for (const std::size_t i : *order) {
    for (const std::size_t d : graph.tasks[i].after) end[i] = std::max(end[i], end[d]);
    end[i] += graph.tasks[i].duration_ns;
    longest = std::max(longest, end[i]);
  }
  return longest;
}

std::vector<double> work_per_unit_ns(const TaskGraph& graph) {
  std::vector<double> out(graph.resources.size(), 0);
  for (const GraphTask& t : graph.tasks)
    if (t.resource < out.size() && graph.resources[t.resource].units > 0)
      out[t.resource] += static_cast<double>(t.duration_ns) / static_cast<double>(graph.resources[t.resource].units);
  return out;
}

std::vector<std::size_t> critical_chain(const TaskGraph& graph, const GraphSchedule& s, std::size_t frame) {
  std::vector<std::size_t> chain;
  if (frame >= s.frames.size() || graph.tasks.empty()) return chain;
  const auto last_segment = [&](auto&& fits) {
    for (std::size_t i = s.segments.size(); i-- > 0;)
      if (fits(s.segments[i]) && std::find(chain.begin(), chain.end(), i) == chain.end()) return i;
    return s.segments.size();
  };
  std::size_t at =
      last_segment([&](const GraphSegment& g) { return g.frame == frame && g.end_ns == s.frames[frame].finish_ns; });
  while (at < s.segments.size()) {
    chain.push_back(at);
    const GraphSegment now = s.segments[at];
    const auto& after = graph.tasks[now.task].after;
    std::size_t cause = last_segment([&](const GraphSegment& g) {  // a result it waited for
      const bool needed = (g.frame == now.frame && std::find(after.begin(), after.end(), g.task) != after.end()) ||
                          (graph.tasks[now.task].after_own_last && g.task == now.task && g.frame + 1 == now.frame);
      return needed && g.end_ns == now.start_ns && s.jobs[g.frame * graph.tasks.size() + g.task].finish_ns == g.end_ns;
    });
    if (cause == s.segments.size())
      cause = last_segment([&](const GraphSegment& g) {  // a place it waited for
        return g.end_ns == now.start_ns && g.start_ns < g.end_ns &&
               graph.tasks[g.task].resource == graph.tasks[now.task].resource;
      });
    if (cause == s.segments.size() && now.frame > 0 && s.frames[now.frame].release_ns < now.start_ns)
      cause = last_segment([&](const GraphSegment& g) {
        return g.frame + 1 == now.frame && g.end_ns == now.start_ns;
      });  // the frame before
    at = cause;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::vector<std::int64_t> task_float_ns(const TaskGraph& graph, const GraphSchedule& s, std::size_t frame) {
  const std::size_t n = graph.tasks.size();
  std::vector<std::int64_t> room(n, 0);
  if (frame >= s.frames.size()) return room;
  const auto order = topological_order(graph);
  if (!order) return room;
  std::vector<std::size_t> by_finish(order->rbegin(), order->rend());
  const auto job = [&](std::size_t i) -> const GraphJob& { return s.jobs[frame * n + i]; };
  // Later first; among equals as the graph says, so that tasks of no length are settled before what feeds them.
  std::stable_sort(by_finish.begin(), by_finish.end(), [&](std::size_t a, std::size_t b) {
    return job(a).finish_ns != job(b).finish_ns ? job(a).finish_ns > job(b).finish_ns
                                                : job(a).start_ns > job(b).start_ns;
  });
  for (const std::size_t i : by_finish) {
    room[i] = s.frames[frame].finish_ns - job(i).finish_ns;
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const auto& after = graph.tasks[k].after;
      const bool needs = std::find(after.begin(), after.end(), i) != after.end();
      const bool place = graph.tasks[k].resource == graph.tasks[i].resource && job(k).start_ns >= job(i).finish_ns &&
                         (graph.resources[graph.tasks[k].resource].units == 1 ||
                          (job(k).start_ns == job(i).finish_ns && job(k).ready_ns < job(k).start_ns));
      if (needs || place) room[i] = std::min(room[i], room[k] + job(k).start_ns - job(i).finish_ns);
    }
  }
  return room;
}

}  // namespace models
