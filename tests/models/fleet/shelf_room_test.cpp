#include "models/fleet/shelf_room.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "models/fleet/job_mix.h"
#include "tests/support/base/near.h"

// Where MIG instances may lie on a GPU, and which sizes of jobs come.

using namespace models::fleet;
using support::near;

// NVIDIA, MIG User Guide, supported profiles of the A100 and H100: 7, 4, 3, 2, 1 and 1 instances.
TEST_CASE("MIG: a GPU holds as many instances of one profile as the guide prints") {
  for (const MigProfile& profile : mig_profiles()) {
    const std::array<ShelfShape, 1> own{{{.places = profile.memory_slices, .at = profile.at}}};
    Places taken = 0;
    int count = 0;
    for (; fits_shelf(own[0], taken); ++count)
      taken = static_cast<Places>(taken | choose_places(own[0], taken, true, own));
    INFO(profile.name);
    CHECK(count == profile.printed_instances);
    CHECK(count * profile.compute_slices <= mig_compute_slices);
  }
}

// Each half of an A100 is cut on its own, six ways (4, 3, 2+2, 2+1+1, 1+1+2, 1+1+1+1) by three (3, 2+1, 1+1+1), or the
// GPU stays whole: 19, the configurations of the guide's figure.
TEST_CASE("MIG: there are nineteen ways to fill a GPU without the wide profile of one slice") {
  constexpr std::array<std::size_t, 5> profiles{0, 2, 3, 4, 5};
  CHECK(count_full_mig_layouts(profiles) == 19);
}

TEST_CASE("MIG: best placement keeps the room of the largest instance, the first place does not") {
  const JobMix mix = job_mix(Mix::slices, 8);
  std::vector<ShelfShape> shapes;
  for (const JobKind& kind : mix.kinds) shapes.push_back(kind.shape);
  const ShelfShape two = shapes[1];
  REQUIRE(two.places == 2);
  CHECK(choose_places(two, 0, false, shapes) == 0x03);
  // At 4 it leaves the first half whole, where an instance of four may lie.
  CHECK(choose_places(two, 0, true, shapes) == 0x30);
  CHECK_FALSE(fits_shelf({.places = 4, .at = mig_profiles()[3].at}, 0x11));  // six are free, none in the right place
}

TEST_CASE("shelf room: one half of a node, the fuller where there are two") {
  const ShelfShape two{.places = 2, .half = HalfRule::only};
  CHECK(choose_places(two, 0x07, true, {}) == 0x30);  // the first half has one place left
  CHECK(choose_places(two, 0x10, true, {}) == 0x60);  // the second is fuller and has room
  CHECK(choose_places(two, 0x10, false, {}) == 0x03);
  CHECK_FALSE(fits_shelf(two, 0x77));
  CHECK(choose_places({.places = 2, .half = HalfRule::prefer}, 0x77, true, {}) == 0x88);
  CHECK(on_both_halves(0x88));
  CHECK(choose_places({.places = 2}, 0x07, true, {}) == 0x18);
}

// AcmeTrace, data/cluster_summary.csv: mean GPUs and run times.
TEST_CASE("job mixes: fitted sizes have the printed mean and median, run times both too") {
  for (const Mix mix : {Mix::philly, Mix::helios, Mix::seren, Mix::kalos}) {
    const PrintedJobs& printed = *printed_jobs(mix);
    double mean = 0, share = 0;
    for (const SizeShare& s : fitted_sizes(printed.mean_gpus, printed.max_gpus)) {
      mean += s.share * static_cast<double>(s.gpus);
      share += s.share;
    }
    CHECK(near(mean, printed.mean_gpus, 1e-9));
    CHECK(near(share, 1, 1e-12));
    CHECK(fitted_sizes(printed.mean_gpus, printed.max_gpus).front().share >= 0.5);
    const JobMix jobs = job_mix(mix, 4096);
    CHECK(near(jobs.durations.at(0.5), printed.median_run_s, 1e-9));
    CHECK(near(jobs.durations.mean(), printed.mean_run_s, 1e-12));
    CHECK(near(jobs.left_out + 1, 1, 1e-12));
  }
  CHECK(printed_jobs(Mix::gavel) == nullptr);
}

TEST_CASE("job mixes: Gavel's law has the mean that its two parts give, and jobs that are too large are left out") {
  const JobMix mix = job_mix(Mix::gavel, 8);
  double sum = 0;
  constexpr int n = 20'000;
  for (int i = 0; i < n; ++i) sum += mix.durations.at((i + 0.5) / n);
  CHECK(near(sum / n, mix.durations.mean(), 1e-3));
  CHECK(near(mix.durations.mean() / 3600, 16.77, 1e-3));
  const JobMix four = job_mix(Mix::gavel, 4);
  CHECK(near(four.left_out, 0.05, 1e-9));
  CHECK(near(four.kinds.front().share, 0.7 / 0.95, 1e-9));
}
