#include "models/debugging/search_order.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <numeric>

#include "models/base/counter_random.h"
#include "models/debugging/search_cases.h"

using Catch::Approx;
using namespace models::debugging;

namespace {

const SearchCase& fixed(std::string_view id) {
  for (const FixedCase& c : fixed_cases())
    if (c.id == id) return c.search;
  FAIL("no case " << id);
  return fixed_cases().front().search;
}

std::vector<std::string_view> ids(const SearchCase& c, const CheckOrder& order) {
  std::vector<std::string_view> out;
  for (const auto k : order) out.push_back(c.checks[k].id);
  return out;
}

/// Every order tried.
double least_by_trying(const SearchCase& c) {
  CheckOrder order(c.checks.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  double least = 1e300;
  do least = std::min(least, mean_minutes(c, order));
  while (std::next_permutation(order.begin(), order.end()));
  return least;
}

/// A case made up: `overlap` lets a check see any cause, else each sees those that no other does.
SearchCase random_case(std::int64_t seed, std::size_t checks, bool overlap, bool misses) {
  const auto stream = models::random_stream(seed, 5);
  std::uint64_t draw = 0;
  const auto next = [&] { return models::unit_draw(stream, draw++); };
  SearchCase c{.causes = {}, .checks = {}, .escalation_minutes = 50 + 200 * next()};
  const std::size_t causes = checks + 2;
  double all = 0;
  for (std::size_t i = 0; i < causes; ++i) {
    c.causes.push_back({.name = "cause", .layer = debugging::Layer::code, .likelihood = 0.05 + next()});
    all += c.causes.back().likelihood;
  }
  for (Cause& cause : c.causes) cause.likelihood /= all;
  for (std::size_t k = 0; k < checks; ++k) {
    Check check{
        .id = "check", .name = "check", .layer = debugging::Layer::code, .minutes = 1 + std::floor(20 * next())};
    for (std::size_t i = 0; i < causes; ++i) {
      const bool mine = overlap ? next() < 0.4 : i % checks == k;
      check.sees.push_back(mine ? (misses ? 0.3 + 0.7 * next() : 1.0) : 0.0);
    }
    c.checks.push_back(std::move(check));
  }
  return c;
}

}  // namespace

// By hand: five checks convict 50 % by minute 34, and the profile the rest at 49; first, it convicts 70 % at 15.
TEST_CASE("the merge case: the profile first takes 18.06 minutes, cheapest first 27.08, the pyramid 33.42") {
  const SearchCase& c = fixed("merge");
  CHECK(mean_minutes(c, cheapest_first(c)) ==
        Approx(0.06 * (2 + 4 + 7 + 22 + 34) + 0.16 * 11 + 0.16 * 16 + 0.38 * 49).epsilon(1e-12));
  CHECK(mean_minutes(c, cheapest_first(c)) == Approx(27.08).epsilon(1e-12));
  const BestOrder best = best_order(c);
  CHECK(best.exact);
  CHECK(best.minutes == Approx(0.7 * 15 + 0.06 * (17 + 19 + 22 + 28 + 40)).epsilon(1e-12));
  CHECK(best.minutes == Approx(18.06).epsilon(1e-12));
  CHECK(ids(c, best.order).front() == "profile");
  CHECK(least_by_trying(c) == Approx(best.minutes).epsilon(1e-12));
  CHECK(mean_minutes(c, pyramid_order(c)) == Approx(33.42).epsilon(1e-12));
  // Two checks have nothing left to convict after the profile and are skipped.
  const SearchWalk walk = walk_order(c, best.order);
  CHECK(std::count_if(walk.steps.begin(), walk.steps.end(), [](const SearchStep& s) { return s.skipped; }) == 2);
  CHECK(walk.end_minutes == 40);
  CHECK(walk.escalated == Approx(0).margin(1e-12));
  CHECK(walk.cause_minutes[9] == 15);
}

TEST_CASE("the profile of the merge case pays as the first check up to 21.72 minutes: there two orders are as long") {
  SearchCase c = fixed("merge");
  const CheckOrder best = best_order(c).order;
  const double limit = pays_up_to(c, best.front());
  CHECK(limit == Approx(21.72).epsilon(1e-9));
  SearchCase under = c, over = c;
  under.checks[best.front()].minutes = limit - 0.01;
  over.checks[best.front()].minutes = limit + 0.01;
  CHECK(best_order(under).order.front() == best.front());
  CHECK(best_order(over).order.front() != best.front());
}

TEST_CASE("after a reboot cheapest first is the best order; in the merge case it is not") {
  const SearchCase& c = fixed("reboot");
  CHECK(mean_minutes(c, cheapest_first(c)) == Approx(best_order(c).minutes).epsilon(1e-12));
  CHECK(mean_minutes(fixed("merge"), cheapest_first(fixed("merge"))) > 1.49 * best_order(fixed("merge")).minutes);
}

TEST_CASE("dynamic programming over sets finds what trying every order finds, with overlap, misses and false alarms") {
  for (std::int64_t seed = 1; seed <= 30; ++seed)
    for (const bool misses : {false, true}) {
      SearchCase c = random_case(seed, 3 + static_cast<std::size_t>(seed) % 4, true, misses);
      c.false_alarm = 0.1 * static_cast<double>(seed % 3);
      INFO("seed " << seed << " misses " << misses);
      const BestOrder best = best_order(c);
      CHECK(best.minutes == Approx(least_by_trying(c)).epsilon(1e-11));
      CHECK(mean_minutes(c, best.order) == Approx(best.minutes).epsilon(1e-11));
      CHECK(walk_order(c, best.order).mean_minutes == Approx(best.minutes).epsilon(1e-11));
    }
  const SearchCase nine = random_case(3, 8, true, true);
  CHECK(best_order(nine).minutes == Approx(least_by_trying(nine)).epsilon(1e-11));
}

// Smith 1956: without overlap the order by likelihood over minutes is optimal; with misses by likelihood * sees over
// minutes, since what a check convicts does not depend on what was run before.
TEST_CASE("without overlap the ratio rule is optimal, with misses too; with overlap it is not always") {
  for (std::int64_t seed = 1; seed <= 40; ++seed)
    for (const bool misses : {false, true}) {
      const SearchCase c = random_case(seed, 4 + static_cast<std::size_t>(seed) % 4, false, misses);
      CHECK(mean_minutes(c, rate_first(c)) == Approx(best_order(c).minutes).epsilon(1e-10));
    }
  const SearchCase& c = fixed("yesterday");
  CHECK(mean_minutes(c, rate_first(c)) > best_order(c).minutes + 0.05);
}

// Feige, Lovasz, Tetali 2004, with prices Munagala et al. 2005. Here a case of two checks and a pair of causes each.
TEST_CASE("with overlap greedy is at most four times the best, and the order may make it strictly worse") {
  double worst = 1;
  for (std::int64_t seed = 1; seed <= 200; ++seed) {
    SearchCase c = random_case(seed, 6, true, false);
    // Every cause is seen by one check at least, so that nothing is escalated.
    for (std::size_t i = 0; i < c.causes.size(); ++i) c.checks[i % 6].sees[i] = 1;
    const double ratio = mean_minutes(c, rate_first(c)) / best_order(c).minutes;
    CHECK(ratio >= 1 - 1e-12);
    CHECK(ratio <= 4);
    worst = std::max(worst, ratio);
  }
  CHECK(worst > 1.001);
}

TEST_CASE("played with random numbers, a search takes on average what the sum says") {
  for (const FixedCase& f : fixed_cases()) {
    SearchCase c = f.search;
    c.false_alarm = 0.2;
    for (const CheckOrder& order : {cheapest_first(c), best_order(c).order}) {
      INFO(f.id);
      CHECK(simulate_order(c, order, 40000, 7) == Approx(mean_minutes(c, order)).epsilon(0.03));
    }
  }
}

TEST_CASE("what is left after checks that missed is Bayes' rule, whatever their order") {
  SearchCase c = random_case(2, 3, true, true);
  const std::vector<double> left = left_after(c, 0b101);
  double all = 0;
  std::vector<double> by_hand;
  for (std::size_t i = 0; i < c.causes.size(); ++i) {
    by_hand.push_back(c.causes[i].likelihood * (1 - c.checks[0].sees[i]) * (1 - c.checks[2].sees[i]));
    all += by_hand.back();
  }
  for (std::size_t i = 0; i < left.size(); ++i) CHECK(left[i] == Approx(by_hand[i] / all));
}

// A plan that adapts may choose the next check by results. The only result after which it goes on is a miss.
TEST_CASE("a decision tree over all results is no shorter than the best order") {
  const SearchCase c = random_case(11, 6, true, true);
  std::function<double(std::uint32_t, std::vector<double>)> least = [&](std::uint32_t ran, std::vector<double> left) {
    const double reached = std::accumulate(left.begin(), left.end(), 0.0);
    double best = c.escalation_minutes * reached;
    bool any = false;
    for (std::size_t k = 0; k < c.checks.size(); ++k) {
      if (ran >> k & 1) continue;
      std::vector<double> then = left;
      for (std::size_t i = 0; i < then.size(); ++i) then[i] *= 1 - c.checks[k].sees[i];
      const double minutes = c.checks[k].minutes * reached + least(ran | 1u << k, then);
      best = any ? std::min(best, minutes) : minutes;
      any = true;
    }
    return best;
  };
  std::vector<double> all;
  for (const Cause& cause : c.causes) all.push_back(cause.likelihood);
  CHECK(least(0, all) == Approx(best_order(c).minutes).epsilon(1e-11));
}

TEST_CASE("beyond nine checks the order is greedy and moved, says so, and here is the best that there is") {
  const SearchCase& c = fixed("timeout");
  REQUIRE(c.checks.size() == 10);
  const BestOrder found = best_order(c), exact = best_order(c, 10);
  CHECK(!found.exact);
  CHECK(exact.exact);
  CHECK(found.minutes == Approx(exact.minutes).epsilon(1e-9));
  CHECK(std::isnan(pays_up_to(c, 0)));
}

// By hand: A points at two causes of 30 % each, B and C convict one of them each, D the third of 40 %.
TEST_CASE("a check that points leaves its group, which is searched in its own best order") {
  SearchCase c{.causes = {{"x", debugging::Layer::code, 0.3},
                          {"y", debugging::Layer::code, 0.3},
                          {"z", debugging::Layer::code, 0.4}},
               .checks = {{.id = "a", .name = "a", .minutes = 2, .sees = {1, 1, 0}, .points = true},
                          {.id = "b", .name = "b", .minutes = 5, .sees = {1, 0, 0}},
                          {.id = "c", .name = "c", .minutes = 9, .sees = {0, 1, 0}},
                          {.id = "d", .name = "d", .minutes = 4, .sees = {0, 0, 1}}},
               .escalation_minutes = 100};
  // After A, B tells x from y; where it finds nothing, y is the only one left, and C is not needed.
  const SearchWalk walk = walk_order(c, CheckOrder{0, 3, 1, 2});
  CHECK(walk.cause_minutes == std::vector<double>{7, 7, 6});
  CHECK(walk.mean_minutes == Approx(0.6 * 7 + 0.4 * 6));
  CHECK(walk.escalated == Approx(0).margin(1e-12));
  CHECK(mean_minutes(c, CheckOrder{0, 3, 1, 2}) == Approx(6.6));
  const BestOrder best = best_order(c);
  CHECK(best.order.front() == 0);
  CHECK(best.minutes == Approx(6.6));
  CHECK(pays_up_to(c, 0) > 2);
  // What is known after it pointed, and after it missed.
  CHECK(left_after(c, 0, 1) == std::vector<double>{0.5, 0.5, 0});
  CHECK(left_after(c, 1) == std::vector<double>{0, 0, 1});
  // A rule that counts convictions runs it last.
  CHECK(rate_first(c).back() == 0);
}

TEST_CASE("with checks that point, sets of checks and groups find what every plan that adapts finds, and luck agrees") {
  for (std::int64_t seed = 1; seed <= 12; ++seed) {
    SearchCase c = random_case(seed, 4, true, seed % 2 == 0);
    c.checks[0].points = true;
    c.checks[2].points = seed % 3 == 0;
    c.false_alarm = seed % 4 == 0 ? 0.2 : 0;
    INFO("seed " << seed);
    // A whole plan: after each result any check may be next. Outside a group all checks are run that can find
    // something, in a group one cause alone is found.
    std::function<double(std::uint32_t, std::vector<double>, bool)> least =
        [&](std::uint32_t ran, const std::vector<double>& left, bool group) {
          const double all = std::accumulate(left.begin(), left.end(), 0.0);
          const auto some = std::count_if(left.begin(), left.end(), [](double p) { return p > 1e-13; });
          if (group && some <= 1) return 0.0;
          double best = 1e300;
          for (std::size_t k = 0; k < c.checks.size(); ++k) {
            const Check& check = c.checks[k];
            if (ran >> k & 1) continue;
            std::vector<double> hit = left, miss = left;
            for (std::size_t i = 0; i < left.size(); ++i) {
              hit[i] *= check.sees[i];
              miss[i] *= 1 - check.sees[i];
            }
            const double found = std::accumulate(hit.begin(), hit.end(), 0.0);
            const auto kept = std::count_if(hit.begin(), hit.end(), [](double p) { return p > 1e-13; });
            if (found <= 1e-13 || (group && check.points && kept == some)) continue;
            best = std::min(best, check.minutes * all + c.chased() * (all - found) + least(ran | 1u << k, miss, group) +
                                      (check.points ? least(ran | 1u << k, hit, true) : 0.0));
          }
          return best < 1e300 ? best : c.escalation_minutes * all;
        };
    std::vector<double> all;
    for (const Cause& cause : c.causes) all.push_back(cause.likelihood);
    const BestOrder best = best_order(c);
    CHECK(best.minutes == Approx(least(0, all, false)).epsilon(1e-11));
    CHECK(best.minutes == Approx(least_by_trying(c)).epsilon(1e-11));
    CHECK(walk_order(c, best.order).mean_minutes == Approx(best.minutes).epsilon(1e-11));
    CHECK(simulate_order(c, best.order, 20000, seed) == Approx(best.minutes).epsilon(0.04));
  }
}

TEST_CASE("where nobody knows where it is, a check that convicts nobody is the best first, up to some price") {
  const SearchCase& c = fixed("somewhere");
  const BestOrder best = best_order(c);
  CHECK(best.exact);
  REQUIRE(c.checks[best.order.front()].points);
  CHECK(ids(c, best.order).front() == "rank_times");
  CHECK(mean_minutes(c, rate_first(c)) > best.minutes + 2);
  const double limit = pays_up_to(c, best.order.front());
  CHECK(limit > c.checks[best.order.front()].minutes);
  SearchCase under = c, over = c;
  under.checks[best.order.front()].minutes = limit - 0.01;
  over.checks[best.order.front()].minutes = limit + 0.01;
  CHECK(best_order(under).order.front() == best.order.front());
  CHECK(best_order(over).order.front() != best.order.front());
}
