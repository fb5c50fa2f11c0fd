#include "models/learning/thread_board.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <numeric>

using Catch::Approx;

namespace {

/// Mean of right threads over every way to draw them: symptoms to n of n + 1 causes, those to evidence, that to fixes.
double luck_by_counting(int n) {
  std::vector<int> causes(static_cast<std::size_t>(n) + 1), evidence(static_cast<std::size_t>(n));
  std::iota(causes.begin(), causes.end(), 0);
  double right = 0, ways = 0;
  do {
    std::iota(evidence.begin(), evidence.end(), 0);
    do {
      for (int s = 0; s < n; ++s) {
        const int c = causes[static_cast<std::size_t>(s)];
        right += c == s;
        right += evidence[static_cast<std::size_t>(s)] == c;  // the evidence that was joined to that cause
      }
      ways += 1;
    } while (std::next_permutation(evidence.begin(), evidence.end()));
  } while (std::next_permutation(causes.begin(), causes.end()));
  return right / ways + 1;  // n evidences to n fixes: one fixed point on average (Montmort 1708)
}

}  // namespace

TEST_CASE("threads drawn by chance are right as often as counting all ways says") {
  for (const int n : {2, 3, 4}) CHECK(models::threads_by_luck(n) == Approx(luck_by_counting(n)));
  CHECK(models::threads_by_luck(6) == Approx(12.0 / 7 + 1));
}

TEST_CASE("assignments are counted: all of three, and the derangements of four") {
  CHECK(models::count_assignments({7, 7, 7}) == 6);
  CHECK(models::count_assignments({0b1110, 0b1101, 0b1011, 0b0111}) == 9);
  CHECK(models::count_assignments({1, 1}) == 0);
  CHECK(models::count_assignments({0b001, 0b010}) == 1);
}

TEST_CASE("a shuffle holds every place once, and another seed is another order") {
  auto a = models::shuffled(9, 1);
  CHECK(a != models::shuffled(9, 2));
  CHECK(a == models::shuffled(9, 1));
  std::sort(a.begin(), a.end());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == i);
}
