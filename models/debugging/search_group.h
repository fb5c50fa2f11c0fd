#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/debugging/search_order.h"

/// What follows when a check has pointed at several causes: which of them it is, in the least mean minutes.
namespace models::debugging {

/// What is known of a case: the checks that missed, and those that pointed.
struct Known {
  std::uint32_t missed = 0, pointed = 0;  ///< sets: bit k is check k
  bool ran(std::size_t k) const { return ((missed | pointed) >> k & 1) != 0; }
};

/// Probability of each cause together with what is known of the case; not divided by its sum.
std::vector<double> left_with(const SearchCase& c, Known known);
/// How many causes may still be it.
std::size_t possible(std::span<const double> left);

/// Plans of a case's groups, each made when it is asked for. Within a group checks are run in the order that finds the
/// cause in the least mean minutes, by dynamic programming over what is known; one cause alone is found; where no check
/// can tell those that are left apart, it is escalated. The case must outlive it.
class GroupPlans {
 public:
  explicit GroupPlans(const SearchCase& c) : case_(c) {}

  struct Plan {
    double minutes = 0;  ///< mean minutes still to come, times the probability of what is known
    int next = -1;       ///< the check to run; -1: none
  };
  const Plan& plan(Known known);
  /// The probability that the plan of this group runs a check.
  double runs(Known known, std::size_t check);
  /// Minutes until each cause is found, from `clock` on, are added to `minutes`, each times `reached`, the probability
  /// that this group is reached when the cause is there; to `missed` the probabilities that it is escalated.
  void follow(Known known, double clock, const std::vector<double>& reached, std::vector<double>& minutes,
              std::vector<double>& missed);

 private:
  bool helps(std::size_t check, std::span<const double> left) const;

  const SearchCase& case_;
  std::unordered_map<std::uint64_t, Plan> plans_;
};

}  // namespace models::debugging
