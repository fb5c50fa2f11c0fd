#include "models/machine/tiling_study.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include "tests/models/machine/tiled.h"
#include "tests/support/base/near.h"

using models::Schedule;
using models::TilingInputs;

using support::near;

namespace {

/// A100: 108 SMs, tiles of 256 x 128: the example of NVIDIA's matrix multiplication guide.
TilingInputs guide(std::int64_t n) {
  TilingInputs in;
  in.m = 2304;
  in.n = n;
  in.k = 4096;
  in.tile_m = 256;
  in.tile_n = 128;
  return in;
}
/// The 384 x 384 x 128 product on 4 SMs of figure 1 in the Stream-K paper (Osama et al. 2023).
TilingInputs paper(std::int64_t tile_n) {
  TilingInputs in;
  in.m = in.n = 384;
  in.k = 128;
  in.tile_m = 128;
  in.tile_n = tile_n;
  in.tile_k = 4;
  in.sm_count = 4;
  return in;
}

models::Chip four_unit_chip() {
  models::Chip c;
  c.name = "Four";
  c.compute_units = 4;
  c.dense_peak_flops_per_s[static_cast<std::size_t>(models::Format::bf16)] = 8e12;
  c.dense_peak_flops_per_s[static_cast<std::size_t>(models::Format::fp32)] = 1e12;
  c.memory_bandwidth_bytes_per_s = 1e12;
  c.boost_clock_hz = 1e9;
  return c;
}

}  // namespace

// Figure 1: nine tiles on four SMs keep 75 % of them busy, eighteen half tiles 90 %, an even share of the 288 steps all
// of them.
TEST_CASE("the Stream-K paper's first figure") {
  CHECK(near(tiled(paper(128)).wave_efficiency, 0.75));
  CHECK(near(tiled(paper(64)).wave_efficiency, 0.90));
  TilingInputs in = paper(128);
  in.schedule = Schedule::stream_k;
  CHECK(near(tiled(in).wave_efficiency, 1));
  // 72 steps a block, 32 a tile: block 0 makes tiles 0 and 1 and the first quarter of tile 2, which block 1 completes.
  const auto r = tiled(in);
  CHECK(models::tile_work(in, r, 1, 0).blocks == 1);
  const auto shared = models::tile_work(in, r, 2, 0);
  CHECK(shared.first_block == 0);
  CHECK(shared.blocks == 2);
}

TEST_CASE("a chip's figures, what others take of it, and its vector units") {
  const auto all = models::tiling_on(four_unit_chip(), models::Format::bf16, 0, 35);
  REQUIRE(all);
  CHECK(all->sm_count == 4);
  CHECK(all->peak_flops_per_s == 8e12);
  CHECK(all->vector_flops_per_s == 1e12);
  CHECK(all->sm_bandwidth_bytes_per_s == 35e9);
  const auto one_taken = models::tiling_on(four_unit_chip(), models::Format::bf16, 1, 35);
  REQUIRE(one_taken);
  CHECK(one_taken->sm_count == 3);
  CHECK(one_taken->peak_flops_per_s == 6e12);
  CHECK(one_taken->bandwidth_bytes_per_s == 1e12);
  // FP32 runs on the vector units, which do not care about alignment.
  const auto vector = models::tiling_on(four_unit_chip(), models::Format::fp32, 0, 35);
  REQUIRE(vector);
  CHECK(vector->misaligned_rate == 1);
  CHECK(vector->vector_flops_per_s == vector->peak_flops_per_s);
  CHECK(models::tiling_on(four_unit_chip(), models::Format::bf16, 4, 35).error ==
        "Four has 4 compute units, so at most 3 can be taken away.");
  CHECK(models::tiling_on(four_unit_chip(), models::Format::fp8, 0, 35).error ==
        "Four states no dense FP8 peak; choose another format or chip.");
}

