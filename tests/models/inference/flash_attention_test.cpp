#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <utility>

#include "models/base/integer_math.h"
#include "models/inference/flash_attention.h"
#include "models/inference/flash_attention_run.h"
#include "models/inference/flash_attention_warps.h"
#include "tests/support/base/near.h"

using namespace models::inference;
using models::as_double;
using support::near;

namespace {

FlashChip flash_h100() {
  return {.matmul_flops_per_s = 989.4e12,
          .exponentials_per_s = 132 * 16 * 1.83e9,
          .memory_bytes_per_s = 3.35e12,
          .l2_bytes_per_s = 0,
          .l2_bytes = 52428800,
          .multiprocessors = 132,
          .block_shared_bytes = 232448,
          .shared_bytes = 233472,
          .reserved_bytes = 1024,
          .register_bytes = 262144};
}

FlashCount counted(const FlashShape& s, const FlashTile& tile, FlashSchedule schedule, FlashPass pass,
                   const FlashChip& chip = flash_h100()) {
  const auto out = count_flash(s, tile, schedule, pass, chip);
  INFO(out.error);
  REQUIRE(out);
  return *out;
}

bool visible_tile(const FlashShape& s, const FlashTile& tile, std::int64_t i, std::int64_t j) {
  const std::int64_t last_query = std::min(s.sequence, (i + 1) * tile.rows) - 1;
  return !s.causal || j * tile.columns <= last_query;
}

}  // namespace

TEST_CASE("flash attention: a layer of 8,192 tokens and 32 heads moves 17.45 GB as a square and 0.27 GB as tiles") {
  const FlashShape s;
  const FlashWork square = count_square(s, FlashPass::forward);
  // Four passes over 32 x 8192^2 scores of 2 B, and Q, K, V and O once.
  CHECK(square.hbm_bytes == 4 * 32 * 8192.0 * 8192 * 2 + 4 * 32 * 8192.0 * 128 * 2);
  CHECK(square.matmul_flops == 4 * 32 * 8192.0 * 8192 * 128);
  const FlashCount tiles = counted(s, {}, FlashSchedule::fa2, FlashPass::forward);
  CHECK(tiles.work.hbm_bytes == 4 * 32 * 8192.0 * 128 * 2 + 32 * 8192.0 * 4);
  CHECK(tiles.walk.rereads == 64);  // K and V come from L2 for each tile of queries
  CHECK(tiles.work.l2_bytes == 32 * (2 * 8192.0 * 128 * 2 + 8192 * 4 + 64 * 2 * 8192.0 * 128 * 2));
  CHECK(tiles.work.flops() > square.flops());
  CHECK(tiles.work.matmul_flops == square.matmul_flops);
  // Dao et al. 2022, section 3.1: beyond Q, K, V and O, one number a row: 32 KiB a head and not 1 MB.
  CHECK(tiles.work.state_bytes == 32 * 32768.0);
}

TEST_CASE("flash attention: an A100's unfused scores have 113.8 FLOP/B at 2,048 tokens, under its ridge of 156") {
  CHECK(near(scores_intensity({.sequence = 2048, .head_dim = 128}), 113.8, 1e-3));
}

