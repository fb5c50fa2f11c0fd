#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "models/trace/measure/pipeline_what_if.h"

namespace models::trace {
namespace {

/// Makes the graph of all lanes from the dependencies of one.
class PipelineBuilder {
 public:
  explicit PipelineBuilder(const PipelineJob& job) : job_(job), lanes_(static_cast<std::uint32_t>(job.lanes())) {
    add_tasks();
    for (int s = 0; s < job_.stages; ++s) depend_stage(s);
    meet();
  }
  JobGraph take() { return std::move(graph_); }

 private:
  std::uint32_t task(int node, std::uint32_t lane) const { return static_cast<std::uint32_t>(node) * lanes_ + lane; }

  /// What orders operations are edges, so each has a lane of the graph for itself.
  void add_tasks() {
    graph_.steps = static_cast<std::uint32_t>(job_.steps.size());
    for (std::size_t n = 0; n < job_.nodes.size(); ++n)
      for (std::uint32_t i = 0; i < lanes_; ++i) {
        const auto replica = i % static_cast<std::uint32_t>(job_.replicas);
        JobTask task;
        task.lane = graph_.add_lane({}, static_cast<std::uint32_t>(job_.nodes[n].stage * job_.replicas) + replica);
        task.duration_ns = pipeline_ns(job_.duration_s[n * job_.lanes() + i]);
        task.step = i / static_cast<std::uint32_t>(job_.replicas);
        graph_.add_task(task);
      }
  }

  void depend(int node, int on) {
    if (node < 0 || on < 0) return;
    for (std::uint32_t i = 0; i < lanes_; ++i) graph_.add_edge(task(on, i), task(node, i), JobEdgeKind::data);
  }

  /// What waits for what on one worker: streams in order, computing after what it receives, and the end of the step.
  void depend_stage(int stage) {
    using enum PipelineOp;
    const std::vector<int>& order = job_.compute_order[static_cast<std::size_t>(stage)];
    for (std::size_t i = 1; i < order.size(); ++i) depend(order[i], order[i - 1]);
    depend_exchange(stage, forward, forward_send, forward_recv);
    depend_exchange(stage, backward, backward_send, backward_recv);
    // The first exchange backwards is posted with the forward before the last one before it.
    std::size_t first = 0;
    while (first < order.size() && job_.nodes[static_cast<std::size_t>(order[first])].op != backward) ++first;
    if (first >= 2 && first < order.size()) {
      depend(job_.find(backward_recv, stage, 0), order[first - 2]);
      depend(job_.find(backward_send, stage, 0), order[first - 2]);
    }
    const int gather = job_.find(params_gather, stage, 0);
    if (!order.empty()) depend(order.front(), gather);
    int last = order.empty() ? -1 : order.back();
    for (const PipelineOp op : {garbage_collection, layernorm_grads, embedding_grads, grads_scatter, clip, optimizer})
      for (int i = 0; job_.find(op, stage, i) >= 0; ++i) {
        depend(job_.find(op, stage, i), last);
        last = job_.find(op, stage, i);
        if (op == grads_scatter) depend(last, gather);
      }
  }

  void depend_exchange(int stage, PipelineOp compute, PipelineOp send, PipelineOp recv) {
    for (int i = 0; i < job_.micro_batches; ++i) {
      const int computes = job_.find(compute, stage, i), sends = job_.find(send, stage, i),
                receives = job_.find(recv, stage, i);
      depend(sends, computes);
      depend(computes, receives);
      depend(receives, job_.find(compute, stage, i - 1));
      depend(sends, job_.find(send, stage, i - 1));
      depend(receives, job_.find(recv, stage, i - 1));
    }
  }

  /// Who must have come before a transfer begins: sender and receiver, first and last stage, all stages, all replicas.
  void meet() {
    using enum PipelineOp;
    std::vector<int> clips, embeddings;
    for (int s = 0; s < job_.stages; ++s) {
      for (int i = 0; i < job_.micro_batches; ++i) {
        if (s + 1 < job_.stages) meet({job_.find(forward_send, s, i), job_.find(forward_recv, s + 1, i)}, false);
        if (s > 0) meet({job_.find(backward_send, s, i), job_.find(backward_recv, s - 1, i)}, false);
      }
      for (const PipelineOp op : {params_gather, grads_scatter})
        for (int i = 0; job_.find(op, s, i) >= 0; ++i) meet({job_.find(op, s, i)}, true);
      clips.push_back(job_.find(clip, s, 0));
      embeddings.push_back(job_.find(embedding_grads, s, 0));
    }
    meet(clips, true);
    meet(embeddings, false);
  }
  /// One meeting a replica and step, or one a step of all replicas.
  void meet(std::vector<int> nodes, bool all_replicas) {
    std::erase(nodes, -1);
    if (nodes.empty()) return;
    const std::uint32_t together = all_replicas ? static_cast<std::uint32_t>(job_.replicas) : 1;
    for (const int n : nodes)
      for (std::uint32_t i = 0; i < lanes_; ++i) graph_.tasks[task(n, i)].meeting = graph_.meetings + i / together;
    graph_.meetings += lanes_ / together;
  }

  const PipelineJob& job_;
  const std::uint32_t lanes_;
  JobGraph graph_;
};

}  // namespace

std::int64_t pipeline_ns(double seconds) { return std::max<std::int64_t>(0, std::llround(seconds * 1e9)); }

JobGraph pipeline_graph(const PipelineJob& job) { return PipelineBuilder(job).take(); }

std::vector<double> pipeline_step_times(const PipelineJob& job, const JobTimes& times) {
  std::vector<double> out(job.steps.size(), 0);
  for (int s = 0; s < job.stages; ++s) {
    const int node = job.find(PipelineOp::optimizer, s, 0);
    for (std::size_t i = 0; node >= 0 && i < job.lanes(); ++i) {
      double& step = out[i / static_cast<std::size_t>(job.replicas)];
      step = std::max(step, 1e-9 * static_cast<double>(times.end_ns[static_cast<std::size_t>(node) * job.lanes() + i]));
    }
  }
  return out;
}

}  // namespace models::trace
