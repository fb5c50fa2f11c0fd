#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/parallel/planner/planner_price.h"

/// Published training runs with their plans, and how near the planner comes to them.
namespace models::parallel {

/// One published run. Where the source leaves recomputation unsaid, all three are tried.
struct PlannerRun {
  std::string id, group, stack, chip, set, grade;
  std::size_t shape = 0;  ///< index in PlannerRuns::shapes
  Format format = Format::bf16;
  memory::TrainingPlan plan;
  bool any_recompute = false, accumulates = false;
  bool adapters = false;      ///< low-rank adapters are trained alone; such runs set no constant
  bool drops_tokens = false;  ///< experts get a fixed number of tokens, and what is over is dropped
  std::int64_t gpus = 1, global_batch = 1, shard_group = 0;
  double network_bytes_per_s = 0;
  double step_s = 0, memory_bytes = 0;  ///< 0: not published
  int sequence_parallel = -1;           ///< -1: as the software does
  int fits = -1;                        ///< 1 it ran, 0 out of memory, -1 unsaid
  /// It set no constant: every second run by id, those of adapters, and those that the file names under `judging`,
  /// which came later and are not counted among the others.
  bool judges = false;
};
/// Published runs that are not in the list, and why.
struct LeftOutRuns {
  std::int64_t runs = 0;
  std::string reason;
};
struct PlannerRuns {
  std::vector<Architecture> shapes;
  std::vector<PlannerRun> runs;
  std::vector<LeftOutRuns> left_out;
};
/// Reads assets/measured/training-runs.json. Fails with one sentence that names `origin`.
Result<PlannerRuns> parse_planner_runs(std::string_view json_text, std::string_view origin);

/// The job of a run on the chips of the catalog. Infeasible: a chip that is not there.
Result<PlannerJob> planner_job_of(const PlannerRuns& runs, const PlannerRun& run, std::span<const Chip> chips);

/// The run's plan as its software would run it.
memory::TrainingPlan plan_of(const PlannerJob& job, const PlannerRun& run);

struct PricedRun {
  std::size_t run = 0;
  PricedPlan price;    ///< The price with the recomputation that comes nearest, where the source does not say.
  double error = 0;    ///< predicted / published step time - 1; 0 without a published one
  std::string reason;  ///< not empty: why it could not be priced
};
std::vector<PricedRun> price_runs(const PlannerRuns& runs, std::span<const Chip> chips);

}  // namespace models::parallel
