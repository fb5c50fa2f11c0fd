#pragma once
#include <functional>
#include <string>
#include <vector>

#include "models/parallel/planner/planner_price.h"

/// Every plan of a job: enumerated, pruned, priced and ranked.
namespace models::parallel {

/// What the search may choose from. Every axis runs over the divisors that can be: tensor over powers of two up to the
/// node, pipeline over every number of stages that leaves none empty, virtual over divisors of a stage's layers,
/// context and expert over powers of two, micro-batch over powers of two.
struct PlannerSpace {
  std::int64_t max_tensor = 8, max_pipeline = 128, max_virtual = 16, max_context = 16, max_expert = 256,
               max_micro_batch = 16;
  bool zero[4] = {true, true, true, true};  ///< stages of ZeRO that may be used
  bool recompute[3] = {true, true, true};   ///< none, selective, full
  bool operator==(const PlannerSpace&) const = default;
};

/// One priced plan, small: a search holds many.
struct PlanPoint {
  std::int32_t tensor = 1, pipeline = 1, virtual_pipeline = 1, context = 1, expert = 1, data = 1, micro_batch = 1;
  std::uint8_t zero_stage = 0, recompute = 0;
  bool fits = false, sequence_parallel = false, ends_take_slots = false;
  double step_s = 0, memory_bytes = 0;
  bool operator==(const PlanPoint&) const = default;
};
/// The whole plan of a point, as price_plan takes it.
memory::TrainingPlan plan_of(const PlannerJob& job, const PlanPoint& point);
/// "TP 4 x PP 4 x DP 64"; axes of 1 are left out but data.
std::string plan_name(const PlanPoint& point);
/// Where a plan differs from another in what plan_name leaves out: "ZeRO-3, layers recomputed"; empty where it does
/// not.
std::string plan_difference(const PlanPoint& point, const PlanPoint& other);
/// "8 micro-batches of 1, 5 chunks, ZeRO-1, no recompute"
std::string plan_detail(const PlannerJob& job, const PlanPoint& point);

struct PlannerSearch {
  std::vector<PlanPoint> points;      ///< those that fit first, by time; then those that do not, by time
  std::size_t fitting = 0;            ///< How many of `points` fit.
  std::vector<std::size_t> frontier;  ///< points that fit and that no other beats in both time and memory, by memory
  std::vector<std::size_t> beyond;    ///< the same among those that do not fit and are faster than the best that does
  std::int64_t considered = 0;        ///< combinations of axes looked at, those that cannot run among them
  std::string reason;                 ///< not empty: no plan can run, and this sentence says why
  bool stopped = false;               ///< `go_on` said no
};

/// Prices every plan of the space. `go_on` is asked with the part done, 0 to 1, now and then; false stops the search.
PlannerSearch search_plans(const PlannerJob& job, const PlannerSpace& space,
                           const std::function<bool(double)>& go_on = {});

/// What the second plan lost against the first: seconds by cause, the largest difference first; causes under a
/// thousandth of the step are left out.
struct LostTime {
  PlanCause cause = PlanCause::products;
  double seconds = 0;  ///< more than the better plan needs; negative where it needs less
};
std::vector<LostTime> lost_time(const StepParts& better, const StepParts& worse);

}  // namespace models::parallel
