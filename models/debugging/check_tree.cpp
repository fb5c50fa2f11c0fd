#include "models/debugging/check_tree.h"

#include <limits>

namespace models::debugging {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double weight_of(const TreeCase& c, std::uint32_t set) {
  double sum = 0;
  for (std::size_t i = 0; i < c.weight.size(); ++i)
    if (set >> i & 1U) sum += c.weight[i];
  return sum;
}

bool is_one(std::uint32_t set) { return set != 0 && (set & (set - 1)) == 0; }

/// Mean minutes after `check` where `then` has those of every smaller set; infinite where the check parts nothing.
double mean_with(const TreeCase& c, std::uint32_t set, std::size_t check, const std::vector<double>& then) {
  double sum = 0;
  for (std::size_t i = 0; i < c.weight.size(); ++i) {
    if (!(set >> i & 1U)) continue;
    const std::uint32_t left = after_check(c, set, check, i);
    if (left == set) return never;
    sum += c.weight[i] * then[left];
  }
  return c.checks[check].minutes + sum / weight_of(c, set);
}

}  // namespace

std::uint32_t all_causes(const TreeCase& c) { return (std::uint32_t{1} << c.weight.size()) - 1; }

std::uint32_t after_check(const TreeCase& c, std::uint32_t left, std::size_t check, std::size_t cause) {
  const std::vector<int>& outcome = c.checks[check].outcome;
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < c.weight.size(); ++i)
    if ((left >> i & 1U) && outcome[i] == outcome[cause]) out |= std::uint32_t{1} << i;
  return out;
}

CheckTree best_tree(const TreeCase& c) {
  CheckTree tree;
  if (c.weight.empty() || c.weight.size() > max_tree_causes) return tree;
  const std::uint32_t all = all_causes(c);
  tree.minutes.assign(all + 1U, never);
  tree.first.assign(all + 1U, -1);
  tree.minutes[0] = 0;
  for (std::uint32_t set = 1; set <= all; ++set) {  // every part of a set is a smaller number
    if (is_one(set)) {
      tree.minutes[set] = 0;
      continue;
    }
    for (std::size_t k = 0; k < c.checks.size(); ++k) {
      const double mean = mean_with(c, set, k, tree.minutes);
      if (mean < tree.minutes[set]) {
        tree.minutes[set] = mean;
        tree.first[set] = static_cast<int>(k);
      }
    }
  }
  tree.solvable = tree.minutes[all] < never;
  return tree;
}

std::vector<int> best_path(const TreeCase& c, const CheckTree& tree, std::size_t cause) {
  std::vector<int> path;
  if (!tree.solvable) return path;
  for (std::uint32_t set = all_causes(c); tree.first[set] >= 0;) {
    path.push_back(tree.first[set]);
    set = after_check(c, set, static_cast<std::size_t>(tree.first[set]), cause);
  }
  return path;
}

double cheapest_first_minutes(const TreeCase& c) {
  if (c.weight.empty() || c.weight.size() > max_tree_causes) return never;
  const std::uint32_t all = all_causes(c);
  std::vector<double> minutes(all + 1U, never);
  minutes[0] = 0;
  for (std::uint32_t set = 1; set <= all; ++set) {
    if (is_one(set)) {
      minutes[set] = 0;
      continue;
    }
    double cheapest = never;
    for (std::size_t k = 0; k < c.checks.size(); ++k) {
      const double mean = mean_with(c, set, k, minutes);
      if (!(mean < never) || !(c.checks[k].minutes < cheapest)) continue;
      cheapest = c.checks[k].minutes;
      minutes[set] = mean;
    }
  }
  return minutes[all];
}

}  // namespace models::debugging
