#include "models/trace/measure/pipeline_ops.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace models::trace {
namespace {

struct OpWords {
  std::string_view name;
  bool computes;
};
constexpr std::array<OpWords, pipeline_op_count> op_words = {{{"forward-compute", true},
                                                              {"backward-compute", true},
                                                              {"forward-send", false},
                                                              {"forward-recv", false},
                                                              {"backward-send", false},
                                                              {"backward-recv", false},
                                                              {"params-all-gather", false},
                                                              {"grads-reduce-scatter", false},
                                                              {"layernorm-grads-all-reduce", false},
                                                              {"embedding-grads-all-reduce", false},
                                                              {"optimizer-clip-main-grad", false},
                                                              {"optimizer", true},
                                                              {"gc", true}}};

/// Bounds what a hostile file can ask for; ByteDance's largest published job has 128 workers and 45 steps.
constexpr int max_stages = 256, max_replicas = 4096, max_sequence = 4096;
constexpr std::size_t max_durations = 50'000'000;

/// One span of the recording, as its arguments number it.
struct ReadOp {
  PipelineNode node;
  int replica = 0, step = 0;
  double start_s = 0, duration_s = 0;
};

int number_in(std::string_view text, int otherwise) {
  int out = otherwise;
  if (std::from_chars(text.data(), text.data() + text.size(), out).ec != std::errc()) return otherwise;
  return out;
}

/// "PP rank 3, TP rank 0, compute" gives 3; -1: it names no stage.
int stage_of(std::string_view thread) {
  constexpr std::string_view words = "PP rank ";
  const std::size_t at = thread.find(words);
  return at == std::string_view::npos ? -1 : number_in(thread.substr(at + words.size()), -1);
}

/// The operation of each of the recording's names; pipeline_op_count: it is none.
std::vector<std::size_t> ops_by_name(const Trace& trace) {
  std::vector<std::size_t> out(trace.strings.size(), pipeline_op_count);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t op = 0; op < pipeline_op_count; ++op)
      if (trace.strings[i] == op_words[op].name) out[i] = op;
  return out;
}

std::vector<ReadOp> read_ops(const Trace& trace) {
  const std::vector<std::size_t> ops = ops_by_name(trace);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i)
    if (trace.events[i].kind == EventKind::span && ops[trace.events[i].name] < pipeline_op_count) order.push_back(i);
  // Arguments are read in the order of the file, which is cheap also of a gz.
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return trace.events[a].args_offset < trace.events[b].args_offset;
  });
  std::vector<int> stages, replicas;
  for (const Track& t : trace.tracks) {
    stages.push_back(stage_of(t.name));
    replicas.push_back(number_in(t.pid, -1));
  }
  std::vector<ReadOp> out;
  out.reserve(order.size());
  for (const std::uint32_t i : order) {
    const Event& e = trace.events[i];
    const int stage = stages[e.track], replica = replicas[e.track];
    if (stage < 0 || stage >= max_stages || replica < 0 || replica >= max_replicas) continue;
    int sequence = -1, step = -1;
    for (const auto& [key, value] : arguments(trace, e)) {
      if (key == "seq_id") sequence = number_in(value.text, -1);
      if (key == "step") step = number_in(value.text, -1);
    }
    if (sequence < 0 || sequence >= max_sequence || step < 0) continue;
    out.push_back({{static_cast<PipelineOp>(ops[e.name]), stage, sequence},
                   replica,
                   step,
                   static_cast<double>(e.start_ns) * 1e-9,
                   static_cast<double>(e.duration_ns) * 1e-9});
  }
  return out;
}

bool before(const PipelineNode& a, const PipelineNode& b) {
  return std::tie(a.stage, a.op, a.sequence) < std::tie(b.stage, b.op, b.sequence);
}

