#pragma once
#include <vector>

#include "models/parallel/context/context_ring.h"
#include "models/parallel/planner/planner_job.h"

namespace models::parallel {

/// Seconds of one pass of one layer, or of an end of the model, on one GPU.
struct PassTimes {
  double products_s = 0, attention_s = 0, elements_s = 0;
  double tensor_s = 0, context_s = 0, expert_s = 0;  ///< exposed communication
  double pair_weights_s = 0;  ///< The part of products_s that makes the gradients of adapters beside frozen weights.
  double work_s() const { return products_s + attention_s + elements_s; }
  double total_s() const { return work_s() + tensor_s + context_s + expert_s; }
  PassTimes& operator+=(const PassTimes& other);
};
PassTimes operator*(PassTimes times, double factor);

/// One kind of layer.
struct PlannerKindTimes {
  PassTimes forward, backward;
  /// What selective recomputation runs again in the backward pass, by the modules that do.
  struct Again {
    std::uint8_t modules = 0;
    PassTimes times;
  };
  std::vector<Again> again;
  PassTimes second_products;  ///< the same of recomputing every second product
  PassTimes selective(const memory::TrainingPlan& plan) const;
};

/// One micro-batch on one GPU. It depends on the plan's batch, sequence, tensor, context, expert and sequence_parallel.
struct MicroBatchTimes {
  std::vector<PlannerKindTimes> kinds;  ///< in the order of layer_kinds(architecture)
  PassTimes embedding, head;            ///< forward and backward together
  double head_forward_s = 0, embedding_forward_s = 0;
  ContextMethod context_method = ContextMethod::ring;  ///< the fastest for this layout
  /// What the slowest of all GPUs adds to the work of one, as a share: the order statistic of the stack's spread.
  double slowest_share = 0;
  double boundary_bytes = 0;  ///< what passes from stage to stage, of one micro-batch in one direction
};

/// Times of the operations of models/transformer under the curves of the job: a product takes the longer of its
/// arithmetic at `share x prod(d / (d + half))` of the peak and its traffic, fused attention its own curve, everything
/// else its traffic; and every kernel its start. Tensor parallelism splits columns or rows, sequence parallelism the
/// rest; multi-token prediction takes its layers' time beside the output matrix; context parallelism splits the tokens,
/// but each query still meets every key before it.
MicroBatchTimes micro_batch_times(const PlannerJob& job, const memory::TrainingPlan& plan);

/// Links as all_reduce_time wants them. Of a torus one link to a neighbour.
AllReduceLinks planner_links(const PlannerCluster& cluster);
/// The same for one group's rings. In a torus they run along every dimension of the group's block at once: a rank has
/// both links of a dimension that the block fills, one of another, and as many steps as the sides add up to; ranks that
/// stand apart share the lines between them.
AllReduceLinks planner_links(const PlannerCluster& cluster, const AllReduceGroup& group);
/// What a rank sends and receives inside its node while all ranks of a group exchange with all, bytes a second: of a
/// torus what its narrowest middle lets through.
double planner_exchange_rate(const PlannerCluster& cluster, const AllReduceGroup& group);
/// An all-reduce by the fastest way, the node's switches among them where they add and the group lies in one node.
/// `links`: those of the cluster, times `share`.
double planner_sum_s(const PlannerCluster& cluster, const AllReduceGroup& group, const AllReduceLinks& links,
                     double share, double bytes);
/// Ranks of an axis whose neighbours lie `stride` GPUs apart.
AllReduceGroup planner_group(const PlannerCluster& cluster, std::int64_t ranks, std::int64_t stride);

}  // namespace models::parallel
