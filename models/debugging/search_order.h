#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// In which order to look for the cause of a fault, when each check costs minutes and convicts some causes.
///
/// One cause is there. A check convicts it with the probability `sees`; a second run of the same check would see the
/// same, so that each is run once at most. A check may point instead: what it finds is one of all those that it sees,
/// and that group is then searched in its own best order (search_group.h). A check that finds nothing may raise a false
/// alarm, which is chased for some minutes. A check that could find none of the causes left is skipped. When all have
/// missed, an escalation finds the cause in minutes of its own.
///
/// Outside groups the only result after which one goes on is "nothing found", so that a plan that adapts to results is
/// an order too. What is left after some checks depends on which they were and not on their order; hence the best order
/// is found exactly by dynamic programming over sets of checks. Without overlap it is the ratio rule (Smith 1956, Naval
/// Research Logistics Quarterly 3:59); with overlap this is min-sum set cover, where the greedy rule may be four times
/// the best and no more (Feige, Lovasz, Tetali 2004, Algorithmica 40:219; with prices Munagala et al. 2005, ICDT).
namespace models::debugging {

/// From the ground up: the debugging pyramid.
enum class Layer : std::uint8_t { hardware, system, data, code };
inline constexpr std::size_t layer_count = 4;

struct Cause {
  std::string_view name;
  Layer layer{};
  double likelihood = 0;  ///< before any check; those of a case sum to 1
};

struct Check {
  std::string_view id, name;
  Layer layer{};
  double minutes = 1;
  std::vector<double> sees;  ///< for each cause: the probability that the check finds it when it is there
  bool points = false;       ///< what it finds is one of those that it sees; else it convicts that one
};

struct SearchCase {
  std::vector<Cause> causes;
  std::vector<Check> checks;
  double escalation_minutes = 120;
  double false_alarm = 0;     ///< probability that a check which convicts nothing accuses something all the same
  double chase_minutes = 20;  ///< what a false alarm costs
  /// Expected minutes after a check that found nothing.
  double chased() const { return false_alarm * chase_minutes; }
};

/// Indices of a case's checks.
using CheckOrder = std::vector<std::uint8_t>;
inline constexpr std::size_t max_checks = 16;
inline constexpr std::size_t max_exact_checks = 9;

struct SearchStep {
  std::uint8_t check = 0;
  bool skipped = false;              ///< it could convict nothing that is left
  double start = 0, end = 0;         ///< minutes on the clock, false alarms before it counted on average
  double reached = 0, convicts = 0;  ///< probabilities that it is run, and that it finds something
};

struct SearchWalk {
  std::vector<SearchStep> steps;
  std::vector<double> cause_minutes;  ///< for each cause: mean minutes until it is found, if it is the one
  std::vector<double> missed;         ///< for each cause: the probability that all checks miss it
  double mean_minutes = 0;
  double end_minutes = 0;  ///< when the last check is done
  double escalated = 0;    ///< probability that all checks miss
};

/// The order run through. It names checks of the case, each at most once; at most max_checks.
SearchWalk walk_order(const SearchCase& c, std::span<const std::uint8_t> order);
double mean_minutes(const SearchCase& c, std::span<const std::uint8_t> order);

/// Probability of each cause when all checks of a set (bit k: check k) have missed and those of another have pointed.
/// Where nothing is left, all are 0.
std::vector<double> left_after(const SearchCase& c, std::uint32_t missed, std::uint32_t pointed = 0);

CheckOrder cheapest_first(const SearchCase& c);
/// Each next check is one that convicts the likeliest cause still left; among those the cheapest.
CheckOrder likeliest_first(const SearchCase& c);
/// Each next check is the one that convicts most of what is left per minute.
CheckOrder rate_first(const SearchCase& c);
/// From hardware up to code, in each layer the cheapest first.
CheckOrder pyramid_order(const SearchCase& c);

struct BestOrder {
  CheckOrder order;
  double minutes = 0;
  bool exact = true;  ///< else greedy, then moves of single checks as long as one helps: not proven the best
};
BestOrder best_order(const SearchCase& c, std::size_t max_exact = max_exact_checks);

/// Up to how many minutes a check may take and still stand first in a best order. NaN with more than max_exact_checks,
/// and 0 where another is first however cheap it is.
double pays_up_to(const SearchCase& c, std::uint8_t check);

/// Mean minutes over `draws` searches played with random numbers.
double simulate_order(const SearchCase& c, std::span<const std::uint8_t> order, std::int64_t draws, std::int64_t seed);

}  // namespace models::debugging
