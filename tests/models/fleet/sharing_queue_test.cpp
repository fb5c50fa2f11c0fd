#include "models/fleet/sharing_queue.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "models/serving/arrivals/queueing.h"
#include "tests/support/base/near.h"

// The queue in front of a fleet, against queueing theory, small cases by hand, and what must hold in every run.

using namespace models::fleet;
using support::near;

namespace {

JobMix plain_mix(const std::vector<int>& places, double mean_s = 3600) {
  JobMix mix;
  for (const int n : places) {
    JobKind kind;
    kind.shape.places = n;
    kind.share = 1 / static_cast<double>(places.size());
    mix.kinds.push_back(kind);
  }
  mix.durations.mean_s = mean_s;
  return mix;
}

double mean_wait(const QueueRun& run) {
  double sum = 0;
  for (std::size_t i = run.first; i < run.jobs.size(); ++i) sum += run.jobs[i].wait_s();
  return sum / static_cast<double>(run.jobs.size() - run.first);
}

/// Means over seeds, and the standard error of their mean.
std::pair<double, double> over_seeds(QueueSetup setup, int seeds) {
  double sum = 0, squares = 0;
  for (setup.seed = 1; setup.seed <= seeds; ++setup.seed) {
    const double wait = mean_wait(run_sharing_queue(setup));
    sum += wait;
    squares += wait * wait;
  }
  const double n = seeds, mean = sum / n;
  return {mean, std::sqrt((squares / n - mean * mean) / (n - 1))};
}

std::vector<double> starts(const QueueSetup& setup, const std::vector<QueuedJob>& jobs) {
  std::vector<double> out;
  for (const QueuedJob& j : run_sharing_queue(setup, jobs).jobs) out.push_back(j.start_s);
  return out;
}

/// No two jobs lie on one place, jobs keep their size, and nobody starts before he came.
void check_run(const QueueSetup& setup, const QueueRun& run) {
  std::vector<std::tuple<double, int, std::size_t>> events;  // time, ends first, stay
  double used = 0, waits = 0;
  const double span = run.to_s - run.from_s;
  for (std::size_t i = 0; i < run.stays.size(); ++i) {
    const Stay& s = run.stays[i];
    events.emplace_back(s.from_s, 1, i);
    events.emplace_back(s.to_s, 0, i);
    used += std::popcount(s.places) * std::max(0.0, std::min(s.to_s, run.to_s) - std::max(s.from_s, run.from_s));
    const ShelfShape& shape = setup.mix.kinds[run.jobs[s.job].kind].shape;
    if (setup.one_shelf) CHECK(std::popcount(s.places) == shape.places);
    if (!shape.at.empty()) CHECK(std::find(shape.at.begin(), shape.at.end(), s.places) != shape.at.end());
    if (static_cast<std::int64_t>(s.shelf) < setup.reserved) CHECK(shape.large());
    if (setup.half == HalfRule::only && shape.at.empty() && shape.places <= 4) CHECK_FALSE(on_both_halves(s.places));
  }
  std::sort(events.begin(), events.end());
  std::vector<Places> taken(static_cast<std::size_t>(setup.shelves), 0);
  bool apart = true;
  for (const auto& [at, begins, i] : events) {
    const Stay& s = run.stays[i];
    if (s.from_s == s.to_s) continue;
    apart = apart && (taken[s.shelf] & s.places) == (begins != 0 ? 0 : s.places);
    taken[s.shelf] = static_cast<Places>(taken[s.shelf] ^ s.places);
  }
  CHECK(apart);
  bool later = true;
  for (const QueuedJob& j : run.jobs) {
    later = later && j.start_s >= j.arrival_s && j.end_s >= j.start_s + j.run_s * (1 - 1e-12);
    waits += std::max(0.0, std::min(j.start_s, run.to_s) - std::max(j.arrival_s, run.from_s));
  }
  CHECK(later);
  const QueueShares& shares = run.shares;
  CHECK(near(shares.used, used / (span * static_cast<double>(setup.shelves) * shelf_places), 1e-9));
  CHECK(near(shares.used + shares.idle + shares.held_back + shares.stranded, 1, 1e-9));
  CHECK(near(run.mean_queue + 1, waits / span + 1, 1e-9));  // Little's law over the window
}

}  // namespace