TEST_CASE("flash attention: counts are those of a walk over single tiles") {
  for (const bool causal : {false, true})
    for (const std::int64_t sequence : {1, 100, 512, 777})
      for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{64, 64}, {128, 32}, {48, 112}}) {
        const FlashShape s{.sequence = sequence, .head_dim = 64, .heads = 3, .batch = 2, .causal = causal};
        const FlashTile tile{.rows = rows, .columns = columns, .stages = 1};
        FlashChip chip = flash_h100();
        chip.l2_bytes = 0;
        const double n = as_double(sequence);
        double pairs = 0, keys = 0, tiles = 0, fa1 = 0, skipped = 0;
        std::set<std::int64_t> begun;
        for (std::int64_t j = 0; j * columns < sequence; ++j)
          for (std::int64_t i = 0; i * rows < sequence; ++i) {
            const double r = as_double(std::min(rows, sequence - i * rows)),
                         c = as_double(std::min(columns, sequence - j * columns));
            if (!visible_tile(s, tile, i, j)) {
              ++skipped;
              continue;
            }
            ++tiles;
            pairs += r * c;
            keys += c;
            // FA-1: queries in; result, maximum and sum in, unless this is their first tile; all three out.
            const bool first = begun.insert(i).second,
                       last = !visible_tile(s, tile, i, j + 1) || (j + 1) * columns >= sequence;
            fa1 += r * 64 * 2 + (first ? 0 : r * 64 * 4 + r * 8) + r * 64 * (last ? 2 : 4) + r * 8;
          }
        const FlashCount two = counted(s, tile, FlashSchedule::fa2, FlashPass::forward, chip);
        CHECK(two.walk.tiles == tiles);
        CHECK(two.walk.skipped_tiles == skipped);
        CHECK(two.walk.pairs == pairs);
        CHECK(two.work.matmul_flops == 6 * 4 * 64 * pairs);
        CHECK(near(two.work.l2_bytes, 6 * (2 * 128 * n + 4 * n + 2 * 128 * keys)));
        const FlashCount one = counted(s, tile, FlashSchedule::fa1, FlashPass::forward, chip);
        CHECK(near(one.work.l2_bytes, 6 * (2 * 128 * n + fa1)));
        CHECK(near(one.work.hbm_bytes, one.work.l2_bytes));
      }
}

TEST_CASE("flash attention: heads are fetched once a wave that touches them, or once where L2 holds them") {
  // Blocks in order, head after head: a brute count of the waves that touch each head.
  for (const std::int64_t multiprocessors : {1, 7, 12, 132})
    for (const std::int64_t heads : {1, 5, 32}) {
      const FlashShape s{.sequence = 1000, .heads = heads};
      const FlashTile tile{.rows = 128, .columns = 128, .stages = 2};  // 8 tiles of rows
      FlashChip chip = flash_h100();
      chip.multiprocessors = multiprocessors;
      chip.l2_bytes = 0;
      std::set<std::pair<std::int64_t, std::int64_t>> touched;
      for (std::int64_t block = 0; block < 8 * heads; ++block) touched.insert({block / multiprocessors, block / 8});
      INFO(multiprocessors << " multiprocessors, " << heads << " heads");
      const FlashCount out = counted(s, tile, FlashSchedule::fa2, FlashPass::forward, chip);
      CHECK(near(out.walk.fetches * static_cast<double>(heads), static_cast<double>(touched.size())));
      CHECK(out.walk.kept_share == 0);
      chip.l2_bytes = 1e12;
      CHECK(counted(s, tile, FlashSchedule::fa2, FlashPass::forward, chip).walk.fetches == 1);
    }
}

TEST_CASE("flash attention: recomputing costs five matmuls backward instead of four, and still saves bytes and time") {
  const FlashShape s;
  const FlashChip chip = flash_h100();
  const FlashWork square = count_square(s, FlashPass::backward);
  const FlashCount tiles = counted(s, {}, FlashSchedule::fa3, FlashPass::backward);
  CHECK(near(tiles.work.matmul_flops / square.matmul_flops, 5.0 / 4));
  const FlashCount both = counted(s, {}, FlashSchedule::fa3, FlashPass::both);
  CHECK(near(both.work.matmul_flops / count_square(s, FlashPass::both).matmul_flops, 7.0 / 6));
  CHECK(both.work.hbm_bytes < count_square(s, FlashPass::both).hbm_bytes / 10);
  CHECK(flash_times(both.work, chip).all_s() < square_time_s(s, FlashPass::both, chip) / 2);
}

TEST_CASE("flash attention: Figure 2 of Dao et al. 2022, GPT-2 medium on an A100") {
  // 1,024 tokens, 16 heads of 64, batch 64, forward and backward: 40.3 GB and 41.7 ms unfused (with dropout and mask in
  // passes of their own), 4.4 GB and 7.3 ms as FlashAttention.
  FlashChip a100 = flash_h100();
  a100.matmul_flops_per_s = 312e12;
  a100.exponentials_per_s = 108 * 16 * 1.41e9;
  a100.memory_bytes_per_s = 1.555e12;
  a100.l2_bytes = 41943040;
  a100.multiprocessors = 108;
  a100.block_shared_bytes = 166912;
  a100.shared_bytes = 167936;
  const FlashShape s{.sequence = 1024, .head_dim = 64, .heads = 16, .batch = 64};
  const FlashTile tile{.rows = 64, .columns = 256, .stages = 1};  // FA-1 takes 256 keys at heads of 64
  CHECK(count_square(s, FlashPass::both).hbm_bytes < 40.3e9);
  CHECK(count_square(s, FlashPass::both).hbm_bytes > 40.3e9 / 2);
  CHECK(square_time_s(s, FlashPass::both, a100) < 41.7e-3);
  const FlashCount one = counted(s, tile, FlashSchedule::fa1, FlashPass::both, a100);
  CHECK(near(one.work.hbm_bytes, 4.4e9, 0.1));
  // 75.2 over 66.6 GFLOP is 13 % more; matmuls alone are seven to six.
  CHECK(near(one.work.flops() / count_square(s, FlashPass::both).flops(), 75.2 / 66.6, 0.05));
  CHECK(flash_times(one.work, a100).all_s() < 7.3e-3);
}

