#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "models/memory/training_memory_parts.h"
#include "models/parallel/planner/planner_data.h"
#include "models/parallel/planner/planner_schedule.h"
#include "models/parallel/planner/planner_times.h"

/// Step time and memory of one plan.
namespace models::parallel {

/// Why a step takes as long as it does. The order is that of the stack.
enum class PlanCause : std::uint8_t {
  products,   ///< matrix products of forward and backward, the output matrix's among them
  attention,  ///< scores, softmax and values
  elements,   ///< norms, activation functions, casts, the loss
  recompute,  ///< what the backward pass runs again
  tensor,     ///< exposed communication of tensor parallelism; likewise the following three
  context,
  expert,
  pipeline,
  bubble,  ///< stages that wait for the first and the last micro-batch
  data,    ///< gradients and weights over data parallel, as far as nothing hides them
  optimizer,
  other,  ///< the host's loop, and waiting for the slowest node
  host    ///< activations on their way to the host's memory and back, as far as nothing hides them
};
inline constexpr std::size_t plan_cause_count = 13;
std::string_view step_cause_name(PlanCause cause);  ///< "products"

struct StepParts {
  std::array<double, plan_cause_count> seconds{};

  double& operator[](PlanCause cause) { return seconds[static_cast<std::size_t>(cause)]; }
  double operator[](PlanCause cause) const { return seconds[static_cast<std::size_t>(cause)]; }
  double total_s() const {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum;
  }
};

/// Stages of a pipeline that hold the same: of each group the first, which keeps most micro-batches.
struct PlannerStages {
  struct Group {
    memory::StageMemory memory;
    std::int64_t stage = 0;  ///< the first of the group, 0-based
    double alike = 1;        ///< stages in it
    bool first = false, last = false;
  };
  std::vector<Group> groups;
};
/// Depends on the plan's tensor, pipeline, virtual_pipeline, schedule, ends_take_slots and expert.
PlannerStages planner_stages(const Architecture& architecture, const memory::TrainingPlan& plan);

struct PricedPlan {
  memory::TrainingPlan plan;  ///< its `stage` is the one that needs most memory
  StepParts parts;            ///< The parts of the slowest stage's step.
  double step_s = 0, memory_bytes = 0;
  double bubble_share = 0;  ///< bubble over the step
  ContextMethod context_method = ContextMethod::ring;
  bool fits = false;
};

/// The plan with what the job says put in: sequence, format's widths, recipe, micro-batches of global_batch.
/// `micro_batches` becomes global_batch / (data x batch), rounded down.
memory::TrainingPlan planned(const PlannerJob& job, memory::TrainingPlan plan);

/// What Transformer Engine keeps of an element of an input in 8 or 4 bits, with the scales of MXFP8 (a byte for 32
/// elements) and NVFP4 (a byte for 16); 0, as the activations are, for other formats.
double kept_input_bytes(Format format);

/// What selective recomputation gives up beside fused attention where little time is to be lost: norms, activation
/// functions, MLA's up projections.
std::uint8_t small_modules(const Architecture& architecture);

/// One sentence when the job's adapters cannot stand beside its model's matrices; nothing otherwise.
std::string adapters_problem(const PlannerJob& job);
std::string adapters_problem(const Architecture& architecture, const PlannerAdapters& adapters);
/// Puts a job's adapters into a plan: of rank 0 none, and all weights are trained.
void set_adapters(const PlannerAdapters& adapters, memory::TrainingPlan& plan);

/// Whether the software runs so many micro-batches, or so few, on the plan's stages.
bool runs_micro_batches(const PlannerStack& stack, const memory::TrainingPlan& plan);
/// Whether the software splits states as the plan's ZeRO stage says; a search asks for it, and a plan that is set is
/// priced either way. PyTorch has no ZeRO-1, its stages no ZeRO-2 (with weights and gradients whole it is ZeRO-3), and
/// torchtitan no copies beside other axes.
bool software_shards(const PlannerStack& stack, const memory::TrainingPlan& plan);

/// One sentence when runs_micro_batches says no, or when compiled layers cannot run the order; nothing otherwise.
std::string software_problem(const PlannerStack& stack, const memory::TrainingPlan& plan);

/// One sentence when the plan cannot run: what plan_problem or software_problem says, GPUs that do not multiply up, a
/// batch that does not divide. Nothing otherwise; whether it fits is another question.
std::string planner_problem(const PlannerJob& job, const memory::TrainingPlan& plan);

/// What a plan's step takes whatever ZeRO splits, and over how many ranks.
struct StepWork {
  StepParts parts;                                   ///< without data parallelism and optimizer
  StageWork stage;                                   ///< Work of the slowest stage.
  const memory::StageMemory* slowest = nullptr;      ///< The slowest one of the stages that step_work was given.
  const memory::StageParameters* largest = nullptr;  ///< Those of the stage that has most.
  ContextMethod context_method = ContextMethod::ring;
  /// Passes of one micro-batch on the slowest stage and, in the mean, on one of the others; of DualPipe on a stage of
  /// one direction.
  PassSplit slowest_pass, other_pass;
  std::int64_t slowest_stage = 0;  ///< 0-based
};
StepWork step_work(const PlannerJob& job, const memory::TrainingPlan& plan, const MicroBatchTimes& times,
                   const PlannerStages& stages, PlannerSchedules& schedules);

/// Writes what each group of stages holds beside weights, gradients, master and moments, bytes: it depends on
/// zero_stage, and not on the ranks that ZeRO splits over.
void bytes_beside_states(const PlannerJob& job, const memory::TrainingPlan& plan, const memory::MicroBatchMemory& micro,
                         const PlannerStages& stages, PlannerSchedules& schedules, std::vector<double>& out);

/// The price from both.
PricedPlan price_plan(const PlannerJob& job, const memory::TrainingPlan& plan, const StepWork& work,
                      const memory::MicroBatchMemory& micro, const PlannerStages& stages,
                      std::span<const double> beside_states);

/// The price from its parts, which must be those of this plan. The slowest stage sets the pace: m of its micro-batches,
/// and the bubble: of 1F1B (sum of stages - slowest) / v, which for equal stages is closed_form's (P - 1)(F + B) of
/// chunks, of other schedules that of stages which take what the others take on average. Where a schedule runs a
/// forward beside a backward pass, experts' traffic hides behind the work of both.
PricedPlan price_plan(const PlannerJob& job, const memory::TrainingPlan& plan, const MicroBatchTimes& times,
                      const memory::MicroBatchMemory& micro, const PlannerStages& stages, PlannerSchedules& schedules);

/// The same from nothing. Infeasible: planner_problem.
Result<PricedPlan> price_plan(const PlannerJob& job, const memory::TrainingPlan& plan);

/// Model flops of a step over what the GPUs could do at the 16-bit (or the job's format's) peak: causal attention at
/// half, recomputation not counted (megatron_flops_per_token), nor gradients of frozen weights and adapters themselves.
double planner_mfu(const PlannerJob& job, double step_s);

}  // namespace models::parallel
