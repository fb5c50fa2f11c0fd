#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

/// Loads at which a fleet is run, and the search for the highest one that keeps a promise.
namespace models {

/// Rates are whole multiples of a step, so that a search under other limits meets the same loads again and need not run
/// them anew.
struct LoadLadder {
  double step_per_s = 1;            ///< 1, 2 or 5 times a power of ten, a 200th to a 500th of the capacity
  std::vector<std::int64_t> rungs;  ///< ascending, in steps: from a 16th to 1.3 of the capacity, closer around it
  std::size_t start = 0;            ///< the first rung above the capacity, where the search begins
  double rate(std::int64_t steps) const { return static_cast<double>(steps) * step_per_s; }
};
LoadLadder load_ladder(double capacity_per_s);

/// The highest load in steps that `keeps` its promise: from the rung `start` up while rungs keep it, or down to the
/// first that does, then bisection between it and the next, to one step. Where the highest rung keeps it, loads beyond
/// are tried, each a quarter higher, `beyond` of them at most; where no rung does, loads below the lowest. None: no
/// load does. `keeps` says nothing (a run that was stopped): the search ends with none and `stopped`.
struct LoadSearch {
  std::optional<std::int64_t> highest;
  bool open = false;  ///< the highest load that was tried still keeps it
  bool stopped = false;
  std::int64_t asked = 0;
};
LoadSearch highest_load(const LoadLadder& ladder, const std::function<std::optional<bool>(std::int64_t)>& keeps,
                        int beyond = 6);

/// Requests a second that leave while all are there from the start: from the time by which a fifth has left to that by
/// which four fifths have; fewer than ten over all their time. `leave_s`, from 0 on, need not be sorted.
double saturated_rate(std::vector<double> leave_s);

}  // namespace models
