#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/memory/training_memory.h"
#include "models/parallel/planner/planner_schedule.h"

/// What lies on each GPU of a cluster under any combination of data, tensor, sequence, pipeline, context and expert
/// parallelism, ZeRO and offloading, and what each of these takes off it.
namespace models::parallel {

/// The ways in which a plan divides what one GPU alone would hold, in the order in which they are applied here.
enum class SplitAxis : std::uint8_t {
  alone,
  tensor,
  sequence,
  pipeline,
  context,
  expert,
  zero1,
  zero2,
  zero3,
  offload
};
inline constexpr std::size_t split_axis_count = 10;

/// One GPU among the plan's tensor x context x data x pipeline. `rank` counts tensor first, pipeline last, as
/// Megatron-LM does by default (tp-cp-ep-dp-pp).
struct SplitGpu {
  std::int64_t rank = 0, tensor = 0, context = 0, data = 0, stage = 0;
};

/// GPUs of the plan.
std::int64_t gpus_of(const memory::TrainingPlan& plan);

/// Where the GPU of a rank stands on every axis of the plan.
SplitGpu gpu_at(const memory::TrainingPlan& plan, std::int64_t rank);

/// At most `most` GPUs that show what differs: stages first (the first two and the last two where there are more than
/// four), then neighbours in the order of ranks.
std::vector<SplitGpu> shown_gpus(const memory::TrainingPlan& plan, std::size_t most);

/// The part of an owner's bytes that a GPU has: part `index` of `parts` that lie on different GPUs. What the pipeline
/// divides are layers, which are not of one size. Copies elsewhere are not counted. Activations are parts of one
/// micro-batch's in a layer: over context, and over tensor where sequence parallelism cuts them evenly.
struct OwnerPart {
  std::int64_t parts = 1, index = 0;
};
/// The part of weights, gradients, master, moments or activations that `gpu` has.
OwnerPart owner_part(const memory::TrainingPlan& plan, memory::MemoryOwner owner, const SplitGpu& gpu);

/// The plan after one axis more.
struct SplitStep {
  SplitAxis axis = SplitAxis::alone;
  memory::TrainingPlan plan;
  std::vector<memory::TrainingMemory> gpus;  ///< what each GPU that is shown holds, in their order
  double fullest_bytes = 0;                  ///< the most that a stage of this step's plan holds
};

/// What of a step's communication ZeRO decides: elements a GPU sends or receives over the model's on this GPU, at many
/// ranks. Source: Rajbhandari et al. 2019, section 7: 2, 2, 2 and 3; a gather for each micro-batch more; where shards
/// have copies (TrainingPlan::shard_group), an all-reduce of a shard with each reduction.
struct ZeroTraffic {
  double gathered = 0, reduced = 0;  ///< weights; gradients (an all-reduce moves each twice)
  double total() const { return gathered + reduced; }
};
/// `trained_share`: what is trained over the model's own parameters. Gradients are of that alone, and so are the
/// weights that are gathered after an update; ZeRO-3 gathers all.
ZeroTraffic zero_traffic(const memory::TrainingPlan& plan, double trained_share = 1);
/// The same in bytes for `parameters` on this GPU. ZeRO-3 gathers what products read, the stages before it the weights
/// as they are kept; gradients move as they are reduced.
double zero_traffic_bytes(const Architecture& architecture, const memory::TrainingPlan& plan, double parameters,
                          double trained_share = 1);

struct MemorySplit {
  std::int64_t gpus = 1;
  std::vector<SplitGpu> shown;
  std::vector<SplitStep> steps;  ///< from every GPU holding the whole model to the plan; the last is the plan
  /// One a stage of the plan; of many the first two, the last two and those that differ from the one before.
  std::vector<memory::TrainingMemory> stages;
  std::vector<std::int64_t> stage_of;  ///< the stage of each of these
  std::size_t fullest = 0;             ///< index of the stage that holds most
};

/// The plan's memory on the GPUs that are shown, and on the way there. Infeasible: what plan_problem says, of the plan
/// or of a step on the way, and more than 2^31 GPUs. The fullest stage is among the GPUs shown. `schedules` has what
/// was run for other plans.
Result<MemorySplit> memory_split(const Architecture& architecture, const memory::TrainingPlan& plan,
                                 const memory::TrainingMemoryOptions& options, KeptSchedules& schedules,
                                 std::size_t most_shown = 4);

}  // namespace models::parallel
