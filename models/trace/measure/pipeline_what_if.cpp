#include "models/trace/measure/pipeline_what_if.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace models::trace {
namespace {

/// Operations of all runs together, which take some 25 s.
constexpr double max_run_operations = 4e8;

double mean_of(const std::vector<double>& v) {
  return v.empty() ? 0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

/// The middle value, or the mean of the two in the middle.
double median_time(std::vector<double>& v) {
  if (v.empty()) return 0;
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  if (v.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(v.begin(), middle)) / 2;
}

/// The job with some of its durations exchanged, run again.
struct Trial {
  const PipelineJob& job;
  const Replay& replay;
  const UsualTimes& usual;
  std::vector<JobChange> changes{};
  JobTimes times{};

  double usual_of(std::size_t node) const { return usual[static_cast<std::size_t>(job.nodes[node].op)]; }
  /// Mean step with durations nodes x lanes.
  template <class DurationOf>
  double with(const DurationOf& duration_of) {
    changes.clear();
    for (std::size_t n = 0; n < job.nodes.size(); ++n)
      for (std::size_t lane = 0; lane < job.lanes(); ++lane) {
        const std::size_t at = n * job.lanes() + lane;
        const double s = duration_of(n, lane);
        if (s != job.duration_s[at])
          changes.push_back({.task = static_cast<std::uint32_t>(at), .duration_ns = pipeline_ns(s)});
      }
    replay.run(changes, times);
    return mean_of(pipeline_step_times(job, times));
  }
  /// Mean step where what `keeps(node, replica)` says is as recorded, and the rest as usual.
  template <class Keeps>
  double step_s(const Keeps& keeps) {
    return with([&](std::size_t n, std::size_t lane) {
      const int replica = static_cast<int>(lane % static_cast<std::size_t>(job.replicas));
      return keeps(job.nodes[n], replica) ? job.duration_s[n * job.lanes() + lane] : usual_of(n);
    });
  }
};

bool passes(PipelineOp op) { return op == PipelineOp::forward || op == PipelineOp::backward; }

/// Means of forward and backward by stage: [op][stage].
std::array<std::vector<double>, 2> stage_means(const PipelineJob& job) {
  std::array<std::vector<double>, 2> sum, count;
  for (std::size_t op = 0; op < 2; ++op) {
    sum[op].assign(static_cast<std::size_t>(job.stages), 0);
    count[op] = sum[op];
  }
  for (std::size_t n = 0; n < job.nodes.size(); ++n) {
    const PipelineNode& node = job.nodes[n];
    if (!passes(node.op)) continue;
    const auto op = static_cast<std::size_t>(node.op), stage = static_cast<std::size_t>(node.stage);
    for (std::size_t lane = 0; lane < job.lanes(); ++lane) sum[op][stage] += job.duration_s[n * job.lanes() + lane];
    count[op][stage] += static_cast<double>(job.lanes());
  }
  for (std::size_t op = 0; op < 2; ++op)
    for (std::size_t s = 0; s < sum[op].size(); ++s) sum[op][s] /= std::max(1.0, count[op][s]);
  return sum;
}

/// What would be won with even stages, and with even micro-batches, the rest as recorded.
void state_evened(Trial& trial, PipelineWhatIf& out) {
  const PipelineJob& job = trial.job;
  const auto means = stage_means(job);
  const auto mean_at = [&](std::size_t n) {
    return means[static_cast<std::size_t>(job.nodes[n].op)][static_cast<std::size_t>(job.nodes[n].stage)];
  };
  out.even_stages_s = out.step_s - trial.with([&](std::size_t n, std::size_t lane) {
    const double as_was = job.duration_s[n * job.lanes() + lane];
    return passes(job.nodes[n].op) && mean_at(n) > 0 ? as_was * trial.usual_of(n) / mean_at(n) : as_was;
  });
  out.even_batches_s = out.step_s - trial.with([&](std::size_t n, std::size_t lane) {
    return passes(job.nodes[n].op) ? mean_at(n) : job.duration_s[n * job.lanes() + lane];
  });
}

/// Pearson's correlation of a micro-batch's forward and backward time, each over its stage's mean.
double length_correlation(const PipelineJob& job) {
  const auto means = stage_means(job);
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (int s = 0; s < job.stages; ++s)
    for (int i = 0; i < job.micro_batches; ++i) {
      const int forward = job.find(PipelineOp::forward, s, i), backward = job.find(PipelineOp::backward, s, i);
      if (forward < 0 || backward < 0) continue;
      for (std::size_t lane = 0; lane < job.lanes(); ++lane) {
        const auto of = [&](int node, std::size_t op) {
          const double mean = means[op][static_cast<std::size_t>(s)];
          return mean > 0 ? job.duration_s[static_cast<std::size_t>(node) * job.lanes() + lane] / mean : 0;
        };
        const double f = of(forward, 0), b = of(backward, 1);
        n += 1, x += f, y += b, xx += f * f, yy += b * b, xy += f * b;
      }
    }
  const double spread = (n * xx - x * x) * (n * yy - y * y);
  return spread > 0 ? (n * xy - x * y) / std::sqrt(spread) : 0;
}

/// The worst 3 % of the workers, rounded up: those whose replica and whose stage both slow the job most.
std::vector<std::size_t> worst_workers(const PipelineWhatIf& w) {
  std::vector<std::size_t> order(w.worker.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return w.worker[a] > w.worker[b]; });
  order.resize((w.worker.size() * 3 + 99) / 100);
  return order;
}

StragglerCause cause_of(const PipelineWhatIf& w) {
  if (w.slowdown < straggling_slowdown) return StragglerCause::healthy;
  if (w.worst_workers_share >= 0.5) return StragglerCause::slow_workers;
  const bool lengths = w.length_correlation >= 0.9, split = w.last_stage_share >= 0.5;
  if (lengths && (!split || w.even_batches_s >= w.even_stages_s)) return StragglerCause::sequence_lengths;
  return split ? StragglerCause::stage_split : StragglerCause::other;
}

}  // namespace

