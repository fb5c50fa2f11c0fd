#pragma once
#include <cstdint>
#include <vector>

#include "models/base/result.h"
#include "models/machine/all_reduce_time.h"
#include "models/parallel/overlap/overlap_run.h"
#include "models/parallel/overlap/overlap_work.h"

/// One data-parallel step of one GPU as tasks of two streams.
namespace models::parallel {

enum class OverlapMethod : std::uint8_t {
  ddp,  ///< whole weights on each GPU, gradients summed in buckets: PyTorch's DistributedDataParallel
  fsdp  ///< weights, gradients and states split, gathered a unit at a time: PyTorch's fully_shard (FSDP2)
};
inline constexpr std::size_t overlap_method_count = 2;

struct OverlapSetup {
  OverlapMethod method = OverlapMethod::ddp;
  double gradient_bytes = 4;  ///< an element, as it is summed
  double weight_bytes = 2;    ///< an element, as it is gathered
  // Choices for DDP:
  double first_bucket_bytes = mebibyte, bucket_bytes = 25 * mebibyte;  ///< infinite: one bucket
  bool beside_backward = true;  ///< a bucket is summed as soon as it is full; else all are after the backward
  // Choices for FSDP:
  bool reshard_after_forward = true;  ///< a unit's weights are freed after its forward and gathered again
  std::int64_t forward_ahead = 2, backward_ahead = 1;  ///< units gathered while an earlier one runs; 0: none
  std::int64_t shards = 64;                            ///< GPUs that the states are split over; the rest are replicas
  // Choices for both:
  std::int64_t micro_batches = 1;  ///< forward and backward so often before the optimizer
  std::int64_t gpus = 64, gpus_per_node = 8;
  AllReduceAlgorithm algorithm = AllReduceAlgorithm::fastest;
  AllReduceLinks links;
  double slowdown = 0;  ///< compute takes 1 + this much times as long while a collective runs
};

/// One sentence where a quantity is out of range or the GPUs are no whole number of shards; nothing otherwise.
Status check(const OverlapSetup& setup);

struct OverlapPlan {
  std::vector<OverlapTask> tasks;
  std::vector<GradientBucket> buckets;  ///< DDP's; FSDP has none
  double sent_bytes = 0;                ///< by each GPU, of all collectives, as rings send them
};

/// The step's tasks. DDP: an all-reduce a bucket, in order, beside the last micro-batch's backward (no_sync before it).
/// FSDP gathers and reduces in every micro-batch, in the order in which PyTorch 2.6's
/// torch/distributed/fsdp/_fully_shard calls them on one communicator, so that one collective runs at a time: the
/// all-gather of a unit waits until all but `ahead` of the units before it have run; a unit's reduce-scatter follows
/// its backward, and a backward waits for the reduce-scatter two units before it, as only one may be under way. The
/// output unit, and a tied embedding, stay gathered between forward and backward. Where there are replicas, an
/// all-reduce of each shard's gradients follows (hybrid sharding). The setup must pass `check`.
OverlapPlan overlap_plan(const OverlapWork& work, const OverlapSetup& setup);

/// An all-gather or a reduce-scatter of `bytes` over the shards, as `collective_time` has it of a ring: N - 1 steps, of
/// which as many leave a node as there are other nodes, and (N - 1) / N of the bytes at the ring's rate; adding is
/// free. 0 for one shard. Source: Thakur, Rabenseifner, Gropp 2005; the steps as src/graph/tuning.cc of NCCL counts
/// them.
double gather_time_s(const OverlapSetup& setup, double bytes);
/// An all-reduce of gradients: of a bucket over all GPUs, with shards of `bytes` over the replicas.
double reduce_time_s(const OverlapSetup& setup, double bytes);

/// Bytes beyond the states at rest, from a time on.
struct HeldWeights {
  double time_s = 0, bytes = 0;
};
/// FSDP's gathered weights, from the start of a gather to the end of the last pass that needs it, and whole gradients
/// of a unit, from the start of its backward to the end of its reduce-scatter; by time. Empty for DDP.
std::vector<HeldWeights> held_weights(const OverlapWork& work, const OverlapSetup& setup, const OverlapPlan& plan,
                                      const OverlapRun& run);

/// Tokens of a GPU's micro-batch from which on compute is as long as the communication that it may hide, layers alone
/// and latency aside: DDP g F / 4 with g seconds of network a gradient; FSDP the larger of w F / 2 in the forward and
/// (w + g) F / 4 in the backward, w seconds a weight (0 where it stays gathered). F is what the kernels reach, FLOP/s,
/// over the share of parameters that a token uses; with layers run again 6 stands for 4.
double critical_tokens(const OverlapWork& work, const OverlapSetup& setup, double reached_flops_per_s);

}  // namespace models::parallel
