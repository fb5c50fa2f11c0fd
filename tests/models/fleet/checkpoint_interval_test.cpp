#include "models/fleet/checkpoint_interval.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>

#include "tests/support/base/near.h"

using namespace models::fleet;
using support::near;

namespace {

/// Save, mean time between failures and restart in seconds; the intervals of Young, Daly and the exact one, and the
/// efficiency at the last. Worked out apart from this program, by the defining equations and by golden section.
struct IntervalRow {
  double save_s, mtbf_s, restart_s, young_s, daly_first_s, daly_higher_s, exact_s, efficiency;
};
constexpr std::array interval_rows{
    // Llama 3 405B: 419 unexpected failures in 54 days; BLOOM 176B; two projections of Meta's research clusters.
    IntervalRow{10.0, 11135.084, 300.0, 471.9128, 461.9128, 465.2697, 465.2698, 0.9327444},
    IntervalRow{40.0, 604800.0, 1800.0, 6955.8608, 6915.8608, 6929.2197, 6929.2198, 0.9856052},
    IntervalRow{300.0, 6480.0, 600.0, 1971.8012, 1671.8012, 1776.8727, 1777.082, 0.6615763},
    IntervalRow{300.0, 828.0, 600.0, 704.8404, 404.8404, 519.028, 520.6975, 0.1798165},
    IntervalRow{0.59, 10008.0, 129.49, 108.6712, 108.0812, 108.2783, 108.2783, 0.9764646},
    IntervalRow{51.06, 10008.0, 129.49, 1010.9485, 959.8885, 977.1951, 977.199, 0.8907581},
    IntervalRow{1800.0, 86400.0, 1800.0, 17636.3261, 15836.3261, 16456.7386, 16457.3008, 0.7928314},
    IntervalRow{1800.0, 3600.0, 0.0, 3600.0, 1800.0, 2500.0, 2513.8456, 0.3017096},
    IntervalRow{1.0, 1e6, 0.0, 1414.2136, 1413.2136, 1413.547, 1413.547, 0.9985865},
    IntervalRow{30.0, 2592000.0, 300.0, 12470.7658, 12440.7658, 12450.7738, 12450.7738, 0.9950813},
};

}  // namespace

TEST_CASE("Young's, Daly's and the exact interval, and what they reach") {
  for (const IntervalRow& row : interval_rows) {
    INFO(row.save_s << " " << row.mtbf_s);
    const RunReliability run{row.save_s, row.restart_s, row.mtbf_s};
    CHECK(near(young_interval_s(run), row.young_s, 1e-6));
    CHECK(near(daly_first_interval_s(run), row.daly_first_s, 1e-6));
    CHECK(near(daly_higher_interval_s(run), row.daly_higher_s, 1e-6));
    CHECK(near(exact_interval_s(run), row.exact_s, 1e-6));
    CHECK(near(checkpoint_efficiency(run, row.exact_s), row.efficiency, 1e-6));
  }
  CHECK(daly_higher_interval_s({100, 0, 40}) == 40);  // the save takes more than twice the time between failures
  CHECK(exact_interval_s({0, 0, 1000}) == 0);
  CHECK(daly_first_interval_s({100, 0, 40}) == 0);
}

TEST_CASE("no interval does better than the exact one, and nothing of the clock is lost") {
  for (const IntervalRow& row : interval_rows) {
    const RunReliability run{row.save_s, row.restart_s, row.mtbf_s};
    const double best = exact_interval_s(run);
    for (const double factor : {0.01, 0.5, 0.9, 0.999, 1.001, 1.1, 2.0, 20.0}) {
      CHECK(checkpoint_efficiency(run, factor * best) < checkpoint_efficiency(run, best));
      const ClockShares s = clock_shares(run, factor * best);
      CHECK(near(s.kept + s.saving + s.redone + s.restarting, 1.0, 1e-9));
      CHECK(near(s.kept, checkpoint_efficiency(run, factor * best), 1e-12));
      CHECK(std::min({s.kept, s.saving, s.redone, s.restarting}) >= 0);
    }
  }
}

