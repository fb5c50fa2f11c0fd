#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "models/hang/alarm_cost.h"
#include "models/hang/hang_simulation.h"
#include "tests/support/base/near.h"

using namespace models::hang;

namespace {

struct Scores {
  int cases = 0, ranks = 0, words = 0, accused = 0;
};

/// Diagnoses jobs of several shapes with one fault, each with so many seeds.
Scores scores_of(HangFault fault, std::int64_t ahead, int seeds) {
  Scores out;
  for (const HangJob& shape : {HangJob{.tensor_parallel = 1, .data_parallel = 4, .pipeline_parallel = 1},
                               HangJob{.tensor_parallel = 2, .data_parallel = 4, .pipeline_parallel = 1},
                               HangJob{.tensor_parallel = 2, .data_parallel = 2, .pipeline_parallel = 2},
                               HangJob{.tensor_parallel = 4, .data_parallel = 4, .pipeline_parallel = 4}}) {
    HangJob job = shape;
    job.fault = fault;
    job.ahead = ahead;
    if (!cannot_plant(job).empty()) continue;
    for (job.seed = 1; job.seed <= seeds; ++job.seed) {
      const SimulatedHang made = simulate_hang(job);
      const auto dumps = make_flight_job(made.dumps);
      REQUIRE(dumps);
      const HangDiagnosis d = diagnose_hang(*dumps);
      ++out.cases;
      out.ranks += d.culprits == made.culprits;
      out.words += d.fault == fault;
      out.accused += !d.culprits.empty();
    }
  }
  return out;
}

}  // namespace

TEST_CASE("made-up hangs: the rank is named without the fault's name") {
  for (const std::int64_t ahead : {0, 6}) {
    for (const HangFault fault : {HangFault::shape, HangFault::dtype, HangFault::not_arrived, HangFault::died,
                                  HangFault::order, HangFault::group_order, HangFault::p2p_order}) {
      INFO(fault_id(fault) << ", " << ahead << " calls ahead");
      const Scores s = scores_of(fault, ahead, 4);
      CHECK(s.ranks == s.cases);
    }
    for (const HangFault fault : {HangFault::skipped_collective, HangFault::extra_collective, HangFault::uneven_inputs,
                                  HangFault::split_sizes}) {
      INFO(fault_id(fault) << ", " << ahead << " calls ahead");
      const Scores s = scores_of(fault, ahead, 6);
      CHECK(10 * s.ranks >= 7 * s.cases);
    }
  }
}

TEST_CASE("made-up jobs without a fault are never accused, and other roots accuse nobody") {
  for (const std::int64_t ahead : {0, 6}) {
    const Scores healthy = scores_of(HangFault::none, ahead, 10);
    CHECK(healthy.accused == 0);
    CHECK(healthy.words == healthy.cases);
    const Scores roots = scores_of(HangFault::undecided, ahead, 5);
    CHECK(roots.accused == 0);
    CHECK(roots.words == roots.cases);
  }
}

TEST_CASE("on one machine a straggler is found by its own time, across machines nobody is accused wrongly") {
  HangJob job{.tensor_parallel = 1, .data_parallel = 4, .pipeline_parallel = 1, .fault = HangFault::straggler};
  for (job.seed = 1; job.seed <= 5; ++job.seed) {
    const SimulatedHang made = simulate_hang(job);
    CHECK_FALSE(made.hung);
    CHECK(diagnose_hang(*make_flight_job(made.dumps)).culprits == made.culprits);
  }
  job.data_parallel = 32;
  for (job.seed = 1; job.seed <= 5; ++job.seed) {
    const SimulatedHang made = simulate_hang(job);
    const HangDiagnosis d = diagnose_hang(*make_flight_job(made.dumps));
    CHECK((d.culprits.empty() || d.culprits == made.culprits));
  }
}

TEST_CASE("a made-up job is the same each time, and its ring forgets") {
  const HangJob job{.fault = HangFault::not_arrived, .seed = 7, .ring = 8};
  const SimulatedHang a = simulate_hang(job), b = simulate_hang(job);
  REQUIRE(a.dumps.size() == b.dumps.size());
  for (std::size_t i = 0; i < a.dumps.size(); ++i) {
    CHECK(a.dumps[i].entries == b.dumps[i].entries);
    CHECK(a.dumps[i].entries.size() <= 8);
  }
  CHECK(diagnose_hang(*make_flight_job(a.dumps)).culprits == a.culprits);
  CHECK_FALSE(cannot_plant({.tensor_parallel = 1, .data_parallel = 1}).empty());
  CHECK_FALSE(cannot_plant({.fault = HangFault::group_order}).empty());
}

TEST_CASE("the best timeout is where one second more costs what it saves") {
  AlarmJob job;
  const AlarmCost cost = alarm_cost(job);
  // 60 ln(2000 x 900 / (4 x 60)) s
  CHECK(support::near(cost.best_timeout_s, 535.38, 1e-4));
  job.timeout_s = cost.best_timeout_s;
  const double best = alarm_cost(job).lost_gpu_hours;
  CHECK(support::near(best, cost.best_lost_gpu_hours, 1e-12));
  for (const double off : {-30.0, 30.0}) {
    job.timeout_s = cost.best_timeout_s + off;
    CHECK(alarm_cost(job).lost_gpu_hours > best);
  }
  job.pauses = 0.001;
  CHECK(alarm_cost(job).best_timeout_s == 0);
}
