#include "models/parallel/planner/planner_traffic.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/parallel/moe/moe_layer_time.h"

namespace models::parallel {
namespace {

using memory::TrainingPlan;

/// The chance that of k different ones of n none is among m given ones.
double chance_of_none(double n, double m, double k) {
  double chance = 1;
  for (double i = 0; i < k; ++i) chance *= std::max(0.0, n - m - i) / std::max(1.0, n - i);
  return chance;
}

}  // namespace

ContextSetup planner_context(const PlannerJob& job, const TrainingPlan& p, double attention_s, bool backward) {
  const Architecture& a = job.architecture;
  const AllReduceGroup group = planner_group(job.cluster, p.context, p.tensor);
  const AllReduceLinks links = planner_links(job.cluster, group);
  ContextSetup s;
  s.ranks = p.context;
  s.sequence = p.sequence;
  s.batch = p.batch;
  s.backward = backward;
  s.heads = std::max<std::int64_t>(1, a.heads / p.tensor);
  s.kv_heads = std::max<std::int64_t>(1, a.kv_heads / p.tensor);
  s.head_dim = a.has_latent() ? (a.latent.nope_dim + a.latent.rope_dim + a.latent.v_dim) / 2 : a.head_dim;
  s.element_bytes = memory::workload_of(p).activation_bytes;
  const double length = as_double(p.sequence);
  s.flops_per_s = length * (length + 1) / 2 / as_double(p.context) * s.flops_per_pair() / std::max(attention_s, 1e-12);
  const bool inside = group.nodes() == 1;
  s.link_bytes_per_s = inside ? links.inside_bytes_per_s : links.between_bytes_per_s;
  s.message_s = inside ? links.inside_hop_s : links.between_hop_s;
  return s;
}

std::string context_problem(const PlannerJob& job, const TrainingPlan& p) {
  if (p.context < 2 || !job.context_method || *job.context_method != ContextMethod::all_to_all) return {};
  return context_cost(*job.context_method, planner_context(job, p, 1, false)).why_not;
}

double context_merge_s(const PlannerJob& job, const TrainingPlan& p, ContextMethod method) {
  if (method != ContextMethod::ring) return 0;
  const Architecture& a = job.architecture;
  const PlannerCurve& curve = job.cluster.curve;
  const double width = as_double(std::max<std::int64_t>(1, a.heads / p.tensor)) *
                       as_double(a.has_latent() ? a.latent.v_dim : a.head_dim);
  const double tokens = as_double(p.batch) * as_double(p.sequence / p.context);
  const double merge_s = tokens * width * 8 / (job.cluster.memory_bandwidth_bytes_per_s * curve.memory_share) +
                         2 * curve.kernel_s * job.stack.kernel_factor;
  return as_double(p.context - 1) * merge_s;
}

namespace {

/// Exposed seconds of one pass: what the method leaves uncovered, and the sums of partial results.
double context_exposed_s(const PlannerJob& job, const TrainingPlan& p, ContextMethod method, double attention_s,
                         bool backward) {
  const ContextCost cost = context_cost(method, planner_context(job, p, attention_s, backward));
  if (!cost.why_not.empty()) return std::numeric_limits<double>::infinity();
  return cost.exposed_s + context_merge_s(job, p, method);
}

void add_context(const PlannerJob& job, const TrainingPlan& p, PlannerKindTimes& layer, MicroBatchTimes& times) {
  double best_s = std::numeric_limits<double>::infinity(), forward_s = 0, backward_s = 0;
  for (const ContextMethod method : {ContextMethod::ring, ContextMethod::gather, ContextMethod::all_to_all}) {
    if (job.context_method && method != *job.context_method) continue;
    const double f = context_exposed_s(job, p, method, layer.forward.attention_s, false);
    if (!(f < best_s)) continue;
    const double b = context_exposed_s(job, p, method, layer.backward.attention_s, true);
    if (!(f + b < best_s)) continue;
    best_s = f + b;
    forward_s = f;
    backward_s = b;
    times.context_method = method;
  }
  layer.forward.context_s += forward_s;
  layer.backward.context_s += backward_s;
}

void add_experts(const PlannerJob& job, const TrainingPlan& p, PlannerKindTimes& layer) {
  const Architecture& a = job.architecture;
  const PlannerStack& s = job.stack;
  const double share = p.sequence_parallel ? 1 / as_double(p.tensor) : 1;
  const double tokens = new_tokens(memory::workload_of(p)) * share;
  const bool fast = s.expert_fast_dispatch && (job.format == Format::fp8 || job.format == Format::fp4);
  const double wide = memory::workload_of(p).activation_bytes, hidden = as_double(a.hidden);
  const MoeLayerShape rows{
      .hidden = hidden, .dispatch_bytes = fast ? 1 : wide, .scale_group = fast ? 128.0 : 0.0, .combine_bytes = wide};
  const std::int64_t stride = p.sequence_parallel ? 1 : p.tensor;
  const auto one = [&](double row_bytes) {
    return expert_exchange_s(job.cluster, a.moe, p.expert, stride, tokens, row_bytes, s.expert_once_per_node);
  };
  const double both = (one(dispatch_row_bytes(rows)) + one(combine_row_bytes(rows))) * s.expert_exposed;
  layer.forward.expert_s += both;
  layer.backward.expert_s += both;
}

}  // namespace

double tensor_sum_s(const PlannerCluster& c, const TrainingPlan& p, double bytes) {
  const AllReduceGroup group = planner_group(c, p.tensor, 1);
  // Sequence parallelism scatters and gathers in place of one sum, in which switches have nothing to spare.
  if (p.sequence_parallel)
    return all_reduce_time(AllReduceAlgorithm::fastest, group, planner_links(c, group), bytes).total_s();
  return planner_sum_s(c, group, planner_links(c, group), 1, bytes);
}

void add_layer_traffic(const PlannerJob& job, const TrainingPlan& p, const LayerKind& kind, PlannerKindTimes& layer,
                       MicroBatchTimes& times) {
  const Architecture& a = job.architecture;
  if (p.tensor > 1) {
    const Workload w = memory::workload_of(p);
    const double one = tensor_sum_s(job.cluster, p, new_tokens(w) * as_double(a.hidden) * w.activation_bytes);
    // Two blocks a layer; those of an expert layer go by all-to-all unless it has shared experts.
    const double blocks = kind.form.experts && a.moe.shared == 0 ? 1 : a.parallel_attention ? 1 : 2;
    layer.forward.tensor_s += blocks * one * job.stack.tensor_exposed_forward;
    // Inputs that sequence parallelism keeps in shards are gathered again, half of a sum (Korthikanti et al. 2022,
    // section 4.2.2), for the gradients of weights, which frozen ones do not have (Transformer Engine gathers where
    // weight.requires_grad alone, pytorch/module/layernorm_linear.py); those that are kept whole are not.
    const bool again = p.sequence_parallel && !p.gathered_inputs && !p.frozen;
    layer.backward.tensor_s += blocks * one * (again ? 1.5 : 1) * job.stack.tensor_exposed_backward;
  }
  if (p.context > 1) add_context(job, p, layer, times);
  if (kind.form.experts && p.expert > 1) add_experts(job, p, layer);
}

ExpertSpread expert_spread(const MixtureOfExperts& moe, std::int64_t ranks, std::int64_t ranks_per_node) {
  const double n = as_double(ranks), here = as_double(std::min(ranks, ranks_per_node));
  const double nodes = std::max(1.0, n / here), k = as_double(moe.per_token);
  double experts = as_double(moe.routed), reachable = nodes;
  if (moe.groups > 1 && moe.groups_per_token < moe.groups) {
    const double part = as_double(moe.groups_per_token) / as_double(moe.groups);
    experts *= part;
    reachable = std::max(1.0, nodes * part);
  }
  const double of_node = experts / reachable, of_rank = of_node / here;
  // Any node is as likely to be reachable as another, the token's own among them.
  const double reach = reachable / nodes;
  const double to_node = reach * (1 - chance_of_none(experts, of_node, k));
  const double to_rank = reach * (1 - chance_of_none(experts, of_rank, k));
  ExpertSpread out;
  out.other_nodes = (nodes - 1) * to_node;
  out.other_copies = k * (nodes - 1) / nodes;
  out.near_ranks = nodes * here * to_rank * (here - 1) / here;
  out.near_copies = k / nodes * (here - 1) / here;
  return out;
}

double expert_exchange_s(const PlannerCluster& c, const MixtureOfExperts& moe, std::int64_t ranks, std::int64_t stride,
                         double tokens, double row_bytes, bool once) {
  if (ranks < 2) return 0;
  const AllReduceGroup group = planner_group(c, ranks, stride);
  const AllReduceLinks links = planner_links(c);
  const ExpertSpread spread = expert_spread(moe, ranks, group.ranks_per_node);
  const double outside = once ? spread.other_nodes : spread.other_copies;
  const double inside = once ? spread.near_ranks : spread.near_copies;
  return std::max(tokens * row_bytes * inside / planner_exchange_rate(c, group),
                  tokens * row_bytes * outside / links.between_bytes_per_s) +
         c.curve.exchange_s;
}

}  // namespace models::parallel
