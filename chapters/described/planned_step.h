#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "chapters/mechanism/field.h"
#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/memory/training_plan.h"
#include "models/parallel/planner/planner_constants.h"
#include "models/parallel/planner/planner_job.h"
#include "models/parallel/planner/planner_search.h"

/// The training step that labs price with the planner's model: its job, its plan, and what the planner makes of both.
namespace chapters {

/// A lab's inputs are these and its own.
struct PlannedStep {
  std::string model = "llama-3-70b", chip = "h100_sxm", network = "infiniband_ndr", format = "bf16";
  std::int64_t gpus = 1024, global_batch = 256, sequence = 8192;
  models::parallel::StackId software = models::parallel::StackId::megatron_core;
  std::int64_t tensor_parallel = 8, pipeline_parallel = 4, virtual_pipeline = 5, context_parallel = 1,
               expert_parallel = 1, zero_stage = 1, micro_batch = 1;
  models::Recompute recompute = models::Recompute::none;
  bool sequence_parallel = true;
  bool operator==(const PlannedStep&) const = default;
};

/// In what gradients are summed and moments kept: as the software does, or in this format.
enum class KeptWidth : std::uint8_t { software, bf16, fp32 };
const Choices& kept_width_choices();
/// Puts both into a software's habits.
void set_widths(KeptWidth gradients, KeptWidth moments, models::parallel::PlannerStack& stack);
/// What the allocator leaves in fragments: as the software's constants have it; nothing, with expandable segments; what
/// BLOOM's runs were measured at with fixed ones.
enum class Segments : std::uint8_t { software, expandable, fixed };
const Choices& segment_choices();
void set_segments(Segments segments, models::parallel::PlannerStack& stack);

/// How sequences are shared: the fastest way, or one of models::parallel::ContextMethod, in its order.
enum class ContextBy : std::uint8_t { best, ring, gather, all_to_all };
const Choices& context_by_choices();
/// The method; nothing for the fastest.
std::optional<models::parallel::ContextMethod> context_method_of(ContextBy by);

/// The input `format`.
void describe_step_format(Fields& fields, PlannedStep& step);
/// The inputs `tensor_parallel`, `pipeline_parallel`, `virtual_pipeline`, `context_parallel`, `expert_parallel` and
/// `zero_stage`.
void describe_plan_axes(Fields& fields, PlannedStep& step);
/// The inputs `micro_batch` and `recompute`; `headline` says whether the second is one.
void describe_plan_passes(Fields& fields, PlannedStep& step, bool headline);
/// The input `sequence_parallel`.
void describe_sequence_parallel(Fields& fields, PlannedStep& step);
/// The input `software`.
void describe_step_software(Fields& fields, PlannedStep& step);

/// The job on GPUs that stand as `site` says, their number aside: where it has no rate, with the named network's. Fails
/// with a sentence where model or chip is unknown or the planner cannot price the chip.
models::Result<models::parallel::PlannerJob> planner_job(const PlannedStep& step, models::parallel::PlannerSite site);
/// The plan on all GPUs that whole replicas take. Embedding and loss take a layer's place each where the layers do not
/// divide over the chunks.
models::parallel::PlanPoint plan_point(const PlannedStep& step);

}  // namespace chapters