TEST_CASE("flash attention: exponentials take half of the matmuls' time on an H100 with heads of 128") {
  // Shah et al. 2024: 989 TFLOP/s of matmul, 3.9 TFLOP/s of special functions, 512 times as many FLOPs: 50 %.
  const FlashCount out = counted({}, {}, FlashSchedule::fa3, FlashPass::forward);
  const FlashTimes t = flash_times(out.work, flash_h100());
  CHECK(near(t.exponential_s / t.matmul_s, 0.5, 0.03));
  CHECK(near(t.all_s(), t.matmul_s));
  CHECK(near(t.in_turn_s(), t.matmul_s + t.exponential_s));
}

TEST_CASE("flash attention: no published kernel beats the bound of its shape") {
  // TFLOP/s as printed: FA-3 on an H100 (tritonbench pull 1254), cuDNN on our own H100.
  struct Row {
    std::int64_t sequence, heads, batch;
    double tflops;
  };
  for (const Row& r : {Row{1024, 48, 4, 541.291}, Row{8192, 48, 4, 638.572}, Row{8192, 16, 2, 658.1}}) {
    const FlashShape s{.sequence = r.sequence, .heads = r.heads, .batch = r.batch};
    const FlashCount out = counted(s, {}, FlashSchedule::fa3, FlashPass::forward);
    const double bound = flash_counted_flops(s, FlashPass::forward) / flash_times(out.work, flash_h100()).all_s();
    CHECK(r.tflops * 1e12 < bound);
    CHECK(r.tflops * 1e12 > 0.5 * bound);
  }
}

TEST_CASE("flash attention: shared memory and registers refuse a tile that does not fit") {
  CHECK(flash_shared_bytes({}, {}, FlashSchedule::fa2, FlashPass::forward) == 160 * 1024);
  CHECK(flash_shared_bytes({}, {}, FlashSchedule::fa1, FlashPass::forward) == 128 * 1024);
  CHECK(flash_register_bytes({}, {}, FlashPass::forward) == 128 * 1024);
  CHECK(flash_blocks_per_multiprocessor({}, {}, FlashSchedule::fa2, FlashPass::forward, flash_h100()) == 1);
  CHECK(flash_blocks_per_multiprocessor({}, {.rows = 64, .columns = 64}, FlashSchedule::fa2, FlashPass::forward,
                                        flash_h100()) == 2);
  const auto shared =
      count_flash({}, {.rows = 256, .columns = 128}, FlashSchedule::fa2, FlashPass::forward, flash_h100());
  CHECK(
      near(flash_shared_bytes({}, {.rows = 256, .columns = 128}, FlashSchedule::fa2, FlashPass::forward), 192 * 1024));
  CHECK(shared);
  const auto large =
      count_flash({}, {.rows = 256, .columns = 192}, FlashSchedule::fa2, FlashPass::forward, flash_h100());
  CHECK(large.error.find("shared memory") != std::string::npos);
  const auto sums =
      count_flash({}, {.rows = 256, .columns = 256, .stages = 1}, FlashSchedule::fa2, FlashPass::forward, flash_h100());
  CHECK(sums.error.find("registers") != std::string::npos);
  CHECK_FALSE(count_flash({.sequence = 0}, {}, FlashSchedule::fa2, FlashPass::forward, flash_h100()));
}