TEST_CASE("the usual estimate of what is lost is near where it is small, and wrong where it is not") {
  const RunReliability llama{10, 300, 11135.084};
  CHECK(near(first_order_waste(llama, young_interval_s(llama)), 0.0693226, 1e-6));
  CHECK(near(1 - checkpoint_efficiency(llama, young_interval_s(llama)), 0.0672595, 1e-5));
  const RunReliability often{300, 600, 828};
  CHECK(first_order_waste(often, young_interval_s(often)) > 1);
  CHECK(checkpoint_efficiency(often, young_interval_s(often)) > 0.15);
  CHECK(near(mean_lost_work_s(3600, 11135.08), 1703.177774, 1e-6));
  CHECK(near(mean_lost_work_s(1, 1e6), 0.5, 1e-3));
}

// The closed form against runs that are played failure by failure: within four standard errors of twelve seeds.
TEST_CASE("simulated runs keep the share that the formula says") {
  for (const IntervalRow& row : interval_rows) {
    const RunReliability run{row.save_s, row.restart_s, row.mtbf_s};
    for (const double factor : {0.4, 1.0, 3.0}) {
      const double interval = factor * row.exact_s, until = (interval / row.mtbf_s > 0.02 ? 600 : 60) * row.mtbf_s;
      std::array<double, 12> kept{};
      for (std::size_t seed = 0; seed < kept.size(); ++seed) {
        const SimulatedRun played = simulate_run(
            run, interval, failure_times_s(run.mtbf_s, until, static_cast<std::int64_t>(seed)), until, true);
        CHECK(near(played.end_s, until));
        CHECK(near(played.kept_s + played.saving_s + played.redone_s + played.restarting_s, until, 0.01));
        kept[seed] = played.kept_s / until;
      }
      const double mean = std::accumulate(kept.begin(), kept.end(), 0.0) / 12;
      double squares = 0;
      for (const double k : kept) squares += (k - mean) * (k - mean);
      const double error = std::sqrt(squares / 11 / 12);
      INFO(row.save_s << " " << row.mtbf_s << " times " << factor << ": " << mean << " +- " << error);
      CHECK(std::abs(mean - checkpoint_efficiency(run, interval)) < 4 * error + interval / until);
    }
  }
}

TEST_CASE("a run played by hand: a failure undoes what was not saved, and one during a restart undoes nothing more") {
  // Work 10 s, save 2 s, restart 3 s; failures at 15 s (3 s into the second segment) and at 17 s (during the restart).
  const std::array<double, 2> failures{15, 17};
  const SimulatedRun run = simulate_run({.save_s = 2, .restart_s = 3, .mtbf_s = 100}, 10, failures, 34);
  REQUIRE(run.failures.size() == 2);
  CHECK(run.failures[0].fell_from_s == 13);
  CHECK(run.failures[0].fell_to_s == 10);
  CHECK_FALSE(run.failures[0].restarting);
  CHECK(run.failures[1].restarting);
  CHECK(run.failures[1].fell_from_s == 10);
  CHECK(run.redone_s == 3);
  CHECK(run.restarting_s == 5);
  // The clock: 10 work, 2 save, 3 undone, 5 restarting, 10 work, 2 save, 2 work.
  CHECK(run.kept_s == 22);
  CHECK(run.saving_s == 4);
  CHECK(run.end_s == 34);
  CHECK(simulate_run({.save_s = 0, .restart_s = 0, .mtbf_s = 1}, 0, {}, 10).stretches.empty());
  // A save that a failure interrupts does not hold: at 11 s the work falls back to nothing.
  const std::array<double, 1> in_save{11};
  CHECK(simulate_run({.save_s = 2, .restart_s = 3, .mtbf_s = 100}, 10, in_save, 14).kept_s == 0);
}

