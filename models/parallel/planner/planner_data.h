#pragma once
#include <cstdint>
#include <vector>

#include "models/memory/training_memory_parts.h"
#include "models/parallel/planner/planner_job.h"

/// What data parallelism and the sharding of states keep a step waiting for.
namespace models::parallel {

/// A unit that is gathered and scattered as one, seconds: an embedding, a layer, the output matrix with the loss.
struct ShardedUnit {
  double forward_s = 0, backward_s = 0;  ///< what the GPU computes
  double gather_s = 0, scatter_s = 0;    ///< One gather of its weights; what follows its backward pass.
  double alike = 1;                      ///< so many of it in a row
  bool stays_gathered = false;           ///< from its forward to its backward pass
};

/// Seconds of a fully sharded step beyond its computation, in the order in which PyTorch's fully_shard calls
/// collectives on one communicator (overlap_plan): the all-gather of a unit waits until all but `ahead` of the units
/// before it have run, a reduce-scatter follows each backward pass, and a backward pass waits for the reduce-scatter
/// two units before it. Both `ahead` are at most 3. After three micro-batches each is taken to be as the last one was.
struct ShardedOrder {
  std::int64_t forward_ahead = 2, backward_ahead = 1, micro_batches = 1;
};
double sharded_exposed_s(const std::vector<ShardedUnit>& units, const ShardedOrder& order);

/// Ranks over which a plan's states are split, and the copies that are summed beside them.
struct ShardingGroups {
  AllReduceGroup shards, replicas;
};
/// The groups of all parameters but experts: data x context ranks, `tensor` GPUs apart. `shard_group` of 0 splits over
/// all.
ShardingGroups dense_groups(const PlannerCluster& cluster, const memory::TrainingPlan& plan);
/// The groups of experts, whose ranks are those that hold the same ones.
ShardingGroups expert_groups(const PlannerCluster& cluster, const memory::TrainingPlan& plan);

/// Work of one micro-batch on all of the stage that is waited for, seconds.
struct StageWork {
  double forward_s = 0, backward_s = 0;            ///< backward: what is recomputed among it
  double head_forward_s = 0, head_backward_s = 0;  ///< those parts of both that embedding and output take
  bool first = false, last = false;
};

/// The units of a fully sharded stage, as ZeRO-3 times them: of their work only the part that the software hides
/// behind.
std::vector<ShardedUnit> sharded_units(const PlannerJob& job, const memory::TrainingPlan& plan,
                                       const memory::StageMemory& stage, const StageWork& work);

/// One collective that data parallelism runs again and again on weights that are no experts' own: under ZeRO-3 the
/// gather of a layer, under ZeRO-1 and 2 the scatter of a bucket of gradients, else its sum.
struct DataCall {
  bool sums = false, gathers = false;  ///< neither: it scatters
  AllReduceGroup group;
  AllReduceLinks links;
  double bytes = 0;  ///< the whole buffer
  AllReduceTime time;
};
DataCall data_call(const PlannerJob& job, const memory::TrainingPlan& plan, const memory::StageMemory& stage);

/// Seconds in which data parallelism keeps the stage waiting, of a whole step. ZeRO-0 sums gradients in buckets beside
/// the last backward pass; ZeRO-1 scatters them there and gathers the weights beside the next forward pass; ZeRO-2
/// scatters after each micro-batch; ZeRO-3 is sharded_exposed_s. Every call of a ring pays its latency.
double data_parallel_s(const PlannerJob& job, const memory::TrainingPlan& plan, const memory::StageMemory& stage,
                       const StageWork& work);

}  // namespace models::parallel