TEST_CASE("the losses multiply to the effective rate") {
  TilingInputs in = guide(1537);
  in.k = 1000;
  in.schedule = Schedule::split_k;
  in.split = 3;
  const auto r = tiled(in);
  const auto l = models::losses_of(r);
  CHECK(near(in.peak_flops_per_s * l.edge * l.depth * l.idle * l.alignment * l.memory * l.reduction,
             r.effective_flops_per_s));
  CHECK(l.reduction < 1);
  CHECK(l.alignment < 1);
}

// 9 tiles down: 12 columns of tiles fill a wave of 108, 24 fill two.
TEST_CASE("columns that cost nothing end where the wave does") {
  const auto over = models::free_range(guide(1537), tiled(guide(1537)));
  CHECK(over.below_n == 1536);
  CHECK(over.last_n == 3072);
  const auto full = models::free_range(guide(1536), tiled(guide(1536)));
  CHECK(full.below_n == 0);
  CHECK(full.last_n == 1536);
  for (const Schedule schedule : {Schedule::data_parallel, Schedule::split_k, Schedule::stream_k}) {
    TilingInputs in = guide(1700);
    in.schedule = schedule;
    in.split = 4;
    const auto r = tiled(in);
    const auto range = models::free_range(in, r);
    in.n = range.last_n;
    CHECK(tiled(in).compute_s <= r.compute_s * 1.5);  // alignment may only help
    const auto last = tiled(in);
    in.n = range.last_n + 128;
    CHECK(tiled(in).compute_s > last.compute_s);
  }
}

TEST_CASE("the saw-tooth agrees with the matmul at every corner") {
  TilingInputs in = guide(1);
  const auto saw = models::sawtooth(in, 4000);
  REQUIRE(saw.size() > 60);
  CHECK(saw.front().n == 1);
  CHECK(saw.back().n == 4000);
  double best = 0;
  std::int64_t best_n = 0, cliffs = 0;
  for (std::size_t i = 0; i < saw.size(); ++i) {
    in.n = saw[i].n;
    in.alignment_rule = models::AlignmentRule::preferred;
    const auto r = tiled(in);
    if (r.alignment_bytes >= 16) CHECK(near(saw[i].aligned, r.effective_flops_per_s / in.peak_flops_per_s, 1e-9));
    if (r.alignment_bytes == 2) {
      CHECK(near(saw[i].preferred, r.effective_flops_per_s / in.peak_flops_per_s, 1e-9));
      in.alignment_rule = models::AlignmentRule::required;
      CHECK(near(saw[i].required, tiled(in).effective_flops_per_s / in.peak_flops_per_s, 1e-9));
    }
    if (i > 0 && saw[i].waves > saw[i - 1].waves) {
      ++cliffs;
      CHECK(saw[i].n == saw[i - 1].n + 1);
      CHECK(saw[i].aligned < saw[i - 1].aligned);
    }
    if (saw[i].aligned > best + 1e-12) {
      best = saw[i].aligned;
      best_n = saw[i].n;
    }
  }
  CHECK(cliffs == 2);  // after 1,536 and 3,072
  CHECK(best_n == 1536);
}

TEST_CASE("folded, the saw-tooth still has its cliffs") {
  const auto saw = models::sawtooth(guide(1), 200000, 100);
  CHECK(saw.size() <= 400);
  std::size_t cliffs = 0;
  for (std::size_t i = 1; i < saw.size(); ++i) {
    CHECK(saw[i].n > saw[i - 1].n);
    cliffs += saw[i].n == saw[i - 1].n + 1 && saw[i].waves == saw[i - 1].waves + 1;
  }
  CHECK(cliffs >= 90);  // one for each fold of 16 columns of tiles, as a wave is 12
}

