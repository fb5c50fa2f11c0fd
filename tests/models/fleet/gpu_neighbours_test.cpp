#include "models/fleet/gpu_neighbours.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "models/fleet/gpu_timeline.h"
#include "tests/support/base/near.h"

// What jobs on one GPU take from each other.

using namespace models::fleet;
using support::near;

namespace {

constexpr Tenant light{2e-3, 3e-3, 9e-3}, noisy{2e-3, 12e-3, 1e-3};
constexpr std::array<Tenant, 4> four{light, noisy, light, light};

}  // namespace

TEST_CASE("neighbours: max-min shares give who asks little all of it and part the rest evenly") {
  CHECK(near(max_min_level(std::array{0.2, 0.2, 0.9}, 1), 0.6, 1e-12));
  CHECK(near(max_min_level(std::array{0.9, 0.8, 0.7}, 1), 1.0 / 3, 1e-12));
  CHECK(std::isinf(max_min_level(std::array{0.3, 0.3}, 1)));
}

TEST_CASE("neighbours: alone nothing is slower") {
  for (const SharingWay way : {SharingWay::time_slices, SharingWay::mps}) {
    const auto steps = shared_steps(std::array{light}, {.way = way});
    CHECK(near(steps[0].slowdown, 1, 1e-12));
    CHECK(steps[0].roof == SharedRoof::host);
  }
  const auto whole = shared_steps(std::array{light}, {.way = SharingWay::mig, .compute_slices = 7, .memory_slices = 8});
  CHECK(near(whole[0].step_s, 12e-3, 1e-12));
}

// Jobs that are alike are the machine repairman's model with one server that all share: the chance that k of them are
// there goes with n! / (n - k)! x (gpu / host)^k over the product of the server's speeds with 1 to k of them.
TEST_CASE("neighbours: jobs that are alike take as long as in the closed queue of the theory") {
  constexpr int n = 5;
  for (const bool switches : {false, true}) {
    const SharingWith turns{.way = SharingWay::time_slices, .slice_s = 2e-3, .switch_s = switches ? 5e-4 : 0};
    double weight = 1, all = 1, done = 0;
    for (int k = 1; k <= n; ++k) {
      const double speed = switches && k > 1 ? 0.8 : 1;
      weight *= (n - k + 1) * (3.0 / 9) / speed;
      all += weight;
      done += weight * speed;  // in GPU phases at full speed
    }
    const double step_s = n * 3e-3 * all / done;
    for (const SharedStep& s : shared_steps(std::vector<Tenant>(n, light), turns)) CHECK(near(s.step_s, step_s, 1e-9));
    // Under MPS bytes alone are the same server, without switches.
    if (!switches)
      for (const SharedStep& s : shared_steps(std::vector<Tenant>(n, Tenant{0, 3e-3, 9e-3}), {.way = SharingWay::mps}))
        CHECK(near(s.step_s, step_s, 1e-9));
  }
}

TEST_CASE("neighbours: two by hand, and jobs that always compute have even shares") {
  // Each computes for 1 and waits for 1, together at half pace: both wait 1/5, one computes 2/5, both 2/5.
  const std::array<Tenant, 2> two{Tenant{0, 1, 1}, Tenant{0, 1, 1}};
  CHECK(near(shared_steps(two, {.way = SharingWay::mps})[0].step_s, 2.5, 1e-12));
  const std::array<Tenant, 4> busy{Tenant{4e-3, 2e-3, 0}, Tenant{4e-3, 1e-3, 0}, Tenant{4e-3, 2e-3, 0},
                                   Tenant{4e-3, 2e-3, 0}};
  const auto turns = shared_steps(busy, {.way = SharingWay::time_slices, .slice_s = 2e-3, .switch_s = 2e-4});
  CHECK(near(turns[0].step_s, 4 * 4e-3 * 1.1, 1e-12));
  CHECK(turns[0].roof == SharedRoof::slices);
  CHECK(near(shared_throughput(turns), 1 / 1.1, 1e-9));
}

TEST_CASE("neighbours: who moves many bytes is held most, and a limit on SMs slows even a job that is alone") {
  const auto steps = shared_steps(four, {.way = SharingWay::mps});
  CHECK(steps[0].slowdown > 1.2);
  CHECK(steps[1].slowdown > steps[0].slowdown);
  CHECK(steps[1].roof == SharedRoof::bandwidth);
  CHECK(near(steps[0].step_s, steps[3].step_s, 1e-12));
  const SharingWith limited{.way = SharingWay::mps, .sm_share = 0.25};
  CHECK(near(shared_steps(std::array{light}, limited)[0].step_s, 17e-3, 1e-12));
  // Arithmetic alone: a quarter of the SMs for each of four, and nobody is felt.
  const std::vector<Tenant> plain(4, Tenant{2e-3, 0, 9e-3});
  CHECK(near(shared_steps(plain, limited)[2].step_s, 17e-3, 1e-12));
}

