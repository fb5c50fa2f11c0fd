#pragma once
#include <functional>
#include <string>
#include <vector>

#include "models/parallel/planner/planner_price.h"
#include "models/parallel/planner/planner_schedule.h"

/// Every plan of a job: enumerated, pruned, priced and ranked.
namespace models::parallel {

/// What the search may choose from. Tensor parallel takes every number that divides the heads and the GPUs of a node,
/// pipeline every number of stages that leaves none empty, each with every schedule that the software runs, context,
/// expert and micro-batch powers of two; where the software sums no gradients of several micro-batches, a pipeline of
/// one stage has all sequences of a replica in one, however many. ZeRO splits over all data-parallel ranks, and where
/// the software can also over those of a node, with ZeRO-3 also over four times as many until there are no more. Chunks
/// that cannot be equal are tried with embedding and output as a layer each too. Plans whose states alone take 2.5
/// times the memory are left out, ZeRO-1 where the software has none, and so are an optimizer or activations on the
/// host and experts that fewer GPUs share than the layers. Selective recomputation takes what the software offers: of
/// unfused attention the scores; else norms, activation functions and MLA's up projections, those with the feed-forward
/// or experts, or every second product.
struct PlannerSpace {
  std::int64_t max_tensor = 72, max_pipeline = 128, max_virtual = 16, max_context = 16, max_expert = 256,
               max_micro_batch = 16;
  bool zero[4] = {true, true, true, true};  ///< stages of ZeRO that may be used
  bool recompute[3] = {true, true, true};   ///< none, selective, full
  bool operator==(const PlannerSpace&) const = default;
};

/// One priced plan, small: a search holds many.
struct PlanPoint {
  std::int32_t tensor = 1, pipeline = 1, virtual_pipeline = 1, context = 1, expert = 1, data = 1, micro_batch = 1;
  std::int32_t expert_tensor = 0;  ///< GPUs that share an expert; 0: as TrainingPlan has it
  std::int32_t shard_group = 0;    ///< ranks that ZeRO splits over; 0: all of them
  std::uint8_t zero_stage = 0, recompute = 0;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::uint8_t modules =
      memory::bit(memory::RecomputeModule::core_attention);  ///< What selective recomputation gives up.
  bool fits = false, sequence_parallel = false, ends_take_slots = false;
  bool second_products = false;   ///< selective recomputation runs every second product again, as the software does
  bool offload = false;           ///< master weights and moments lie in the host's memory, which updates them
  bool host_activations = false;  ///< what the layers keep waits in the host's memory
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
/// "ZeRO-1 over 64", "no ZeRO"; "recomputing norms, activations", "nothing recomputed".
std::string zero_words(const PlanPoint& point);
std::string recompute_words(const PlanPoint& point);
std::string expert_tensor_words(const PlanPoint& point);  ///< "experts over 1", "experts as the layers"
/// "8 micro-batches of 1, 5 chunks, ZeRO-1, nothing recomputed"
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
/// `schedules` are those that earlier searches ran, which depend on no job; null: they are run anew.
PlannerSearch search_plans(const PlannerJob& job, const PlannerSpace& space,
                           const std::function<bool(double)>& go_on = {}, PlannerSchedules* schedules = nullptr);

/// What the second plan lost against the first: seconds by cause, the largest difference first; causes under a
/// thousandth of the step are left out.
struct LostTime {
  PlanCause cause = PlanCause::products;
  double seconds = 0;  ///< more than the better plan needs; negative where it needs less
};
std::vector<LostTime> lost_time(const StepParts& better, const StepParts& worse);

}  // namespace models::parallel