/// The operations of a step: those of the step that has most of them.
std::vector<PipelineNode> nodes_of(const std::vector<ReadOp>& ops) {
  std::vector<PipelineNode> out;
  for (const ReadOp& op : ops) out.push_back(op.node);
  std::sort(out.begin(), out.end(), before);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Forward and backward of each stage as the first lane ran them.
void order_computing(const std::vector<ReadOp>& ops, PipelineJob& job) {
  job.compute_order.assign(static_cast<std::size_t>(job.stages), {});
  std::vector<std::pair<double, int>> started;
  for (int stage = 0; stage < job.stages; ++stage) {
    started.clear();
    for (const ReadOp& op : ops) {
      if (op.node.stage != stage || op.replica != 0 || op.step != job.steps.front()) continue;
      if (op.node.op != PipelineOp::forward && op.node.op != PipelineOp::backward) continue;
      started.push_back({op.start_s, job.find(op.node.op, stage, op.node.sequence)});
    }
    std::sort(started.begin(), started.end());
    for (const auto& [at, node] : started) job.compute_order[static_cast<std::size_t>(stage)].push_back(node);
  }
}

}  // namespace

std::string_view pipeline_op_name(PipelineOp op) { return op_words[static_cast<std::size_t>(op)].name; }
bool computes(PipelineOp op) { return op_words[static_cast<std::size_t>(op)].computes; }

int PipelineJob::find(PipelineOp op, int stage, int sequence) const {
  const PipelineNode node{op, stage, sequence};
  const auto at = std::lower_bound(nodes.begin(), nodes.end(), node, before);
  return at != nodes.end() && *at == node ? static_cast<int>(at - nodes.begin()) : -1;
}

bool holds_pipeline(const Trace& trace) {
  bool forward = false, backward = false, optimizer = false;
  for (const std::string& s : trace.strings) {
    forward = forward || s == op_words[0].name;
    backward = backward || s == op_words[1].name;
    optimizer = optimizer || s == pipeline_op_name(PipelineOp::optimizer);
  }
  return forward && backward && optimizer;
}

Result<PipelineJob> pipeline_job_of(const Trace& trace) {
  using Read = Result<PipelineJob>;
  const std::vector<ReadOp> ops = read_ops(trace);
  if (ops.empty())
    return Read::fail(trace.origin + " names no operations of a pipeline with a step, a sequence number and a stage.");
  PipelineJob job;
  job.nodes = nodes_of(ops);
  std::map<int, std::size_t> count;  // by step
  for (const ReadOp& op : ops) {
    job.stages = std::max(job.stages, op.node.stage + 1);
    job.replicas = std::max(job.replicas, op.replica + 1);
    if (op.node.op == PipelineOp::forward) job.micro_batches = std::max(job.micro_batches, op.node.sequence + 1);
    ++count[op.step];
  }
  const std::size_t whole = job.nodes.size() * static_cast<std::size_t>(job.replicas);
  for (const auto& [step, n] : count)
    if (n == whole) job.steps.push_back(step);
  if (job.steps.empty() || whole * job.steps.size() > max_durations)
    return Read::fail("No step of " + trace.origin + " has every operation on every replica.");
  constexpr double unset = std::numeric_limits<double>::quiet_NaN();
  job.duration_s.assign(job.nodes.size() * job.lanes(), unset);
  for (const ReadOp& op : ops) {
    const auto at = std::lower_bound(job.steps.begin(), job.steps.end(), op.step);
    if (at == job.steps.end() || *at != op.step) continue;
    const std::size_t lane = static_cast<std::size_t>(at - job.steps.begin()) * static_cast<std::size_t>(job.replicas) +
                             static_cast<std::size_t>(op.replica);
    const auto node = static_cast<std::size_t>(job.find(op.node.op, op.node.stage, op.node.sequence));
    job.duration_s[node * job.lanes() + lane] = op.duration_s;
  }
  if (std::any_of(job.duration_s.begin(), job.duration_s.end(), [](double d) { return std::isnan(d); }))
    return Read::fail(trace.origin + " numbers two operations of one replica and step alike.");
  job.left_out = static_cast<std::int64_t>(count.size() - job.steps.size());
  order_computing(ops, job);
  return Read::ok(std::move(job));
}

}  // namespace models::trace
