#pragma once
#include <string>

#include "models/parallel/planner/planner_times.h"

/// What tensor, context and expert parallelism send in a layer.
namespace models::parallel {

/// Adds the exposed seconds of one layer of `kind` to its passes, whose attention must be there already, and notes the
/// context method.
void add_layer_traffic(const PlannerJob& job, const memory::TrainingPlan& plan, const LayerKind& kind,
                       PlannerKindTimes& layer, MicroBatchTimes& times);

/// Attention over a shared sequence as models/parallel/context has it, with the planner's own time of a rank's products
/// (PassTimes::attention_s of a layer) and the link between neighbours.
ContextSetup planner_context(const PlannerJob& job, const memory::TrainingPlan& plan, double attention_s,
                             bool backward);
/// One sentence where the job's own context method cannot deal this plan's heads; nothing otherwise.
std::string context_problem(const PlannerJob& job, const memory::TrainingPlan& plan);
/// What a ring adds to context_cost's exposed time in one pass of a layer: partial results are summed after each turn,
/// read and written in FP32. 0 for the other methods.
double context_merge_s(const PlannerJob& job, const memory::TrainingPlan& plan, ContextMethod method);

/// One sum of `bytes` over the tensor-parallel GPUs, or the scatter and gather of sequence parallelism.
double tensor_sum_s(const PlannerCluster& cluster, const memory::TrainingPlan& plan, double bytes);

/// Where the copies of a token go that all experts are equally likely to get, means over tokens.
struct ExpertSpread {
  double other_nodes = 0;   ///< other nodes that it goes to at all
  double other_copies = 0;  ///< copies for ranks of other nodes
  double near_ranks = 0;   ///< copies for other ranks of a node that it reaches, its own among them, all nodes together
  double near_copies = 0;  ///< copies for other ranks of its own node
};
/// Experts lie evenly on `ranks` in nodes of `ranks_per_node`. A token takes `per_token` different experts, of no more
/// than groups_per_token of the groups where the model limits them; groups lie on neighbouring ranks. Choosing k of n
/// without replacement misses a set of m with probability C(n - m, k) / C(n, k).
ExpertSpread expert_spread(const MixtureOfExperts& moe, std::int64_t ranks, std::int64_t ranks_per_node);

/// One dispatch or combine of `tokens` a rank, each `row_bytes`: the longer of the two kinds of link, and a start.
/// `once`: a token crosses the network once for each node, and is handed on inside.
double expert_exchange_s(const PlannerCluster& cluster, const MixtureOfExperts& moe, std::int64_t ranks,
                         std::int64_t stride, double tokens, double row_bytes, bool once);

}  // namespace models::parallel