// A tenth of the SMs: 20 ms of arithmetic over 3 ms of bytes, and the noisy one's 20 over 12.
TEST_CASE("neighbours: under a limit on SMs arithmetic binds a job whose bytes are fewer, alone or not") {
  const SharingWith limited{.way = SharingWay::mps, .sm_share = 0.1};
  const auto alone = shared_steps(std::array{light}, limited);
  CHECK(near(alone[0].step_s, 29e-3, 1e-12));
  CHECK(alone[0].roof == SharedRoof::compute);
  const auto together = shared_steps(four, limited);
  for (const SharedStep& s : together) CHECK(s.roof == SharedRoof::compute);
  // At half of the SMs 4 ms of arithmetic bind the light job; the noisy one's 12 ms of bytes still bind that.
  const std::array<Tenant, 1> busy{Tenant{2e-3, 3e-3, 0}};
  CHECK(shared_steps(busy, {.way = SharingWay::mps, .sm_share = 0.5})[0].roof == SharedRoof::compute);
  CHECK(shared_steps(busy, {.way = SharingWay::mps})[0].roof == SharedRoof::bandwidth);
  CHECK(shared_steps(std::array{noisy}, {.way = SharingWay::mps, .sm_share = 0.5})[0].roof == SharedRoof::bandwidth);
}

TEST_CASE("neighbours: phases that are next to nothing give finite steps") {
  const std::array<Tenant, 3> odd{Tenant{1e-300, 1e-300, 0}, Tenant{0, 1e-300, 1}, Tenant{1, 0, 1e-300}};
  for (const SharingWay way : {SharingWay::time_slices, SharingWay::mps})
    for (const SharedStep& s : shared_steps(odd, {.way = way})) {
      CHECK(std::isfinite(s.step_s));
      CHECK(s.slowdown > 1 - 1e-9);
    }
}

TEST_CASE("neighbours: an instance feels nobody and gets its slices alone") {
  const SharingWith two{.way = SharingWay::mig, .compute_slices = 2, .memory_slices = 2};
  const auto steps = shared_steps(std::array{light, noisy, light}, two);
  CHECK(near(steps[0].step_s, 21e-3, 1e-12));  // a quarter of the bandwidth
  CHECK(steps[0].step_s == shared_steps(std::array{light}, two)[0].step_s);
}

TEST_CASE("neighbours: simulated in time a step takes as long as the exact solution says") {
  for (const SharingWay way : {SharingWay::time_slices, SharingWay::mps, SharingWay::mig}) {
    const SharingWith with{.way = way, .slice_s = 2e-4, .switch_s = 2e-5, .compute_slices = 2, .memory_slices = 2};
    const Timeline line = shared_timeline(four, with, 3, 30, 1'000'000);
    REQUIRE(near(line.end_s, 30, 1e-9));
    const auto steps = shared_steps(four, with);
    INFO(static_cast<int>(way));
    double yours = 0;
    for (const std::size_t i : {0, 2, 3}) yours += static_cast<double>(line.steps[i]) / 3;
    CHECK(near(30 / yours, steps[0].step_s, 0.04));  // 1,500 steps each: a standard error of about 1 %
    CHECK(near(30 / static_cast<double>(line.steps[1]), steps[1].step_s, 0.08));
    double covered = 0;
    for (const TimelinePiece& p : line.pieces) covered += p.to_s - p.from_s;
    CHECK(near(covered, 4 * 30, 1e-6));
  }
}

// Alike jobs take as long in turns of any length, if switches cost nothing; a long job in front holds up a short one.
TEST_CASE("neighbours: with long slices turns are simulated") {
  const std::vector<Tenant> alike(2, Tenant{0, 1, 1});
  SharingWith with{.way = SharingWay::time_slices, .slice_s = 1000, .switch_s = 0};
  CHECK(near(shared_steps_in_time(alike, with, 1, 60'000)[0].step_s, 2.5, 0.03));
  const std::array<Tenant, 2> uneven{Tenant{0, 1, 9}, Tenant{0, 50, 1}};
  CHECK(shared_steps_in_time(uneven, with, 1, 20'000)[0].slowdown > 2);
  with.slice_s = 0.1;
  CHECK(shared_steps_in_time(uneven, with, 1, 20'000)[0].step_s == shared_steps(uneven, with)[0].step_s);
}

TEST_CASE("neighbours: in turns one job computes at a time, and a timeline ends where it has enough pieces") {
  const SharingWith with{.way = SharingWay::time_slices};
  const Timeline line = shared_timeline(four, with, 1, 0.2, 400);
  std::vector<TimelinePiece> busy;
  for (const TimelinePiece& p : line.pieces)
    if (p.state == GpuState::computes) busy.push_back(p);
  std::sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.from_s < b.from_s; });
  REQUIRE(busy.size() > 10);
  for (std::size_t i = 1; i < busy.size(); ++i) CHECK(busy[i].from_s >= busy[i - 1].to_s - 1e-12);
  CHECK(shared_timeline(four, with, 1, 1e6, 100).pieces.size() <= 100 + 2 * four.size());
}

TEST_CASE("neighbours: from the other socket a GPU gets an even share of the path at most") {
  CHECK(host_rate(false, 55e9, 60e9, 4) == 55e9);
  CHECK(host_rate(true, 55e9, 60e9, 1) == 55e9);
  CHECK(host_rate(true, 55e9, 60e9, 4) == 15e9);
}
