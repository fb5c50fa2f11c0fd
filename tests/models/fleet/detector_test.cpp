#include "models/fleet/detector.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/training/slowest_rank.h"
#include "tests/support/base/near.h"

// Rules that call a rank slow: how often they are wrong over healthy fleets, and what they find.

using namespace models::fleet;
using support::near;

TEST_CASE("the slowest of n healthy ranks is as far out as order statistics say", "[fleet]") {
  // Expected maxima of n standard normal numbers, by quadrature.
  CHECK(near(models::expected_slowest({models::SlownessKind::normal, 1, 0}, 8), 1.4236, 1e-4));
  CHECK(near(models::expected_slowest({models::SlownessKind::normal, 1, 0}, 128), 2.594597, 1e-4));
  CHECK(near(models::expected_slowest({models::SlownessKind::normal, 1, 0}, 4096), 3.626082, 1e-4));
  CHECK(near(models::expected_slowest({models::SlownessKind::rare, 1, 1e-3}, 1024), 0.64102852, 1e-6));
  const FleetRun run = run_fleet({.ranks = 128, .steps = 1000, .noise = {0.01, 0, 0.2}, .fault = Fault::none});
  CHECK(std::fabs(run.mean_step - 1.02594597) < 5e-4);
}

TEST_CASE("one slow rank slows all by as much, and is found", "[fleet]") {
  const Fleet fleet{.noise = {0.001, 0, 0.2}, .slower = 0.1};
  const FleetRun run = run_fleet(fleet);
  const Guilt guilt = guilt_of(fleet);
  CHECK(guilt.ranks == 1);
  CHECK(run.culprit == guilt.first_rank);
  CHECK(std::fabs(run.mean_step - 1.1) < 1e-3);
  CHECK(std::fabs(run.mean_step / run.healthy_step - 1.1 / 1.00324) < 1e-3);
  const Detection found = detect({}, fleet, run);
  CHECK(found.caught == 1);
  CHECK(found.missed == 0);
  CHECK(found.slow_steps == 3);  // three slow steps of ten: the third raises the alarm
}

TEST_CASE("of a bad node every GPU is late together: blame is spread, and mending one wins next to nothing",
          "[fleet]") {
  const FleetRun run = run_fleet({.noise = {0.01, 0, 0.2}, .fault = Fault::bad_node, .slower = 0.1});
  const double blamed = run.caused[static_cast<std::size_t>(run.culprit)];
  CHECK(blamed < 0.4 * run.waits);
  CHECK(run.late * 999 < 0.2 * blamed);
  CHECK(guilt_of({.fault = Fault::bad_node}).ranks == 8);
  CHECK(guilt_of({.fault = Fault::uneven_data}).ranks == 0);
}

TEST_CASE("false alarms come as often as the formula says", "[fleet]") {
  const Fleet healthy{.ranks = 4000, .steps = 400, .noise = {0.01, 1e-3, 0.2}, .fault = Fault::none};
  const FleetRun run = run_fleet(healthy);
  const auto first_alarms = [&](const Detector& d) {
    const Detection found = detect(d, healthy, run);
    const double still = 1 - static_cast<double>(found.alarms) / 4000;
    return -std::log(still) / 400;
  };
  // Standard errors are about 3 % of the rates; runs of hits come in bunches, of which the first is counted here.
  const Detector deviation{Rule::deviation, 3}, ratio{Rule::ratio, 0.03}, several{Rule::several, 2, 3, 10},
      cumulative{Rule::cumulative, 5};
  CHECK(near(first_alarms(deviation), false_alarm_rate(deviation, healthy.noise), 0.08));
  CHECK(near(first_alarms(ratio), false_alarm_rate(ratio, healthy.noise), 0.08));
  CHECK(near(first_alarms(several), false_alarm_rate(several, healthy.noise), 0.15));
  CHECK(near(first_alarms(cumulative), false_alarm_rate(cumulative, healthy.noise), 0.15));
  // Without pauses a normal distribution leaves 1.35e-3 beyond three spreads.
  CHECK(near(false_alarm_rate(deviation, {0.01, 0, 0.2}), 1.349898e-3, 1e-6));
}

TEST_CASE("a higher threshold has fewer false alarms and finds no more", "[fleet]") {
  for (const Rule rule : {Rule::deviation, Rule::several, Rule::cumulative}) {
    double alarms = 1, found = 2;
    for (double threshold = 1; threshold <= 12; threshold += 1) {
      const Detector d{rule, threshold, 3, 10};
      const double now = false_alarm_rate(d, {}), power = detection_power(d, {.slower = 0.03}, 64).found;
      CHECK(now <= alarms * (1 + 1e-9));
      CHECK(power <= found + 1e-9);
      alarms = now;
      found = power;
    }
  }
}

TEST_CASE("a fleet is the same whoever draws it", "[fleet]") {
  const Fleet fleet{.ranks = 40, .fault = Fault::throttle};
  const FleetRun run = run_fleet(fleet);
  for (const std::int64_t rank : {0, 7, 39})
    for (const std::int64_t step : {0, 60, 119})
      CHECK(run.time[static_cast<std::size_t>(step * 40 + rank)] == static_cast<float>(step_time(fleet, rank, step)));
  CHECK(run_fleet({.seed = 2}).time != run_fleet({.seed = 3}).time);
}