TEST_CASE("around 4097 every eighth column is whole again") {
  TilingInputs in;
  in.n = 4097;
  const auto points = models::neighbours(in, 12);
  REQUIRE(points.size() == 25);
  for (const auto& p : points) {
    if (p.n % 8 == 0)
      CHECK(p.preferred == p.required);
    else
      CHECK(p.required < p.preferred);
  }
  CHECK(points[12].n == 4097);
  CHECK(points[12].alignment_bytes == 2);
  CHECK(points[19].n == 4104);
  CHECK(near(points[19].preferred / points[12].preferred, 4104.0 / 4097 / in.misaligned_rate, 1e-9));
}

TEST_CASE("tiles are dealt down the columns, wave after wave") {
  const TilingInputs in = guide(1537);
  const auto r = tiled(in);
  CHECK(models::tile_work(in, r, 0, 0).first_block == 0);
  CHECK(models::tile_work(in, r, 1, 0).first_block == 1);
  CHECK(models::tile_work(in, r, 8, 11).wave == 0);  // the 108th
  const auto late = models::tile_work(in, r, 0, 12);
  CHECK(late.wave == 1);
  CHECK(late.used_n == 1.0 / 128);
  CHECK(late.used_m == 1);
  TilingInputs split = in;
  split.schedule = Schedule::split_k;
  split.split = 2;  // 234 blocks: the second halves of tiles 99 and up are in the third wave
  const auto s = tiled(split);
  CHECK(s.waves == 3);
  CHECK(models::tile_work(split, s, 8, 10).wave == 1);
  CHECK(models::tile_work(split, s, 0, 11).wave == 2);
}

TEST_CASE("slots over time add up to the wave efficiency") {
  for (const Schedule schedule : {Schedule::data_parallel, Schedule::split_k, Schedule::stream_k}) {
    TilingInputs in = guide(20000);
    in.schedule = schedule;
    in.split = 3;
    const auto r = tiled(in);
    for (const std::size_t most : {std::size_t{4}, std::size_t{1000}}) {
      const auto spans = models::wave_spans(in, r, most);
      REQUIRE(!spans.empty());
      CHECK(spans.size() <= most + 1);
      double busy = 0, at = 0;
      std::int64_t waves = 0;
      for (const auto& s : spans) {
        CHECK(std::abs(s.start_s - at) <= 1e-15);
        at = s.end_s;
        waves += s.waves;
        busy += static_cast<double>(s.busy_slots) * (s.end_s - s.start_s);
      }
      CHECK(near(at, std::max(r.compute_s, r.memory_s)));
      if (schedule != Schedule::stream_k) CHECK(waves == r.waves);
      // 64 steps a tile do not divide by 3: the split rounds each part up to 22 and its slots look busier than their
      // work.
      const double rounding = schedule == Schedule::split_k ? 66.0 / 64 : 1;
      CHECK(near(busy / (108 * at), r.wave_efficiency * rounding, 1e-9));
    }
  }
}

// One token: 32 tiles on 132 SMs, each SM pulling 64 GB/s. Four or more blocks a tile reach the memory's rate.
TEST_CASE("small M asks for the split that fills the SMs") {
  const TilingInputs in{.m = 1,
                        .tile_m = 16,
                        .sm_count = 132,
                        .peak_flops_per_s = 989.4e12,
                        .bandwidth_bytes_per_s = 3.35e12,
                        .sm_bandwidth_bytes_per_s = 35 * 1.83e9};
  const auto all = models::compare_schedules(in);
  REQUIRE(all);
  CHECK((*all)[0].schedule == Schedule::data_parallel);
  CHECK((*all)[1].split == 2);  // 64 x 64 GB/s is above 3.35 TB/s already, and partial sums cost less
  CHECK((*all)[1].result.time_s < (*all)[0].result.time_s);
  CHECK((*all)[2].result.time_s < (*all)[0].result.time_s);
  // A square matmul of full waves has nothing to gain.
  TilingInputs full = guide(1536);
  CHECK(models::best_split(full)->split == 1);
  full.tile_m = 0;
  CHECK(models::best_split(full).error == "tile_m is 0, but must be from 1 to 1,000,000,000.");
}