TEST_CASE("sharing queue: jobs of one GPU wait as long as in M/M/c, jobs of a node as in one with a server a node") {
  QueueSetup setup{.shelves = 1, .mix = job_mix(Mix::single, 1), .load = 0.8, .jobs = 6000};
  const double service_s = setup.mix.durations.mean();
  const auto [wait, error] = over_seeds(setup, 12);
  const double theory = *models::mmc_wait_s(8, 0.8 * 8 / service_s, service_s);
  CHECK(std::abs(wait - theory) < 4 * error);
  CHECK(error < 0.1 * theory);

  setup.shelves = 4;
  setup.mix = plain_mix({8});
  setup.order = QueueOrder::backfill;  // jobs of one size leave nothing to fill
  const auto [whole, whole_error] = over_seeds(setup, 12);
  CHECK(std::abs(whole - *models::mmc_wait_s(4, 0.8 * 4 / 3600, 3600)) < 4 * whole_error);
}

TEST_CASE("sharing queue: who starts when, by hand") {
  // Kinds: four places, all eight, two.
  QueueSetup setup{.shelves = 1, .mix = plain_mix({4, 8, 2})};
  const std::vector<QueuedJob> jobs{{0, 0, 10}, {1, 1, 5}, {2, 2, 3}, {2, 3, 20}};
  setup.order = QueueOrder::fifo;
  CHECK(starts(setup, jobs) == std::vector<double>{0, 10, 15, 15});
  // The third ends at 5, before the second could start at 10; the fourth would hold it up.
  setup.order = QueueOrder::backfill;
  CHECK(starts(setup, jobs) == std::vector<double>{0, 10, 2, 15});
  setup.order = QueueOrder::any_fit;
  CHECK(starts(setup, jobs) == std::vector<double>{0, 23, 2, 3});
}

TEST_CASE("sharing queue: a job that finds enough places in pieces waits, unless others are moved or packed") {
  QueueSetup setup{.shelves = 2, .mix = plain_mix({4, 8})};
  const std::vector<QueuedJob> jobs{{0, 0, 10}, {0, 1, 10}, {1, 2, 5}, {0, 8, 1}};
  setup.packing = ShelfPacking::worst_fit;
  CHECK(starts(setup, jobs) == std::vector<double>{0, 1, 10, 10});
  CHECK(near(run_sharing_queue(setup, jobs).shares.in_pieces, 6.0 / 8, 1e-12));  // from 2 to 8
  setup.packing = ShelfPacking::best_fit;
  CHECK(starts(setup, jobs) == std::vector<double>{0, 1, 2, 8});
  setup.packing = ShelfPacking::worst_fit;
  setup.migrate = true;
  setup.move_s = 1;
  const QueueRun moved = run_sharing_queue(setup, jobs);
  CHECK(moved.moves == 1);
  CHECK(moved.jobs[2].start_s == 2);
  CHECK(moved.jobs[0].end_s + moved.jobs[1].end_s == 22);  // one of both stood still for a second
}

TEST_CASE("sharing queue: a spread job runs longer, and kept shelves stay free for whole-shelf jobs") {
  QueueSetup setup{.shelves = 2, .mix = plain_mix({4, 5, 8}), .packing = ShelfPacking::worst_fit};
  const std::vector<QueuedJob> jobs{{0, 0, 10}, {0, 0.5, 10}, {1, 1, 10}, {0, 30, 1}};
  CHECK(starts(setup, jobs)[2] == 10);
  setup.one_shelf = false;
  setup.spread_cost = 0.5;
  const QueueRun spread = run_sharing_queue(setup, jobs);
  CHECK(spread.jobs[2].start_s == 1);
  CHECK(spread.jobs[2].end_s == 16);
  CHECK(spread.spread == 1);
  setup.one_shelf = true;
  setup.reserved = 1;
  CHECK(starts(setup, {{0, 0, 10}, {0, 1, 10}, {0, 2, 10}, {2, 3, 5}}) == std::vector<double>{0, 1, 10, 10});
}

