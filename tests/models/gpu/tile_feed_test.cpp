#include "models/gpu/tile_feed.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "models/gpu/occupancy.h"
#include "tests/support/base/near.h"

namespace gpu = models::gpu;
using support::near;

TEST_CASE("tile feed: one sum a thread gets an eighth of an H100's multiply-adds, 8 x 8 sums all of them") {
  const gpu::FmaUnits h100 = gpu::fma_units(90);
  const double shares[] = {0.125, 0.25, 0.5, 1};
  for (int i = 0; i < 4; ++i) {
    const std::int64_t side = std::int64_t{1} << i;
    const gpu::TileFeed feed = gpu::tile_feed(h100, {.rows = side, .columns = side}, 16);
    CHECK(near(feed.shared_memory, shares[i]));
  }
  // 64 lanes need half of it; Turing's shared memory gives half.
  CHECK(near(gpu::tile_feed(gpu::fma_units(80), {.rows = 4, .columns = 4}, 16).shared_memory, 1.0));
  CHECK(near(gpu::tile_feed(gpu::fma_units(75), {.rows = 4, .columns = 4}, 16).shared_memory, 0.5));
  // A column of eight sums reads nine values: measured at 21.9 % of the data sheet's peak on an RTX A6000 (siboehm).
  CHECK(near(gpu::tile_feed(gpu::fma_units(86), {.rows = 8, .columns = 1}, 48).shared_memory, 2.0 / 9));
}

TEST_CASE("tile feed: warps and independent sums cover the latency of a multiply-add alike (Volkov, 2010)") {
  const gpu::FmaUnits units = gpu::fma_units(90);
  for (const std::int64_t warps : {1, 2, 3, 4, 8, 16})
    for (const std::int64_t sums : {1, 2, 4, 16}) {
      const gpu::TileFeed feed = gpu::tile_feed(units, {.rows = sums, .columns = 1, .from_shared = false}, 4 * warps);
      const double in_flight = static_cast<double>(warps * sums);
      CHECK(near(feed.fma_latency, std::min(1.0, in_flight / 4)));
      CHECK(feed.rate == feed.fma_latency);
      CHECK(feed.limit == (in_flight < 4 ? gpu::FeedLimit::fma_latency : gpu::FeedLimit::none));
    }
  // One warp of four schedulers works on one of them.
  CHECK(near(gpu::tile_feed(units, {.rows = 4, .columns = 4, .from_shared = false}, 1).rate, 0.25));
  CHECK(gpu::tile_feed(gpu::fma_units(80), {}, 16).in_flight_needed == 2);
  CHECK(gpu::tile_feed(units, {}, 16).in_flight_needed == 4);
}

TEST_CASE("tile feed: larger tiles need fewer warps, and the number said is the least that covers the latencies") {
  for (const int capability : {75, 80, 90}) {
    const gpu::FmaUnits units = gpu::fma_units(capability);
    std::int64_t before[] = {1 << 20, 1 << 20};  // without and with values that come a step ahead
    for (const std::int64_t side : {1, 2, 4, 8, 16})
      for (const bool prefetch : {false, true}) {
        CAPTURE(capability, side, prefetch);
        const gpu::TileStep step{.rows = side, .columns = side, .prefetch = prefetch};
        const std::int64_t warps = gpu::warps_to_cover_latency(units, step);
        const auto covered = [&](std::int64_t n) {
          const gpu::TileFeed feed = gpu::tile_feed(units, step, n);
          return std::min(feed.fma_latency, feed.load_latency);
        };
        CHECK(near(covered(warps), 1.0));
        CHECK(covered(warps - 1) < 1);
        CHECK(warps <= before[prefetch ? 1 : 0]);
        before[prefetch ? 1 : 0] = warps;
      }
  }
  CHECK(gpu::warps_to_cover_latency(gpu::fma_units(90), {}) == 8);
}

TEST_CASE("tile feed: a scheduler issues loads and multiply-adds; wide loads leave more to these") {
  const gpu::FmaUnits units = gpu::fma_units(90);
  CHECK(near(gpu::tile_feed(units, {.words_per_load = 1}, 16).issue_slots, 0.8));
  CHECK(near(gpu::tile_feed(units, {.words_per_load = 4}, 16).issue_slots, 64.0 / 68));
  CHECK(gpu::tile_feed(gpu::fma_units(80), {.words_per_load = 4}, 16).issue_slots == 1);
}

TEST_CASE("tile feed: the compiled tiles spill at 16 x 16 alone, and 8 x 8 runs at a quarter of an H100's slots") {
  for (const int capability : {70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121}) {
    const auto tiles = gpu::compiled_tiles(capability);
    for (const gpu::CompiledTile& t : tiles) {
      CAPTURE(capability, t.side);
      CHECK((t.spill_store_bytes > 0) == (t.side == 16));
      CHECK(t.registers <= 255);
      if (t.side < 16) CHECK(t.registers > t.side * t.side);
    }
  }
  const gpu::CompiledTile eight = gpu::compiled_tiles(90)[3];
  CHECK(eight.registers == 128);
  gpu::BlockNeeds block{.threads = 256, .registers = eight.registers, .static_shared_bytes = eight.shared_bytes};
  CHECK(gpu::occupancy(*gpu::sm_limits(90), block)->share == 0.25);
}
