#include "models/base/counter_random.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

// erfc of the standard library is the independent side.
TEST_CASE("the upper quantile undoes the normal tail, far out too") {
  for (const double z : {-3.0, -1.5, -0.5, 0.0, 0.5, 1.0, 2.0, 3.5, 5.0, 6.0, 10.0, 20.0, 37.0}) {
    const double p = 0.5 * std::erfc(z * std::sqrt(0.5));
    INFO(z << " has the tail " << p);
    CHECK(std::abs(models::upper_normal_quantile(p) - z) <= 1e-13 * std::max(1.0, std::abs(z)));
  }
}

// Published with the exercise "Splitmix64" of rosettacode.org: five draws from 1234567.
TEST_CASE("draws are those of SplitMix64 begun at the stream") {
  constexpr std::uint64_t published[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                         4593380528125082431u, 16408922859458223821u};
  for (std::uint64_t i = 0; i < 5; ++i) CHECK(models::counter_hash(1234567, i) == published[i]);
}

TEST_CASE("draws depend on seed, use and place alone, and fill their range evenly") {
  const auto stream = models::random_stream(7, 1);
  CHECK(models::unit_draw(stream, 5) == models::unit_draw(models::random_stream(7, 1), 5));
  CHECK(models::random_stream(7, 2) != stream);
  CHECK(models::random_stream(8, 1) != stream);
  std::set<std::uint64_t> seen;
  double sum = 0, squares = 0;
  constexpr int n = 40000;
  for (std::uint64_t i = 0; i < n; ++i) {
    seen.insert(models::counter_hash(stream, i));
    const double z = models::normal_draw(stream, i);
    sum += z;
    squares += z * z;
  }
  CHECK(seen.size() == n);
  CHECK(std::abs(sum / n) <= 4 / std::sqrt(static_cast<double>(n)));  // four standard errors
  CHECK(std::abs(squares / n - 1) <= 4 * std::sqrt(2.0 / n));
}
