#include "models/debugging/check_tree.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "models/base/counter_random.h"

using Catch::Approx;
using namespace models::debugging;

namespace {

/// Mean minutes of the best plan by trying every check at every set, without keeping any.
double least_by_trying(const TreeCase& c, std::uint32_t left) {
  double total = 0;
  int causes = 0;
  for (std::size_t i = 0; i < c.weight.size(); ++i)
    if (left >> i & 1U) {
      total += c.weight[i];
      ++causes;
    }
  if (causes <= 1) return 0;
  double least = 1e300;
  for (std::size_t k = 0; k < c.checks.size(); ++k) {
    double mean = c.checks[k].minutes;
    bool parts = true;
    for (std::size_t i = 0; i < c.weight.size() && parts; ++i)
      if (left >> i & 1U) {
        const std::uint32_t then = after_check(c, left, k, i);
        parts = then != left;
        if (parts) mean += c.weight[i] / total * least_by_trying(c, then);
      }
    if (parts) least = std::min(least, mean);
  }
  return least;
}

TreeCase random_case(std::uint64_t seed, std::size_t causes, std::size_t checks) {
  TreeCase c;
  for (std::size_t i = 0; i < causes; ++i) c.weight.push_back(1 + 4 * models::unit_draw(seed, i));
  for (std::size_t k = 0; k < checks; ++k) {
    TreeCheck check{1 + 30 * models::unit_draw(seed, 100 + k), {}};
    for (std::size_t i = 0; i < causes; ++i)
      check.outcome.push_back(static_cast<int>(models::counter_hash(seed, 1000 + 10 * k + i) % 2));
    c.checks.push_back(std::move(check));
  }
  return c;
}

}  // namespace

TEST_CASE("the best plan of checks is the best of all plans that can be made") {
  int solvable = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const TreeCase c = random_case(seed, 4, 4);
    const CheckTree tree = best_tree(c);
    INFO("seed " << seed);
    const double least = least_by_trying(c, all_causes(c));
    CHECK(tree.solvable == (least < 1e299));
    if (!tree.solvable) continue;
    ++solvable;
    CHECK(tree.minutes.back() == Approx(least));
    CHECK(tree.minutes.back() <= cheapest_first_minutes(c) + 1e-9);
    double mean = 0, total = 0;  // the paths of the causes have the mean that the plan says
    for (std::size_t i = 0; i < c.weight.size(); ++i) {
      double minutes = 0;
      for (const int k : best_path(c, tree, i)) minutes += c.checks[static_cast<std::size_t>(k)].minutes;
      mean += c.weight[i] * minutes;
      total += c.weight[i];
    }
    CHECK(mean / total == Approx(tree.minutes.back()));
  }
  CHECK(solvable > 10);
}

TEST_CASE("eight equal causes take three questions of yes and no, as many as they have bits") {
  TreeCase c;
  c.weight.assign(8, 1);
  for (int bit = 0; bit < 3; ++bit) {
    TreeCheck check{1, {}};
    for (int i = 0; i < 8; ++i) check.outcome.push_back(i >> bit & 1);
    c.checks.push_back(check);
  }
  CHECK(best_tree(c).minutes.back() == 3);  // Shannon 1948: log2 of 8
}

TEST_CASE("a plan that the checks cannot end is said to be none") {
  CHECK_FALSE(best_tree({{1, 1, 1}, {{5, {0, 0, 1}}}}).solvable);
  CHECK_FALSE(best_tree({}).solvable);
  CHECK(best_path({{1, 1, 1}, {{5, {0, 0, 1}}}}, best_tree({{1, 1, 1}, {{5, {0, 0, 1}}}}), 0).empty());
}
