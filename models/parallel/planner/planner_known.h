#pragma once
#include <cstdint>
#include <string_view>

#include "models/parallel/planner/planner_constants.h"

/// What stands behind the planner's figures: published runs by chip and by software, and how far they are off. The
/// figures are those of assets/measured/training-runs.json, and a test holds them to it; DeepSeek-V3's own step on H800
/// is counted beside them.
namespace models::parallel {

/// Published runs of one software on dense models, or on models with experts.
struct KnownRuns {
  std::int64_t runs = 0, judging = 0;                ///< with a step time; those of them that set no constant
  double judging_median = 0, judging_ninetieth = 0;  ///< |predicted / published - 1| of the judging runs
};
KnownRuns known_runs(StackId stack, bool experts);
/// Those that train adapters alone, of all softwares; they set no constant, and are not among the others.
KnownRuns known_adapters();

/// Published runs with a step time on a chip of the catalog, by its id.
std::int64_t known_runs_of_chip(std::string_view chip);

/// Runs of grade A that say whether they ran: how many, and of how many the planner says the same.
struct KnownFits {
  std::int64_t runs = 0, right = 0;
};
KnownFits known_fits();

/// Published rows that neither set nor judge anything, whose reasons docs/planner.md lists; those of one maker whose
/// chips have no constants.
struct KnownLeftOut {
  std::int64_t runs = 0, published = 0;
};
KnownLeftOut known_left_out();
std::int64_t left_out_of_vendor(std::string_view vendor);

/// Fewer judging runs than this do not tell an error.
inline constexpr std::int64_t least_judging = 5;

}  // namespace models::parallel
