#include "models/parallel/planner/planner_price.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/memory/operation_times.h"
#include "models/parallel/tensor/tensor_layer.h"
#include "models/transformer/flops.h"

namespace models::parallel {
namespace {

using memory::MemoryOwner;
using memory::TrainingPlan;

/// The part of forward or backward work that the slowest stage does for one micro-batch.
struct StageTimes {
  PassTimes forward, backward, again;
  double total_s() const { return forward.total_s() + backward.total_s() + again.total_s(); }
};

StageTimes stage_times(const PlannerStages::Group& g, const TrainingPlan& p, const MicroBatchTimes& times) {
  StageTimes out;
  for (std::size_t i = 0; i < times.kinds.size(); ++i) {
    const double n = g.memory.counts[i];
    if (n == 0) continue;
    out.forward += times.kinds[i].forward * n;
    out.backward += times.kinds[i].backward * n;
    if (p.recompute == Recompute::full) out.again += times.kinds[i].forward * n;
    if (p.recompute == Recompute::selective) out.again += times.kinds[i].selective * n;
  }
  if (g.first) out.backward += times.embedding;
  if (g.last) out.backward += times.head;
  return out;
}

/// Seconds in which data parallelism keeps this stage waiting. `forward_s` and `backward_s` are of one micro-batch.
double data_parallel_s(const PlannerJob& job, const TrainingPlan& p, const memory::StageMemory& stage, double forward_s,
                       double backward_s) {
  const memory::StageParameters& n = stage.parameters;
  const PlannerCluster& c = job.cluster;
  const std::int64_t ranks = p.data * p.context;
  if (ranks == 1) return 0;
  AllReduceLinks links = planner_links(c);
  links.inside_bytes_per_s *= job.stack.data_link;
  links.between_bytes_per_s *= job.stack.data_link;
  const std::int64_t shards = job.shard_group > 0 ? std::min(job.shard_group, ranks) : ranks;
  const auto reduce = [&](double bytes, std::int64_t over, std::int64_t stride) {
    if (over < 2) return 0.0;
    return all_reduce_time(AllReduceAlgorithm::fastest, planner_group(c, over, stride), links, bytes).total_s();
  };
  const double weight = memory::workload_of(p).weight_bytes, gradient = job.stack.gradient_bytes;
  const double dense = n.dense + n.outer;
  const std::int64_t expert_ranks = std::max<std::int64_t>(1, ranks / p.expert);
  const auto both = [&](double each, std::int64_t over) {
    return reduce(each * dense, over, p.tensor) +
           (n.experts > 0 ? reduce(each * n.experts, std::min(over, expert_ranks), p.tensor * p.expert) : 0.0);
  };
  const double hidden = job.stack.data_hidden;
  if (p.zero_stage == 3) {
    const double m = as_double(p.micro_batches);
    const double gathers = 2 * both(weight, shards) / 2, scatter = both(gradient, ranks) / 2;
    const double sent = m * (gathers + scatter), window = m * hidden * (forward_s + backward_s);
    const double units = std::max(1.0, dense / std::max(1.0, stage.largest_unit));
    return std::max(sent / units, sent - window);
  }
  if (p.zero_stage == 0) {
    const double sent = both(gradient, ranks);
    return std::max(0.05 * sent, sent - hidden * backward_s);
  }
  const double scatter = shards < ranks ? both(gradient, ranks) : both(gradient, ranks) / 2;
  const double gather = both(weight, shards) / 2;
  // Split gradients have no room for the sum of what is whole, so that ZeRO-2 scatters them after each micro-batch.
  const double times = p.zero_stage == 2 ? as_double(p.micro_batches) : 1;
  return times * std::max(0.05 * scatter, scatter - hidden * backward_s) +
         std::max(0.05 * gather, gather - hidden * forward_s);
}

}  // namespace

std::string_view step_cause_name(PlanCause cause) {
  constexpr std::array<std::string_view, plan_cause_count> names{
      "products",        "attention",        "element-wise",    "recompute",
      "tensor parallel", "context parallel", "expert parallel", "pipeline transfers",
      "pipeline bubble", "data parallel",    "optimizer",       "host and stragglers"};
  return names[static_cast<std::size_t>(cause)];
}

PlannerStages planner_stages(const Architecture& a, const TrainingPlan& plan) {
  PlannerStages out;
  TrainingPlan p = plan;
  for (p.stage = 0; p.stage < p.pipeline; ++p.stage) {
    PlannerStages::Group g;
    g.memory = memory::stage_memory(a, p);
    g.stage = p.stage;
    g.first = p.stage == 0;
    g.last = p.stage == p.pipeline - 1;
    if (!out.groups.empty() && !g.first && !g.last) {
      PlannerStages::Group& before = out.groups.back();
      if (!before.first && before.memory.layers == g.memory.layers) {
        before.alike += 1;
        continue;
      }
    }
    out.groups.push_back(std::move(g));
  }
  return out;
}

TrainingPlan planned(const PlannerJob& job, TrainingPlan p) {
  p.sequence = job.sequence;
  p.micro_batches = std::max<std::int64_t>(1, job.global_batch / std::max<std::int64_t>(1, p.data * p.batch));
  p.fused_attention = job.stack.fused_attention;
  p.dropout = job.stack.dropout;
  p.recipe = job.stack.recipe;
  p.loss = job.stack.loss;
  p.fused_gradients = job.stack.fused_gradients;
  p.step_gradients = job.stack.step_gradients && p.zero_stage > 0;
  return p;
}

std::string planner_problem(const PlannerJob& job, const TrainingPlan& p) {
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  if (std::string problem = memory::plan_problem(job.architecture, p); !problem.empty()) return problem;
  if (std::string problem = copied_heads_problem(job.architecture, p.tensor); !problem.empty()) return problem;
  const std::int64_t needed = p.tensor * p.pipeline * p.context * p.data;
  if (needed != job.cluster.gpus)
    return "Tensor " + text(p.tensor) + " x pipeline " + text(p.pipeline) + " x context " + text(p.context) +
           " x data " + text(p.data) + " are " + text(needed) + " GPUs, and the cluster has " + text(job.cluster.gpus) +
           "; choose axes whose product is that.";
  if (const std::int64_t each = p.data * p.batch; each * p.micro_batches != job.global_batch) {
    const std::int64_t below = job.global_batch / each * each;
    return "A global batch of " + text(job.global_batch) + " sequences is not a whole number of micro-batches of " +
           text(p.batch) + " on " + text(p.data) + " data-parallel ranks; " +
           (below > 0 ? text(below) + " or " : std::string()) + text(below + each) + " would be.";
  }
  if (p.zero_stage >= 2 && p.pipeline > 1)
    return "ZeRO-" + text(p.zero_stage) +
           " sends gradients after every micro-batch, which the stages of a pipeline would wait for; take ZeRO-1 with "
           "a pipeline.";
  return {};
}

PricedPlan price_plan(const PlannerJob& job, const TrainingPlan& p, const MicroBatchTimes& times,
                      const memory::MicroBatchMemory& micro, const PlannerStages& stages) {
  const PlannerCluster& c = job.cluster;
  PricedPlan out;
  out.plan = p;
  StageTimes slowest;
  const memory::StageMemory* largest = nullptr;
  double sum_s = 0, slowest_s = -1, most = -1;
  std::int64_t fullest = 0;
  for (const PlannerStages::Group& g : stages.groups) {
    const StageTimes t = stage_times(g, p, times);
    const double total = t.total_s();
    sum_s += total * g.alike;
    if (total > slowest_s) {
      slowest_s = total;
      slowest = t;
    }
    if (largest == nullptr || g.memory.parameters.total() > largest->parameters.total()) largest = &g.memory;
    out.plan.stage = g.stage;
    const memory::TrainingMemory held = memory::training_memory_of(
        job.architecture, out.plan, {.slack_share = job.stack.slack_share, .fixed_bytes = job.stack.reserve_bytes},
        micro, g.memory);
    if (held.total() > most) {
      most = held.total();
      fullest = g.stage;
    }
  }
  out.plan.stage = fullest;
  out.memory_bytes = most;
  const double m = as_double(p.micro_batches), v = as_double(p.virtual_pipeline), stage_count = as_double(p.pipeline);
  PassTimes pass = slowest.forward;
  pass += slowest.backward;
  StepParts& s = out.parts;
  s[PlanCause::products] = m * pass.products_s;
  s[PlanCause::attention] = m * pass.attention_s;
  s[PlanCause::elements] = m * pass.elements_s;
  s[PlanCause::recompute] = m * slowest.again.work_s();
  s[PlanCause::tensor] = m * (pass.tensor_s + slowest.again.tensor_s);
  s[PlanCause::context] = m * (pass.context_s + slowest.again.context_s);
  s[PlanCause::expert] = m * (pass.expert_s + slowest.again.expert_s);
  if (p.pipeline > 1) {
    s[PlanCause::bubble] = (sum_s - slowest_s) / v;
    const AllReduceLinks links = planner_links(c);
    const bool inside = p.tensor * p.context * p.data * 2 <= c.gpus_per_node || c.gpus <= c.gpus_per_node;
    const double send = times.boundary_bytes / (inside ? links.inside_bytes_per_s : links.between_bytes_per_s) +
                        (inside ? links.inside_hop_s : links.between_hop_s);
    s[PlanCause::pipeline] = 2 * send * (m * v * job.stack.pipeline_exposed + (stage_count - 1));
  }
  s[PlanCause::data] = data_parallel_s(job, p, *largest, slowest.forward.total_s() / v,
                                       (slowest.backward.total_s() + slowest.again.total_s()) / v);
  const memory::HeldBytes states = memory::state_bytes(p, micro.per_parameter, largest->parameters);
  s[PlanCause::optimizer] =
      memory::optimizer_traffic_bytes(states) / (c.memory_bandwidth_bytes_per_s * c.curve.memory_share);
  const double nodes = as_double(ceil_div(c.gpus, c.gpus_per_node));
  s[PlanCause::other] = job.stack.step_s + s.total_s() * job.stack.straggler * std::log2(std::max(1.0, nodes));
  out.step_s = s.total_s();
  out.bubble_share = s[PlanCause::bubble] / out.step_s;
  out.fits = out.memory_bytes <= c.memory_bytes;
  return out;
}

Result<PricedPlan> price_plan(const PlannerJob& job, const TrainingPlan& plan) {
  using Outcome = Result<PricedPlan>;
  if (std::string problem = planner_problem(job, plan); !problem.empty()) return Outcome::fail(std::move(problem));
  return Outcome::ok(price_plan(job, plan, micro_batch_times(job, plan),
                                memory::micro_batch_memory(job.architecture, plan),
                                planner_stages(job.architecture, plan)));
}

double planner_mfu(const PlannerJob& job, double step_s) {
  const double tokens = as_double(job.global_batch) * as_double(job.sequence);
  const double peak = std::max(job.cluster.peak_flops_per_s, job.cluster.fast_peak_flops_per_s);
  return megatron_flops_per_token(job.architecture, as_double(job.sequence)) * tokens /
         (step_s * peak * as_double(job.cluster.gpus));
}

}  // namespace models::parallel
