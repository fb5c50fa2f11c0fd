#include "models/parallel/overlap/overlap_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace models::parallel {
namespace {

constexpr double never_s = std::numeric_limits<double>::infinity();

/// One stream while it runs: its tasks in order, and what is left of the one in hand.
struct OverlapLane {
  std::vector<std::int32_t> order;
  std::size_t next = 0;
  bool running = false;
  double left_s = 0;  ///< work of the task in hand
  double free_s = 0;  ///< end of the one before
};

}  // namespace

OverlapRun run_overlap(std::span<const OverlapTask> tasks, double slowdown) {
  OverlapRun run;
  run.start_s.assign(tasks.size(), 0);
  run.end_s.assign(tasks.size(), never_s);
  std::array<OverlapLane, 2> lanes;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    lanes[is_network(tasks[i].kind) ? 1 : 0].order.push_back(static_cast<std::int32_t>(i));
    if (!is_network(tasks[i].kind)) run.compute_s += tasks[i].work_s;
  }
  const double beside = 1 / (1 + slowdown);
  double now_s = 0;
  const auto in_hand = [&](const OverlapLane& lane) { return static_cast<std::size_t>(lane.order[lane.next]); };
  const auto done = [&](std::int32_t task) { return task < 0 || run.end_s[static_cast<std::size_t>(task)] <= now_s; };
  for (;;) {
    bool moved = true;
    while (moved) {  // whatever may start at this moment does, and what has no work ends at once
      moved = false;
      for (OverlapLane& lane : lanes) {
        if (lane.running || lane.next >= lane.order.size()) continue;
        const std::size_t i = in_hand(lane);
        if (!done(tasks[i].needs[0]) || !done(tasks[i].needs[1])) continue;
        run.start_s[i] = now_s;
        lane.running = tasks[i].work_s > 0;
        lane.left_s = tasks[i].work_s;
        if (!lane.running) {
          run.end_s[i] = now_s;
          ++lane.next;
        }
        moved = true;
      }
    }
    OverlapLane &compute = lanes[0], &network = lanes[1];
    if (!compute.running && !network.running) break;
    const double rate = network.running ? beside : 1;
    const double compute_s = compute.running ? compute.left_s / rate : never_s;
    const double network_s = network.running ? network.left_s : never_s;
    const double step_s = std::min(compute_s, network_s);
    now_s += step_s;
    if (network.running) run.network_s += step_s;
    if (compute.running) {
      run.slowed_s += step_s * (1 - rate);
      compute.left_s -= step_s * rate;
    } else {
      run.exposed_s += step_s;
    }
    if (network.running) network.left_s -= step_s;
    const auto finish = [&](OverlapLane& lane, double end_s) {
      if (!lane.running || end_s > step_s) return;
      run.end_s[in_hand(lane)] = now_s;
      lane.running = false;
      ++lane.next;
    };
    finish(compute, compute_s);
    finish(network, network_s);
  }
  run.makespan_s = now_s;
  double backward_s = 0, last_s = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind == OverlapKind::backward) backward_s = std::max(backward_s, run.end_s[i]);
    if (is_network(tasks[i].kind)) last_s = std::max(last_s, run.end_s[i]);
  }
  run.tail_s = std::max(0.0, last_s - backward_s);
  return run;
}

}  // namespace models::parallel
