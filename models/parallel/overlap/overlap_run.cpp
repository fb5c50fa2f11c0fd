#include "models/parallel/overlap/overlap_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace models::parallel {
namespace {

constexpr double never_s = std::numeric_limits<double>::infinity();

/// One stream while it runs: its tasks in order, and what is left of the one in hand.
struct OverlapLane {
  std::vector<std::int32_t> order;
  std::size_t next = 0;
  bool running = false;
  double left_s = 0;  ///< work of the task in hand
};

/// The two streams at one moment, and what has come of their tasks so far.
class TwoStreams {
 public:
  TwoStreams(std::span<const OverlapTask> tasks, double slowdown) : tasks_(tasks), beside_(1 / (1 + slowdown)) {
    run_.start_s.assign(tasks.size(), 0);
    run_.end_s.assign(tasks.size(), never_s);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      lanes_[is_network(tasks[i].kind) ? 1 : 0].order.push_back(static_cast<std::int32_t>(i));
      if (!is_network(tasks[i].kind)) run_.compute_s += tasks[i].work_s;
    }
  }

  OverlapRun run() {
    start_ready();
    while (lanes_[0].running || lanes_[1].running) {
      advance();
      start_ready();
    }
    run_.makespan_s = now_s_;
    double backward_s = 0, last_s = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].kind == OverlapKind::backward) backward_s = std::max(backward_s, run_.end_s[i]);
      if (is_network(tasks_[i].kind)) last_s = std::max(last_s, run_.end_s[i]);
    }
    run_.tail_s = std::max(0.0, last_s - backward_s);
    return std::move(run_);
  }

 private:
  static std::size_t in_hand(const OverlapLane& lane) { return static_cast<std::size_t>(lane.order[lane.next]); }
  bool done(std::int32_t task) const { return task < 0 || run_.end_s[static_cast<std::size_t>(task)] <= now_s_; }

  /// Whatever may start at this moment does, and what has no work ends at once.
  void start_ready() {
    for (bool moved = true; moved;) {
      moved = false;
      for (OverlapLane& lane : lanes_) {
        if (lane.running || lane.next >= lane.order.size()) continue;
        const std::size_t i = in_hand(lane);
        if (!done(tasks_[i].needs[0]) || !done(tasks_[i].needs[1])) continue;
        run_.start_s[i] = now_s_;
        lane.running = tasks_[i].work_s > 0;
        lane.left_s = tasks_[i].work_s;
        if (!lane.running) {
          run_.end_s[i] = now_s_;
          ++lane.next;
        }
        moved = true;
      }
    }
  }

  /// To the next end of a task.
  void advance() {
    OverlapLane &compute = lanes_[0], &network = lanes_[1];
    const double rate = network.running ? beside_ : 1;
    const double compute_s = compute.running ? compute.left_s / rate : never_s;
    const double network_s = network.running ? network.left_s : never_s;
    const double step_s = std::min(compute_s, network_s);
    now_s_ += step_s;
    if (network.running) run_.network_s += step_s;
    if (compute.running) {
      run_.slowed_s += step_s * (1 - rate);
      compute.left_s -= step_s * rate;
    } else {
      run_.exposed_s += step_s;
    }
    if (network.running) network.left_s -= step_s;
    if (compute_s <= step_s) finish(compute);
    if (network_s <= step_s) finish(network);
  }
  void finish(OverlapLane& lane) {
    if (!lane.running) return;
    run_.end_s[in_hand(lane)] = now_s_;
    lane.running = false;
    ++lane.next;
  }

  std::span<const OverlapTask> tasks_;
  double beside_;  ///< speed of compute while a collective runs
  double now_s_ = 0;
  std::array<OverlapLane, 2> lanes_;
  OverlapRun run_;
};

}  // namespace

OverlapRun run_overlap(std::span<const OverlapTask> tasks, double slowdown) {
  return TwoStreams(tasks, slowdown).run();
}

}  // namespace models::parallel
