#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/base/result.h"
#include "models/parallel/planner/planner_price.h"

/// Where the speed goes between the chip's peak and a month of a whole fleet: the planner's step taken apart in the
/// order in which a job grows, so that each cause has a riser of its own and all of them add up to the step.
namespace models::fleet {

/// In the order of the stairs. Each is what comes on top of those before it.
enum class TaxCause : std::uint8_t {
  kernel,       ///< the best matrix product against the peak
  layers,       ///< products of the model's own shapes, attention and element-wise work, on one GPU
  recompute,    ///< what the backward pass runs again
  tensor,       ///< layers cut over GPUs: smaller products, and sums that nothing hides
  near_copies,  ///< data parallelism inside one node, where a node holds several copies of the model
  context,      ///< sequences cut over GPUs
  expert,       ///< exchanges of experts that nothing hides
  pipeline,     ///< bubble, transfers, and the stage that has more work than the mean
  copies,       ///< gradients and weights over all copies that nothing hides, the optimizer, the host's loop
  left_over,    ///< GPUs that stand idle because the copies of the model need no more
  lockstep,     ///< each step waits for the slowest of all healthy GPUs
  unexplained,  ///< from the model's step to a published one; negative where the published run is faster
  slow_node,    ///< one node that is slower than its spread
  failures      ///< time that does not count: saves, work done twice, restarts
};
inline constexpr std::size_t tax_cause_count = 14;
using TaxValues = std::array<double, tax_cause_count>;
inline std::size_t place_of(TaxCause cause) { return static_cast<std::size_t>(cause); }

struct TaxSetup {
  double slower = 0;         ///< how much longer one node computes than the others, as a share
  double published_mfu = 0;  ///< the share that a run like this one published; 0: none
  double used = 1;           ///< share of the GPUs that the plan uses
  double goodput = 1;        ///< share of the time that is training which is kept
  TaxValues lifted{};        ///< shares of the causes' losses that are taken away, 0 to 1
};

/// Times are of one step, seconds, and its share of a month's failures. MFU are shares of the peak.
struct TaxStairs {
  double ideal_s = 0;         ///< all model flops at the peak of all GPUs
  TaxValues found_s{};        ///< what each cause costs before anything is lifted
  TaxValues lost_s{};         ///< what each cause costs
  TaxValues before{}, mfu{};  ///< MFU above and below each riser
  TaxValues untouched{};      ///< `mfu` with nothing lifted
  double of(TaxCause cause) const { return mfu[place_of(cause)]; }
  double points(TaxCause cause) const { return 100 * (before[place_of(cause)] - mfu[place_of(cause)]); }
};

/// A plan that can run: the one that is asked for, or the nearest.
struct RunnablePlan {
  parallel::PlannerJob job;  ///< with the GPUs and the batch that the plan uses
  memory::TrainingPlan plan{};
  std::string problem{};  ///< not empty: this is another plan than the one asked for, and the sentence says why
};
/// Where a plan cannot run: fewer GPUs share a layer until the heads divide, stages and chunks shrink to the layers and
/// the GPUs, GPUs that hold no whole copy stand idle, and the batch becomes whole micro-batches. Infeasible where even
/// a plan without any of it cannot run.
Result<RunnablePlan> runnable_plan(const parallel::PlannerJob& job, const memory::TrainingPlan& plan);

/// What the model says of a plan's step, cause by cause up to `lockstep`; the rest is 0. Their sum and the ideal time
/// are the planner's step. Infeasible: planner_problem.
struct TaxParts {
  double ideal_s = 0, work_s = 0;  ///< work of the slowest stage, which a slow node stretches
  TaxValues found_s{};
  parallel::PricedPlan price;
  double kernel_share = 0;     ///< The best product over the peak.
  std::int64_t near_gpus = 1;  ///< GPUs of the node's tread
};
Result<TaxParts> tax_parts(const parallel::PlannerJob& job, const memory::TrainingPlan& plan);

/// E[max] - 1 of `ranks` times of mean 1 and standard deviation `spread`, normal, of which `slow` have the mean 1 +
/// `slower`, by quadrature. Without slow ones it is expected_slowest.
double expected_slowest_with(double spread, std::int64_t ranks, std::int64_t slow, double slower);

/// The stairs of a job whose GPUs have the spread of job.stack.
TaxStairs tax_stairs(const parallel::PlannerJob& job, const TaxParts& parts, const TaxSetup& setup);

/// The same plan and work a GPU on fewer or more GPUs: as many copies as `gpus` hold, and a batch for them. Infeasible:
/// no whole number of copies.
struct GrownJob {
  parallel::PlannerJob job;
  memory::TrainingPlan plan;
};
Result<GrownJob> grown_to(const parallel::PlannerJob& job, const memory::TrainingPlan& plan, std::int64_t gpus);

}  // namespace models::fleet
