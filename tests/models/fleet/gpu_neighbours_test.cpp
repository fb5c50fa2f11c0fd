#include "models/fleet/gpu_neighbours.h"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

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

TEST_CASE("neighbours: in turns a job loses what it asks for beyond an even share of what switches leave") {
  const auto steps = shared_steps(four, {.way = SharingWay::time_slices, .slice_s = 2e-3, .switch_s = 2e-4});
  const double even = 2 / 2.2 / 4;  // of the clock; each asks for a quarter or more
  CHECK(near(steps[0].step_s, 3e-3 / even, 1e-12));
  CHECK(near(steps[0].slowdown, 1.1, 1e-9));
  CHECK(near(steps[1].step_s, 12e-3 / even, 1e-12));
  CHECK(steps[1].roof == SharedRoof::slices);
}

TEST_CASE("neighbours: under MPS who moves many bytes is held to what the others leave") {
  const auto steps = shared_steps(four, {.way = SharingWay::mps});
  CHECK(near(steps[0].step_s, 17e-3, 1e-12));  // 2 ms of arithmetic on a quarter of the SMs, and 9 of host
  const double left = 1 - 3 * 3.0 / 17;
  CHECK(near(steps[1].step_s, 12e-3 / left, 1e-9));
  CHECK(steps[1].roof == SharedRoof::bandwidth);
  CHECK(near(shared_throughput(steps), 3 * 12.0 / 17 + 13.0 / (12 / left), 1e-9));
}

TEST_CASE("neighbours: an instance feels nobody and gets its slices alone") {
  const SharingWith two{.way = SharingWay::mig, .compute_slices = 2, .memory_slices = 2};
  const auto steps = shared_steps(std::array{light, noisy, light}, two);
  CHECK(near(steps[0].step_s, 21e-3, 1e-12));  // a quarter of the bandwidth
  CHECK(steps[0].step_s == shared_steps(std::array{light}, two)[0].step_s);
}

TEST_CASE("neighbours: from the other socket a GPU gets an even share of the path at most") {
  CHECK(host_rate(false, 55e9, 60e9, 4) == 55e9);
  CHECK(host_rate(true, 55e9, 60e9, 1) == 55e9);
  CHECK(host_rate(true, 55e9, 60e9, 4) == 15e9);
}
