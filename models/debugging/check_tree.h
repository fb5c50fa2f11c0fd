#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

/// Which checks find a cause in the least time, when each parts the causes that are left.
namespace models::debugging {

inline constexpr std::size_t max_tree_causes = 8, max_tree_checks = 12;

/// One check: `outcome[c]` is what it shows when cause c is at work, counted from 0.
struct TreeCheck {
  double minutes = 1;
  std::vector<int> outcome;
};
struct TreeCase {
  std::vector<double> weight;  ///< how often each cause is the one, relative to the others
  std::vector<TreeCheck> checks;
};

/// The best plan for every set of causes that may be left, as a bit mask.
struct CheckTree {
  bool solvable = false;        ///< the checks part every two causes
  std::vector<double> minutes;  ///< by mask: mean until one cause is left; infinite where the checks cannot part it
  std::vector<int> first;       ///< by mask: the check to run; -1 where one cause is left, or none helps
};

/// By dynamic programming over sets of causes: the mean minutes of a set are the least, over checks that part it, of
/// the check's minutes and the mean of what each outcome leaves. An empty tree where there are more than
/// max_tree_causes.
CheckTree best_tree(const TreeCase& c);
/// The set that is left of `left` when `check` was run and `cause` is at work.
std::uint32_t after_check(const TreeCase& c, std::uint32_t left, std::size_t check, std::size_t cause);
/// The checks that the best plan runs when `cause` is at work.
std::vector<int> best_path(const TreeCase& c, const CheckTree& tree, std::size_t cause);
/// Mean minutes where the cheapest check that parts what is left is always the next.
double cheapest_first_minutes(const TreeCase& c);
/// All causes of the case, as a mask.
std::uint32_t all_causes(const TreeCase& c);

}  // namespace models::debugging