TEST_CASE("sharing queue: jobs of four or fewer stay on one socket, or cross and run longer") {
  QueueSetup setup{.shelves = 2, .mix = plain_mix({3, 2}), .cross_cost = 0.5};
  // Two of three places each are on the first shelf; the pair finds places 6 and 7, or the halves' last ones.
  const std::vector<QueuedJob> jobs{{0, 0, 10}, {0, 1, 10}, {1, 2, 4}, {1, 30, 1}};
  setup.half = HalfRule::any;  // places 0 to 2, 3 to 5, then 6 and 7
  QueueRun run = run_sharing_queue(setup, jobs);
  CHECK(run.jobs[1].crosses);
  CHECK(run.jobs[1].end_s == 1 + 15);
  CHECK_FALSE(run.jobs[2].crosses);
  setup.half =
      HalfRule::only;  // 0 to 2, 4 to 6: what is left lies on both halves, so the pair goes to the second shelf
  run = run_sharing_queue(setup, jobs);
  CHECK_FALSE(run.jobs[1].crosses);
  REQUIRE(run.stays[2].job == 2);
  CHECK(run.stays[2].shelf == 1);
  setup.shelves = 1;  // and waits where there is none, or crosses where it may
  CHECK(run_sharing_queue(setup, jobs).jobs[2].start_s == 10);
  setup.half = HalfRule::prefer;
  run = run_sharing_queue(setup, jobs);
  CHECK(run.jobs[2].start_s == 2);
  CHECK(run.jobs[2].end_s == 2 + 6);
  CHECK(run.jobs[2].crosses);
  CHECK_FALSE(run.jobs[1].crosses);
}

TEST_CASE("sharing queue: what must hold in every run holds for every mix and rule") {
  for (const Mix mix : {Mix::gavel, Mix::philly, Mix::kalos, Mix::slices})
    for (std::size_t order = 0; order < queue_order_count; ++order)
      for (const bool extra : {false, true}) {
        QueueSetup setup{.shelves = 8, .mix = job_mix(mix, 32), .load = 0.8, .jobs = 400, .seed = 7};
        setup.order = static_cast<QueueOrder>(order);
        setup.packing = extra ? ShelfPacking::worst_fit : ShelfPacking::best_fit;
        setup.migrate = extra;
        setup.move_s = 60;
        setup.reserved = extra ? 2 : 0;
        setup.half = extra ? HalfRule::only : HalfRule::any;
        INFO(static_cast<int>(mix) << " " << order << " " << extra);
        const QueueRun run = run_sharing_queue(setup);
        check_run(setup, run);
        if (setup.order == QueueOrder::fifo)
          CHECK(std::is_sorted(run.jobs.begin(), run.jobs.end(),
                               [](const QueuedJob& a, const QueuedJob& b) { return a.start_s < b.start_s; }));
      }
}

// What comes in a round is done in the time of a round where the line does not grow: jobs that run past its end are
// there at its beginning too.
TEST_CASE("sharing queue: jobs that come twice use as much as they ask for where the fleet keeps up") {
  for (const Mix mix : {Mix::kalos, Mix::gavel, Mix::slices})
    for (const double load : {0.15, 0.3}) {
      const QueueSetup setup{.shelves = 32,
                             .mix = job_mix(mix, 32),
                             .load = load,
                             .jobs = 600,
                             .order = QueueOrder::any_fit,
                             .twice = true};
      const QueueRun run = run_sharing_queue(setup);
      REQUIRE(run.jobs.size() == 1200);
      REQUIRE(run.first == 600);
      INFO(static_cast<int>(mix) << " " << load);
      CHECK(near(run.to_s, 2 * run.from_s, 1e-9));
      CHECK(near(run.jobs[800].arrival_s - run.jobs[200].arrival_s, run.from_s, 1e-9));
      CHECK(run.jobs[800].run_s == run.jobs[200].run_s);
      CHECK(near(run.shares.used, load, 0.01));
    }
  QueueSetup blocked{.shelves = 16, .mix = job_mix(Mix::kalos, 64), .load = 0.9, .jobs = 500, .twice = true};
  CHECK(run_sharing_queue(blocked).shares.used < 0.75);  // first in, first out: the line grows
}

TEST_CASE("sharing queue: a seed gives the same run, and the moment shown agrees with it") {
  const QueueSetup setup{.shelves = 8, .mix = job_mix(Mix::gavel, 32), .load = 0.9, .jobs = 600};
  const QueueRun a = run_sharing_queue(setup), b = run_sharing_queue(setup);
  CHECK(a.shares.used == b.shares.used);
  CHECK(a.jobs.back().start_s == b.jobs.back().start_s);
  const FleetMoment moment = fleet_moment(setup, a, a.worst_s);
  CHECK_FALSE(moment.waiting.empty());
  int free = 0;
  for (const Places p : moment.taken) free += free_places(p);
  CHECK(free > 0);
  const std::atomic<bool> stop{true};
  CHECK(run_sharing_queue(setup, &stop).cancelled);
}
