#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/parallel/pipeline/pipeline_plan.h"

namespace models::parallel {

/// How long operations take. All times are those of one stage, which is one chunk where a rank holds several.
struct PipelineTimes {
  double forward_s = 1, input_gradient_s = 1, weight_gradient_s = 1;
  /// Time of a forward and a backward that overlap; NaN: as long as one after the other.
  double pair_s = std::numeric_limits<double>::quiet_NaN();
  double link_s = 0;                ///< latency between two ranks; the rank that sends works on meanwhile
  std::vector<double> rank_factor;  ///< every time of a rank, times this; ranks beyond its end: 1
};
double duration_s(const PipelineTimes& times, std::size_t rank, PipeKind kind);

/// What one rank did. The wall bubble counts all idle time of the makespan, as when every rank waits for the slowest at
/// the end of a step; the span bubble only what lies between the rank's own first start and last end (Qi 2023).
struct PipelineRank {
  double busy_s = 0, first_s = 0, last_s = 0, wall_bubble_s = 0, span_bubble_s = 0;
};

/// Figures of a run as a whole.
struct PipelineTotals {
  double makespan_s = 0;
  double idle_over_makespan = 0;  ///< idle time of all ranks over ranks x makespan
  double idle_over_ideal = 0;     ///< (makespan - the busiest rank's work) over that work (Megatron-LM)
  double span_bubble_s = 0;       ///< the longest of the ranks'
};
struct PipelineRun : PipelineTotals {
  std::vector<std::vector<double>> start_s;  ///< by rank, then by operation of its order
  std::vector<PipelineRank> ranks;
};

/// Times of a plan: each rank does its list strictly in order and starts an operation when it is free and what the
/// operation needs has come: F needs F of the stage before, B and I need F of their stage and B or I of the stage
/// behind it, W needs I. Longest paths, found by following what becomes ready; O(operations) time. Fails with a
/// sentence that names the first rank that would wait for ever, or an operation that stands twice.
Result<PipelineRun> run_pipeline(const PipelinePlan& plan, const PipelineTimes& times);

/// What became of a plan that may not come to its end.
struct PipelineAttempt {
  PipelineRun run;    ///< what was done: start_s of a rank is shorter than its order where the rank is stuck
  std::string stuck;  ///< empty: everything was done; else one sentence on who waits for whom for ever
};
/// As run_pipeline, but a plan whose ranks wait for each other is run as far as it goes.
PipelineAttempt attempt_pipeline(const PipelinePlan& plan, const PipelineTimes& times);

/// A plan that is timed again and again: the order in which its operations become ready is found once. For times whose
/// links take none and whose ranks are alike; then its figures are those of run_pipeline, to the last bit.
class PipelineTimer {
 public:
  explicit PipelineTimer(const PipelinePlan& plan);
  bool comes_to_its_end() const { return ranks_ > 0; }
  std::size_t operations() const { return steps_.size(); }
  struct Ends {
    double makespan_s = 0, busiest_s = 0;  ///< the last end; the work of the rank that has most
  };
  Ends run(const PipelineTimes& times);

 private:
  /// An operation: what it needs, by place in the order, 0 for nothing.
  struct Step {
    std::array<std::uint32_t, 3> needs{};
    std::uint16_t rank = 0;
    PipeKind kind = PipeKind::forward;
  };
  std::vector<Step> steps_;
  std::vector<double> ends_, free_, busy_;  // of operations, behind a first one that ends at 0; of ranks
  std::size_t ranks_ = 0;
};

/// Each operation of each micro-batch stands exactly once: F, and B or else I and W.
Status check_complete(const PipelinePlan& plan);

/// An operation by its place.
struct PipelinePlace {
  std::size_t rank = 0, index = 0;
  bool operator==(const PipelinePlace&) const = default;
};
/// Operations of which each waited for the one before and the last ends with the makespan, by time: to be sooner, one
/// of them must be shorter.
std::vector<PipelinePlace> critical_path(const PipelinePlan& plan, const PipelineTimes& times, const PipelineRun& run);

}  // namespace models::parallel
