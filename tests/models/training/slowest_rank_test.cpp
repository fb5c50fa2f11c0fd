#include "models/training/slowest_rank.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/base/near.h"

using namespace models;
using support::near;

TEST_CASE("slowest rank: expected maxima that tables give") {
  // Expected largest of n standard normals: Harter, Biometrika 48, 1961.
  const Slowness normal{SlownessKind::normal, 1, 0};
  for (const auto& [n, maximum] : {std::pair{2, 0.5641895835},
                                   {3, 0.8462843753},
                                   {5, 1.1629644736},
                                   {10, 1.5387527308},
                                   {20, 1.8674750600},
                                   {100, 2.5075935900}})
    CHECK(near(expected_slowest(normal, n), maximum, 2e-7));
  CHECK(expected_slowest(normal, 1) == 0);
  const Slowness tail{SlownessKind::exponential, 1, 0};
  CHECK(near(expected_slowest(tail, 4), 1 + 0.5 + 1.0 / 3 + 0.25 - 1));
  double sum = 0;  // the asymptotic form against the sum itself
  for (int k = 1; k <= 16384; ++k) sum += 1.0 / k;
  CHECK(near(expected_slowest(tail, 16384), sum - 1, 1e-12));
  CHECK(near(expected_slowest({SlownessKind::uniform, 1, 0}, 3), std::sqrt(3.0) / 2));
  // One GPU in a thousand is 10 % slower: of 1,024 some are in 64 % of all steps.
  CHECK(near(expected_slowest({SlownessKind::rare, 0.1, 1e-3}, 1024), 0.1 * (1 - std::pow(0.999, 1024)), 1e-9));
}

TEST_CASE("slowest rank: every closed form is the mean of simulated steps") {
  for (const SlownessKind kind :
       {SlownessKind::normal, SlownessKind::exponential, SlownessKind::uniform, SlownessKind::rare})
    for (const std::int64_t ranks : {1, 8, 256}) {
      const Slowness s{kind, 0.05, 0.01};
      const SlowestSample sample = simulate_slowest(s, ranks, 2000, 7);
      INFO("kind " << static_cast<int>(kind) << ", " << ranks << " ranks");
      CHECK(std::abs(sample.mean - expected_slowest(s, ranks)) <= 4 * sample.standard_error + 1e-9);
      CHECK(sample.standard_error <= 0.05 * 1.5 / std::sqrt(2000.0));
      CHECK(simulate_slowest(s, ranks, 2000, 7).mean == sample.mean);
    }
}