UsualTimes usual_times(const PipelineJob& job) {
  UsualTimes out{};
  std::vector<double> all;
  for (std::size_t op = 0; op < pipeline_op_count; ++op) {
    all.clear();
    for (std::size_t n = 0; n < job.nodes.size(); ++n)
      if (static_cast<std::size_t>(job.nodes[n].op) == op)
        for (std::size_t lane = 0; lane < job.lanes(); ++lane) all.push_back(job.duration_s[n * job.lanes() + lane]);
    out[op] = computes(static_cast<PipelineOp>(op)) ? mean_of(all) : median_time(all);
  }
  return out;
}

Result<PipelineWhatIf> pipeline_what_if(const PipelineJob& job, const UsualTimes& usual) {
  using Made = Result<PipelineWhatIf>;
  const double runs = static_cast<double>(job.replicas + job.stages) + 20;
  if (runs * static_cast<double>(job.duration_s.size()) > max_run_operations)
    return Made::fail("The timeline has " + std::to_string(job.replicas * job.stages) + " workers and " +
                      std::to_string(job.duration_s.size()) +
                      " operations, more than can be run again for each of them: give fewer steps.");
  const auto replay = Replay::of(pipeline_graph(job));
  if (!replay) return Made::fail(replay.error);
  PipelineWhatIf w;
  Trial trial{job, *replay, usual};
  w.step_s = mean_of(pipeline_step_times(job, replay->unchanged()));
  w.ideal_s = trial.step_s([](const PipelineNode&, int) { return false; });
  if (!(w.ideal_s > 0)) return Made::fail("The operations of the recording take no time.");
  w.slowdown = w.step_s / w.ideal_s;
  for (std::size_t op = 0; op < pipeline_op_count; ++op)
    w.by_op[op] =
        trial.step_s([&](const PipelineNode& n, int) { return n.op == static_cast<PipelineOp>(op); }) / w.ideal_s;
  for (int r = 0; r < job.replicas; ++r)
    w.by_replica.push_back(trial.step_s([&](const PipelineNode&, int replica) { return replica == r; }) / w.ideal_s);
  for (int s = 0; s < job.stages; ++s)
    w.by_stage.push_back(trial.step_s([&](const PipelineNode& n, int) { return n.stage == s; }) / w.ideal_s);
  for (const double stage : w.by_stage)
    for (const double replica : w.by_replica) w.worker.push_back(std::min(stage, replica));
  const double lost = w.step_s - w.ideal_s;
  if (lost > 0) {
    std::vector<char> worst(w.worker.size(), 0);
    for (const std::size_t i : worst_workers(w)) worst[i] = 1;
    const double without_worst = trial.step_s([&](const PipelineNode& n, int replica) {
      return worst[static_cast<std::size_t>(n.stage * job.replicas + replica)] == 0;
    });
    const double without_last = trial.step_s([&](const PipelineNode& n, int) { return n.stage + 1 < job.stages; });
    w.worst_workers_share = (w.step_s - without_worst) / lost;
    w.last_stage_share = (w.step_s - without_last) / lost;
  }
  state_evened(trial, w);
  w.length_correlation = length_correlation(job);
  w.cause = cause_of(w);
  return Made::ok(std::move(w));
}

}  // namespace models::trace