TEST_CASE("flash attention: tiles really computed give the square's result and gradients, whatever the tile") {
  for (const bool causal : {false, true})
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{16, 16}, {32, 8}, {7, 20}, {128, 128}})
      for (const auto arithmetic : {FlashArithmetic::fp64, FlashArithmetic::fp32, FlashArithmetic::bf16}) {
        const auto out = run_flash_attention({.tokens = 96,
                                              .rows = rows,
                                              .columns = columns,
                                              .causal = causal,
                                              .backward = true,
                                              .arithmetic = arithmetic,
                                              .seed = 3});
        REQUIRE(out);
        const double most = arithmetic == FlashArithmetic::fp64   ? 1e-13
                            : arithmetic == FlashArithmetic::fp32 ? 5e-6
                                                                  : 0.03;
        CHECK(out->tiles.forward <= most);
        CHECK(out->tiles.backward <= most);
        CHECK(out->square.forward <= most);
        CHECK(out->square.backward <= most);
        if (arithmetic == FlashArithmetic::bf16) CHECK(out->tiles.forward > 1e-4);
        if (columns < 96) CHECK(out->unscaled_error > 0.01);
      }
}

TEST_CASE("flash attention: running maximum and sum of a row are those of the keys that it has met") {
  const auto out = run_flash_attention({.rows = 16, .columns = 24, .causal = true, .seed = 5});
  REQUIRE(out);
  std::int64_t grown = 0, later = 0;
  for (std::int64_t i = 0; i < 128; ++i)
    for (std::int64_t tile = 0; tile < out->visited(i / 16); ++tile) {
      double most = -HUGE_VAL, sum = 0;
      const std::int64_t keys = std::min<std::int64_t>(i + 1, std::min<std::int64_t>(128, (tile + 1) * 24));
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(tile);
      for (std::int64_t k = 0; k < keys; ++k) most = std::max(most, out->scores.at(row, static_cast<std::size_t>(k)));
      for (std::int64_t k = 0; k < keys; ++k) sum += std::exp(out->scores.at(row, static_cast<std::size_t>(k)) - most);
      CHECK(out->largest.at(row, column) == most);
      CHECK(near(out->sum.at(row, column), sum, 1e-12));
      if (tile == 0 || tile * 24 > i) continue;
      ++later;
      grown += out->turn(i, tile) < 1;
    }
  CHECK(out->later_tiles == later);
  CHECK(out->new_maxima == grown);
  CHECK(grown > later / 10);
  CHECK_FALSE(run_flash_attention({.tokens = 257}));
}

TEST_CASE("flash attention: warps that take turns keep the tensor cores busy, those that exchange do not") {
  const MultiprocessorRates h100{.matmul_flops = 4096, .exponentials = 16, .shared_bytes = 128};
  const auto warps = [&](FlashSchedule schedule, std::int64_t blocks) {
    const auto out = run_flash_warps({}, {}, schedule, blocks, h100, 12);
    REQUIRE(out);
    return *out;
  };
  const FlashWarps one = warps(FlashSchedule::fa1, 1), two = warps(FlashSchedule::fa2, 1),
                   three = warps(FlashSchedule::fa3, 1);
  // 4 x 128^3 FLOP over 4,096 a clock; 128^2 exponentials over 16; four partial results of 64 KiB written and read.
  CHECK(two.matmul_clocks == 2048);
  CHECK(two.exponential_clocks == 1024);
  CHECK(one.exchange_clocks == 4096);
  CHECK(near(two.tensor_busy, 2.0 / 3, 0.03));
  CHECK(near(one.tensor_busy, 2.0 / 7, 0.1));
  CHECK(three.tensor_busy > 0.9);
  CHECK(warps(FlashSchedule::fa2, 2).tensor_busy > 0.9);
  CHECK(three.exchange_bytes == 0);
  // One unit serves one worker at a time, and all tiles are computed.
  double tensor = 0;
  for (const FlashSpan& a : three.spans) {
    if (a.unit == FlashUnit::tensor_core) tensor += a.end - a.start;
    for (const FlashSpan& b : three.spans)
      if (&a != &b && (a.unit == b.unit || a.worker == b.worker)) CHECK((a.end <= b.start || b.end <= a.start));
  }
  CHECK(near(tensor, 12 * 2048));
  CHECK_FALSE(run_flash_warps({}, {}, FlashSchedule::fa2, 1, {.matmul_flops = 0}, 4));
}
