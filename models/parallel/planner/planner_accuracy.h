#pragma once
#include <span>
#include <string>
#include <vector>

#include "models/parallel/planner/planner_runs.h"

/// How near the planner comes to published runs, by set.
namespace models::parallel {

/// Errors of one set of runs, |predicted / published - 1|, as shares.
struct PlannerAccuracy {
  std::string name;
  std::size_t runs = 0;
  double median = 0, mean = 0, ninetieth = 0, worst = 0;
  std::string worst_run;
  std::size_t judging = 0;                           ///< runs that set no constant
  double judging_median = 0, judging_ninetieth = 0;  ///< Errors of the judging runs alone.
  /// The same runs by one constant MFU for each chip, format and dense or not, taken from all other runs of it; NaN
  /// where no run has another like it.
  double constant_median = 0, constant_ninetieth = 0;
  double median_bar = 0, mean_bar = 0, ninetieth_bar = 0, worst_bar = 0;  ///< what must hold; 0: nothing is asked
  bool holds() const;
};

/// Rank correlation of predicted and measured step times within one experiment of five runs or more.
struct PlannerOrder {
  std::string set;
  std::size_t runs = 0;
  double spearman = 0;
};

/// Whether memory was predicted: runs that ran must fit, those out of memory must not.
struct PlannerFits {
  std::size_t ran = 0, ran_fit = 0, out_of_memory = 0, out_of_memory_refused = 0;
  std::vector<std::string> misses;  ///< Misses among the runs of grade A.
};

struct PlannerReport {
  std::vector<PlannerAccuracy> accuracy;
  std::vector<PlannerOrder> orders;
  PlannerFits fits;
};
PlannerReport planner_report(const PlannerRuns& runs, std::span<const PricedRun> priced);

/// Spearman's correlation; values that differ by at most `tie` of each other, along the order of `b`, share a rank.
double spearman(std::span<const double> a, std::span<const double> b, double tie);

}  // namespace models::parallel
