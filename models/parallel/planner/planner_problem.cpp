#include "models/parallel/planner/planner_price.h"
#include "models/parallel/planner/planner_traffic.h"

/// Why a plan cannot run.
namespace models::parallel {

using memory::TrainingPlan;

bool software_shards(const PlannerStack& stack, const TrainingPlan& p) {
  if (p.zero_stage == 0) return !stack.copies_alone || p.tensor * p.pipeline * p.context == 1;
  if (p.data * p.context < 2) return true;
  if (p.zero_stage == 1) return stack.zero_1;
  return !(p.zero_stage == 2 && p.pipeline > 1 && stack.whole_in_pipeline);
}

bool runs_micro_batches(const PlannerStack& stack, const TrainingPlan& p) {
  if (p.pipeline == 1) return stack.accumulates || p.micro_batches == 1;
  const bool plain = p.virtual_pipeline == 1 && p.schedule == PipelineSchedule::one_f_one_b;
  return !stack.fills_stages || p.micro_batches >= p.pipeline || !(plain || p.schedule == PipelineSchedule::gpipe);
}

std::string software_problem(const PlannerStack& stack, const TrainingPlan& p) {
  const bool common = p.schedule == PipelineSchedule::one_f_one_b || p.schedule == PipelineSchedule::gpipe;
  if (stack.fills_stages && p.pipeline > 1 && !common && (stack.schedules & schedule_bit(p.schedule)) == 0)
    return "This software does not run this order of passes: compiled layers take no backward pass apart; choose 1F1B, "
           "GPipe, breadth-first or interleaved stages.";
  const bool runs = runs_micro_batches(stack, p);
  if (!runs && p.pipeline == 1) {
    const std::string local = std::to_string(p.batch * p.micro_batches);
    return "Without a pipeline this software runs one micro-batch a step, all " + local +
           " sequences of a replica: set it to " + local + ", or take stages.";
  }
  if (!runs)
    return "This software runs 1F1B and GPipe with at least one micro-batch a stage, and " +
           std::to_string(p.micro_batches) + (p.micro_batches == 1 ? " does" : " do") + " not fill " +
           std::to_string(p.pipeline) + " stages; take smaller micro-batches or fewer stages.";
  return {};
}

std::string planner_problem(const PlannerJob& job, const TrainingPlan& p) {
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  if (std::string problem = memory::plan_problem(job.architecture, p); !problem.empty()) return problem;
  const std::int64_t needed = p.tensor * p.pipeline * p.context * p.data;
  if (needed != job.cluster.gpus)
    return "Tensor " + text(p.tensor) + " x pipeline " + text(p.pipeline) + " x context " + text(p.context) +
           " x data " + text(p.data) + " are " + text(needed) + " GPUs, and the cluster has " + text(job.cluster.gpus) +
           "; choose axes that multiply to that.";
  if (const std::int64_t each = p.data * p.batch; each * p.micro_batches != job.global_batch) {
    const std::int64_t below = job.global_batch / each * each;
    return "A global batch of " + text(job.global_batch) + " sequences is not a whole number of micro-batches of " +
           text(p.batch) + " on " + text(p.data) + " data-parallel ranks; " +
           (below > 0 ? text(below) + " or " : std::string()) + text(below + each) + " would be.";
  }
  if (std::string problem = software_problem(job.stack, p); !problem.empty()) return problem;
  if (std::string problem = context_problem(job, p); !problem.empty()) return problem;
  if ((p.offload != memory::Offload::none || p.host_activations) && !(job.cluster.host_link_bytes_per_s > 0))
    return "This chip's link to its host is not known; keep optimizer and activations on the GPU.";
  if (std::string problem = adapters_problem(job); !problem.empty()) return problem;
  return schedule_problem(p);
}

}  // namespace models::parallel
