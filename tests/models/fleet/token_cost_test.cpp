#include "models/fleet/token_cost.h"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models::fleet;
using support::near;

// Qwen3-8B on one H100 at the most users that met the latency limits, with rental prices of 24 September 2026
// (silybench): dollars per hour, output tokens per second, dollars per million output tokens as published.
TEST_CASE("dollars per million tokens are the published ones") {
  constexpr std::array<std::array<double, 3>, 10> rows{{{2.69, 4129.027337, 0.180968098},
                                                        {10.9791, 4129.027337, 0.738612208},
                                                        {10.9791, 15103.47814, 0.2019236875},
                                                        {2.69, 3653.099267, 0.2045447352},
                                                        {2.69, 786.8790603, 0.9496023721},
                                                        {10.9791, 786.8790603, 3.875754425},
                                                        {10.9791, 16541.95386, 0.1843645573},
                                                        {2.69, 14539.52687, 0.05139247162},
                                                        {2.69, 3017.679777, 0.2476148158},
                                                        {4.29, 3017.679777, 0.3948950037}}};
  for (const auto& [price, rate, dollars] : rows) CHECK(near(dollars_per_million_tokens(price, rate), dollars, 1e-6));
  CHECK(near(dollars_per_million_tokens(30, 8000), 1.041667, 1e-6));
}

// ML.ENERGY, B200 and H100: power over throughput is the energy of a token that it prints (worst 1.5e-4).
TEST_CASE("energy per token is power over rate in every published row") {
  std::istringstream file(support::read_text(support::data_file("energy_per_token.csv")));
  std::string line;
  std::getline(file, line);
  int rows = 0;
  for (; std::getline(file, line); ++rows) {
    char* next = line.data();
    const double rate = std::strtod(next, &next), power = std::strtod(next + 1, &next),
                 joules = std::strtod(next + 1, &next);
    INFO(line);
    CHECK(near(kwh_per_million_tokens(power, 1, rate) * 3.6, joules, 1e-3));
  }
  CHECK(rows == 183);
  CHECK(near(kwh_per_million_tokens(5600, 1.1, 8000), 0.213889, 1e-5));
  CHECK(near(kg_co2(0.213889, 400), 0.0855556, 1e-5));
}

// Patterson et al. 2021, table 4: chips, days, watts per chip, PUE and megawatt-hours.
TEST_CASE("energy of a published training is chips x days x power x PUE") {
  constexpr std::array<std::array<double, 5>, 3> rows{
      {{1024, 30.0, 289, 1.09, 232.0}, {1024, 3.1, 288, 1.09, 24.1}, {10000, 14.8, 330, 1.1, 1287.0}}};
  for (const auto& [chips, days, watts, pue, mwh] : rows) {
    // One token per second: a million seconds' energy per million tokens.
    const double kwh = kwh_per_million_tokens(chips * watts, pue, 1) * days * 86400 / 1e6;
    CHECK(near(kwh / 1000, mwh, 0.02));
  }
}

namespace {

constexpr PaidHour hour{.price_per_hour = 30,
                        .filled = 0.65,
                        .reach = 0.6,
                        .weights_s = 5e-3,
                        .cache_s = 7e-3,
                        .compute_s = 2e-3,
                        .tokens_per_step = 200};

double sum(const PriceParts& p) { return p.weights + p.cache + p.computing + p.not_reached + p.empty; }

}  // namespace

TEST_CASE("the parts of a price sum to it, and each is the time that it took") {
  const PriceParts parts = price_parts(hour);
  CHECK(near(sum(parts), hour.dollars_per_million(), 1e-12));
  CHECK(near(hour.step_s(), 20e-3));
  CHECK(near(hour.tokens_per_s(), 0.65 * 10'000));
  CHECK(parts.computing == 0);  // hidden under the bytes
  CHECK(near(parts.empty, 0.35 * hour.dollars_per_million(), 1e-12));
  CHECK(near(parts.weights / parts.cache, 5.0 / 7, 1e-12));
  CHECK(near(parts.not_reached, 0.65 * 0.4 * hour.dollars_per_million(), 1e-12));
  PaidHour computing = hour;
  computing.compute_s = 15e-3;
  const PriceParts c = price_parts(computing);
  CHECK(c.weights == 0);
  CHECK(near(c.computing, 0.65 * 0.6 * computing.dollars_per_million(), 1e-12));
  CHECK(near(sum(c), computing.dollars_per_million(), 1e-12));
}

TEST_CASE("levers: the same ten points of filled hours and of reach are worth the same, and sums promise too much") {
  const double before = hour.dollars_per_million();
  PaidHour even = hour;
  even.filled = even.reach = 0.65;
  CHECK(
      near(pull(even, {.filled = 0.1}).dollars_per_million(), pull(even, {.reach = 0.1}).dollars_per_million(), 1e-12));
  const PriceLever cache{.cache = 0.5}, weights{.weights = 0.5}, both{.weights = 0.5, .cache = 0.5};
  const double one = before - pull(hour, cache).dollars_per_million(),
               two = before - pull(hour, weights).dollars_per_million(),
               together = before - pull(hour, both).dollars_per_million();
  CHECK(near(one + two, together, 1e-12));  // shares of one bound add up
  const double fill = before - pull(hour, {.filled = 0.1}).dollars_per_million();
  const double all = before - pull(hour, {.weights = 0.5, .cache = 0.5, .filled = 0.1}).dollars_per_million();
  CHECK(all < together + fill);  // factors do not
  // Twice the users read the weights once: cheaper, but not by half.
  const double twice = pull(hour, {.tokens = 2}).dollars_per_million();
  CHECK(near(twice / before, (5.0 + 14) / 2 / 12, 1e-12));
  CHECK(pull(hour, {.filled = 2}).filled == 1);
  // Bytes that shrink below the arithmetic stop helping.
  CHECK(near(pull(hour, {.weights = 0.01, .cache = 0.01}).bound_s(), 2e-3, 1e-12));
}