TEST_CASE("turns of work and save that are joined come to the same run") {
  const RunReliability run{30, 300, 20'000};
  const auto failures = failure_times_s(run.mtbf_s, 1e6, 3);
  const SimulatedRun apart = simulate_run(run, 500, failures, 1e6),
                     joined = simulate_run(run, 500, failures, 1e6, true);
  CHECK(joined.stretches.size() < apart.stretches.size() / 4);
  CHECK(joined.failures.size() == apart.failures.size());
  CHECK(near(joined.kept_s, apart.kept_s, 1e-9));
  CHECK(near(joined.redone_s, apart.redone_s, 1e-6));
  CHECK(near(joined.saving_s, apart.saving_s, 1e-9));
  CHECK(near(joined.restarting_s, apart.restarting_s, 1e-9));
}

TEST_CASE("failures are the same for a seed, and twice as dense at half the mean gap") {
  const auto rare = failure_times_s(2000, 100'000, 5), often = failure_times_s(1000, 50'000, 5);
  REQUIRE(rare.size() == often.size());
  for (std::size_t i = 0; i < rare.size(); ++i) CHECK(near(rare[i], 2 * often[i]));
  CHECK(std::is_sorted(rare.begin(), rare.end()));
  CHECK(failure_times_s(2000, 100'000, 6) != rare);
}

// Kokolis et al. 2025 (arXiv:2410.21680): nodes, failures per node and day, restart, save and interval in seconds.
TEST_CASE("the published effective time ratio and the exact one") {
  struct Row {
    double nodes, rate, restart_s, save_s, interval_s, ratio, mttf_h, exact;
  };
  for (const Row& r : {Row{256, 0.0065, 300, 300, 3600, 0.885744, 14.4231, 0.883723},
                       Row{1024, 0.0065, 300, 300, 3600, 0.773744, 3.6058, 0.773264},
                       Row{2048, 0.0065, 300, 300, 3600, 0.62441, 1.8029, 0.642937},
                       Row{2048, 0.0065, 300, 10, 600, 0.892678, 1.8029, 0.895734},
                       Row{1500, 0.0065, 300, 10, 600, 0.917008, 2.4615, 0.918513},
                       Row{128, 0.00234, 1200, 300, 3600, 0.913477, 80.1282, 0.913045}}) {
    const double failures_per_s = r.nodes * r.rate / 86400;
    CHECK(near(1 / failures_per_s / 3600, r.mttf_h, 1e-4));
    CHECK(near(effective_time_ratio(failures_per_s, r.restart_s, r.save_s, r.interval_s), r.ratio, 1e-5));
    CHECK(near(checkpoint_efficiency({r.save_s, r.restart_s, 1 / failures_per_s}, r.interval_s), r.exact, 1e-5));
  }
}

TEST_CASE("spare machines by the quantile of the binomial and of Poisson") {
  struct Row {
    std::int64_t machines;
    double rate, days;
    std::int64_t p99, p999, poisson_p99, poisson_p999;
  };
  for (const Row& r : {Row{128, 0.015625, 3, 12, 14, 12, 15}, Row{128, 0.015625, 7, 22, 25, 23, 27},
                       Row{1024, 0.0065, 1, 13, 16, 13, 16}, Row{1024, 0.0065, 3, 31, 35, 31, 35},
                       Row{2048, 0.0065, 7, 113, 121, 116, 124}, Row{2048, 0.00234, 1, 11, 13, 11, 13}}) {
    const double expected = r.rate * r.days, away = -std::expm1(-expected);  // it failed within the repair time
    CHECK(spare_machines(r.machines, away, 0.01) == r.p99);
    CHECK(spare_machines(r.machines, away, 0.001) == r.p999);
    CHECK(spare_machines_of_job(static_cast<double>(r.machines) * expected, 0.01) == r.poisson_p99);
    CHECK(spare_machines_of_job(static_cast<double>(r.machines) * expected, 0.001) == r.poisson_p999);
  }
  CHECK(spare_machines_of_job(0, 0.01) == 0);
  CHECK(spare_machines(10, 0, 0.01) == 0);
  CHECK(spare_machines(10, 1, 0.01) == 10);
}
