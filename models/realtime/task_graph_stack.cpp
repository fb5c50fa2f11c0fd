#include "models/realtime/task_graph_stack.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

void add_once(std::vector<std::size_t>& list, std::size_t x) {
  if (std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
}

/// Fills `after` from names; returns an error sentence or "".
std::string link_names(std::span<const StackTask> tasks, TaskGraph& graph) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::string_view rest = tasks[i].depends_on;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view name = trimmed(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
      if (name.empty()) continue;
      bool found = false;
      for (std::size_t k = 0; k < tasks.size(); ++k)
        if (trimmed(tasks[k].name) == name) {
          add_once(graph.tasks[i].after, k);
          found = true;
        }
      if (!found)
        return "'" + tasks[i].name + "' depends on '" + std::string(name) +
               "', and no task has that name: write names of the table, separated by commas.";
    }
  }
  return "";
}

/// Does `from` wait for `target`, directly or through others?
bool waits_for(const TaskGraph& graph, std::size_t from, std::size_t target) {
  std::vector<std::size_t> open{from};
  std::vector<bool> seen(graph.tasks.size(), false);
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at == target) return true;
    if (seen[at]) continue;
    seen[at] = true;
    for (const std::size_t d : graph.tasks[at].after) open.push_back(d);
  }
  return false;
}

double time_of(const StackTask& t, const StackChanges& c) {
  const bool network = t.role != StackRole::classic;
  double s = (network ? c.engine : c.tuned_code) ? t.tuned_s : t.duration_s;
  if (c.int8 && network && (t.resource == StackResource::gpu || t.resource == StackResource::dla)) s /= c.int8_speedup;
  if (t.role == StackRole::head && c.temporal_fusion) s *= 1 - c.temporal_saving;
  if (t.role == StackRole::head && c.sparse) s *= 1 - c.sparse_saving;
  return s;
}

/// A copy of each encoder for every head after the first that depends on it.
void give_each_head_its_encoder(std::span<const StackTask> tasks, TaskGraph& graph) {
  for (std::size_t e = 0; e < tasks.size(); ++e) {
    if (tasks[e].role != StackRole::encoder) continue;
    bool first = true;
    for (std::size_t h = 0; h < tasks.size(); ++h) {
      if (tasks[h].role != StackRole::head) continue;
      const auto& after = graph.tasks[h].after;
      const auto at = std::find(after.begin(), after.end(), e);
      if (at == after.end()) continue;
      if (!first) {
        const auto place = static_cast<std::size_t>(at - after.begin());
        GraphTask copy = graph.tasks[e];
        copy.name += " for " + tasks[h].name;
        graph.tasks.push_back(std::move(copy));
        graph.tasks[h].after[place] = graph.tasks.size() - 1;
      }
      first = false;
    }
  }
}

}  // namespace

Result<TaskGraph> stack_graph(std::span<const StackTask> tasks,
                              const std::array<std::int64_t, stack_resource_count>& units,
                              const StackChanges& changes) {
  using R = Result<TaskGraph>;
  TaskGraph graph;
  for (std::size_t r = 0; r < units.size(); ++r)
    graph.resources.push_back({std::string(stack_resource_names[r]), units[r]});
  for (const StackTask& t : tasks) {
    const double s = time_of(t, changes);
    if (!(s >= 0 && s <= 3600)) return R::fail("'" + t.name + "' must take from 0 to 3,600 s.");
    graph.tasks.push_back({t.name,
                           static_cast<std::size_t>(t.resource),
                           std::llround(s * 1e9),
                           {},
                           t.priority,
                           t.carries_state || (changes.temporal_fusion && t.role == StackRole::head)});
  }
  if (const std::string error = link_names(tasks, graph); !error.empty()) return R::fail(error);
  if (const auto order = topological_order(graph); !order) return R::fail(order.error);
  if (!changes.parallel_heads) {
    std::size_t last = tasks.size();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].role != StackRole::head) continue;
      if (last < tasks.size() && !waits_for(graph, last, i)) add_once(graph.tasks[i].after, last);
      last = i;
    }
  }
  if (!changes.shared_backbone) give_each_head_its_encoder(tasks, graph);
  return R::ok(std::move(graph));
}

std::vector<StackTask> example_stack() {
  using enum StackResource;
  using enum StackRole;
  return {{"Camera", isp, classic, 5e-3, 2e-3, "", 0, false, "Cam"},
          {"Backbone", gpu, encoder, 12e-3, 6e-3, "Camera", 0, false, "Bone"},
          {"Detection", gpu, head, 8e-3, 4e-3, "Backbone", 0, false, "Det"},
          {"Segmentation", dla, head, 5e-3, 3e-3, "Backbone", 0, false, "Seg"},
          {"Tracking", cpu, classic, 3e-3, 3e-3, "Detection, Segmentation", 0, true, "Trk"},
          {"Prediction", gpu, network, 10e-3, 5e-3, "Tracking", 0, false, "Pred"},
          {"Planning", cpu, classic, 5e-3, 4e-3, "Prediction", 0, false, "Plan"}};
}

}  // namespace models
