#include <algorithm>

#include "models/trace/measure/pipeline_what_if.h"

namespace models::trace {

void PipelineGraph::depend(int node, int on) {
  if (node >= 0 && on >= 0) waits_for_[static_cast<std::size_t>(node)].push_back(on);
}

/// What waits for what on one worker: streams in order, computing after what it receives, and the end of the step.
void PipelineGraph::depend_stage(const PipelineJob& job, int stage) {
  using enum PipelineOp;
  const std::vector<int>& order = job.compute_order[static_cast<std::size_t>(stage)];
  for (std::size_t i = 1; i < order.size(); ++i) depend(order[i], order[i - 1]);
  struct Direction {
    PipelineOp compute, send, recv;
  };
  for (const Direction d : {Direction{forward, forward_send, forward_recv}, {backward, backward_send, backward_recv}})
    for (int i = 0; i < job.micro_batches; ++i) {
      const int compute = job.find(d.compute, stage, i), send = job.find(d.send, stage, i),
                recv = job.find(d.recv, stage, i);
      depend(send, compute);
      depend(compute, recv);
      depend(recv, job.find(d.compute, stage, i - 1));
      depend(send, job.find(d.send, stage, i - 1));
      depend(recv, job.find(d.recv, stage, i - 1));
    }
  // The first exchange backwards is posted with the forward before the last one before it.
  std::size_t first = 0;
  while (first < order.size() && job.nodes[static_cast<std::size_t>(order[first])].op != backward) ++first;
  if (first >= 2 && first < order.size()) {
    depend(job.find(backward_recv, stage, 0), order[first - 2]);
    depend(job.find(backward_send, stage, 0), order[first - 2]);
  }
  const int gather = job.find(params_gather, stage, 0);
  if (!order.empty()) depend(order.front(), gather);
  int last = order.empty() ? -1 : order.back();
  for (const PipelineOp op : {garbage_collection, layernorm_grads, embedding_grads, grads_scatter, clip, optimizer})
    for (int i = 0; job.find(op, stage, i) >= 0; ++i) {
      depend(job.find(op, stage, i), last);
      last = job.find(op, stage, i);
      if (op == grads_scatter) depend(last, gather);
      if (op == optimizer) last_.push_back(last);
    }
}

/// Who must have come before a transfer begins: sender and receiver, first and last stage, all stages, all replicas.
void PipelineGraph::group_transfers(const PipelineJob& job) {
  using enum PipelineOp;
  const auto group = [&](Group g) {
    std::erase(g.members, -1);
    if (g.members.empty()) return;
    for (const int n : g.members) group_of_[static_cast<std::size_t>(n)] = static_cast<int>(groups_.size());
    groups_.push_back(std::move(g));
  };
  Group clips{{}, true}, embeddings;
  for (int s = 0; s < job.stages; ++s) {
    for (int i = 0; i < job.micro_batches; ++i) {
      if (s + 1 < job.stages) group({{job.find(forward_send, s, i), job.find(forward_recv, s + 1, i)}});
      if (s > 0) group({{job.find(backward_send, s, i), job.find(backward_recv, s - 1, i)}});
    }
    for (const PipelineOp op : {params_gather, grads_scatter})
      for (int i = 0; job.find(op, s, i) >= 0; ++i) group({{job.find(op, s, i)}, true});
    clips.members.push_back(job.find(clip, s, 0));
    embeddings.members.push_back(job.find(embedding_grads, s, 0));
  }
  group(std::move(clips));
  group(std::move(embeddings));
}

Status PipelineGraph::sort() {
  const std::size_t n = waits_for_.size();
  std::vector<std::vector<int>> next(n);
  std::vector<int> missing(n, 0), to_come;
  for (const Group& g : groups_) to_come.push_back(static_cast<int>(g.members.size()));
  for (std::size_t v = 0; v < n; ++v)
    for (const int u : waits_for_[v]) {
      next[static_cast<std::size_t>(u)].push_back(static_cast<int>(v));
      ++missing[v];
    }
  std::vector<int> ready;
  for (std::size_t v = 0; v < n; ++v)
    if (missing[v] == 0) ready.push_back(static_cast<int>(v));
  std::size_t ended = 0;
  const auto end = [&](int u) {
    ++ended;
    for (const int v : next[static_cast<std::size_t>(u)])
      if (--missing[static_cast<std::size_t>(v)] == 0) ready.push_back(v);
  };
  while (!ready.empty()) {
    const int v = ready.back(), g = group_of_[static_cast<std::size_t>(v)];
    ready.pop_back();
    if (g < 0) {
      order_.push_back(v);
      end(v);
    } else if (--to_come[static_cast<std::size_t>(g)] == 0) {
      order_.push_back(-1 - g);
      for (const int member : groups_[static_cast<std::size_t>(g)].members) end(member);
    }
  }
  return ended == n ? Status::ok() : Status::fail("The operations of the recording wait for each other in a circle.");
}

Result<PipelineGraph> PipelineGraph::of(const PipelineJob& job) {
  PipelineGraph g;
  g.replicas_ = static_cast<std::size_t>(job.replicas);
  g.lanes_ = job.lanes();
  g.waits_for_.resize(job.nodes.size());
  g.group_of_.assign(job.nodes.size(), -1);
  for (int s = 0; s < job.stages; ++s) g.depend_stage(job, s);
  g.group_transfers(job);
  if (const Status sorted = g.sort(); !sorted) return Result<PipelineGraph>::fail(sorted.error);
  return Result<PipelineGraph>::ok(std::move(g));
}

std::vector<double> PipelineGraph::step_times(const std::vector<double>& duration_s) const {
  std::vector<double> end(waits_for_.size() * lanes_, 0), start(lanes_);
  const auto latest = [&](int node) {
    for (const int u : waits_for_[static_cast<std::size_t>(node)])
      for (std::size_t i = 0; i < lanes_; ++i)
        start[i] = std::max(start[i], end[static_cast<std::size_t>(u) * lanes_ + i]);
  };
  const auto finish = [&](int node) {
    const std::size_t at = static_cast<std::size_t>(node) * lanes_;
    for (std::size_t i = 0; i < lanes_; ++i) end[at + i] = start[i] + duration_s[at + i];
  };
  for (const int what : order_) {
    std::fill(start.begin(), start.end(), 0);
    if (what >= 0) {
      latest(what);
      finish(what);
      continue;
    }
    const Group& g = groups_[static_cast<std::size_t>(-1 - what)];
    for (const int member : g.members) latest(member);
    for (std::size_t first = 0; g.all_replicas && first < lanes_; first += replicas_) {
      const auto from = start.begin() + static_cast<std::ptrdiff_t>(first),
                 to = from + static_cast<std::ptrdiff_t>(replicas_);
      std::fill(from, to, *std::max_element(from, to));
    }
    for (const int member : g.members) finish(member);
  }
  std::vector<double> out(lanes_ / replicas_, 0);
  for (const int node : last_)
    for (std::size_t i = 0; i < lanes_; ++i)
      out[i / replicas_] = std::max(out[i / replicas_], end[static_cast<std::size_t>(node) * lanes_ + i]);
  return out;
}

}  // namespace models::trace
