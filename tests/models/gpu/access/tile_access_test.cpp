#include "models/gpu/access/tile_access.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace gpu = models::gpu;

namespace {

using gpu::SharedTile, gpu::TileWalk;

/// Wavefronts of a walk over a tile as it is written (pad_bytes 0, no swizzle), padded or swizzled; 0 where it faults.
int wavefronts(const SharedTile& tile, TileWalk walk, std::int64_t width, std::int64_t pad_bytes = 0,
               std::int64_t column = 0) {
  auto lanes = gpu::walk_tile(tile, walk, width, 0, column);
  REQUIRE(lanes);
  for (std::int64_t& a : *lanes) a = gpu::padded_address(tile, pad_bytes, a);
  const auto access = gpu::shared_access(*lanes, width);
  return access ? access->wavefronts : 0;
}
int swizzled(const SharedTile& tile, TileWalk walk, std::int64_t width, const gpu::RowSwizzle& swizzle,
             std::int64_t row = 0, std::int64_t column = 0) {
  auto lanes = gpu::walk_tile(tile, walk, width, row, column);
  REQUIRE(lanes);
  REQUIRE(gpu::check_swizzle(tile, swizzle, width));
  for (std::int64_t& a : *lanes) a = gpu::swizzled_address(tile, swizzle, a);
  const auto access = gpu::shared_access(*lanes, width);
  REQUIRE(access);
  return access->wavefronts;
}

/// The unit's place among the 128 / unit places of a line of banks.
std::int64_t slot(const SharedTile& tile, const gpu::RowSwizzle& s, std::int64_t row, std::int64_t unit) {
  return gpu::swizzled_address(tile, s, row * tile.row_bytes() + unit * s.unit_bytes) % 128 / s.unit_bytes;
}

}  // namespace

TEST_CASE("tile: the fitted swizzle frees rows and columns of conflicts, for every row of 1 to 64 units") {
  for (const std::int64_t unit : {4, 8, 16}) {
    const std::int64_t places = 128 / unit;
    const std::uint64_t all = (std::uint64_t{1} << places) - 1;
    for (std::int64_t per_row = 1; per_row <= 64; ++per_row) {
      const SharedTile tile{.rows = 2 * places, .columns = per_row, .element_bytes = unit};
      const auto s = gpu::fitted_swizzle(tile, unit);
      INFO("units of " << unit << " B, " << per_row << " per row");
      REQUIRE(gpu::check_swizzle(tile, s, unit));
      for (std::int64_t unit_number = 0; unit_number < per_row; ++unit_number)
        for (std::int64_t first = 0; first < tile.rows; first += places) {
          std::uint64_t seen = 0;
          for (std::int64_t r = first; r < first + places; ++r)
            seen |= std::uint64_t{1} << slot(tile, s, r, unit_number);
          REQUIRE(seen == all);
        }
      // A row keeps its own units, and any aligned `places` of them lie in all banks.
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        std::uint64_t row_units = 0;
        for (std::int64_t c = 0; c < per_row; ++c) {
          const std::int64_t at = gpu::swizzled_address(tile, s, r * tile.row_bytes() + c * unit);
          REQUIRE(at / tile.row_bytes() == r);
          row_units |= std::uint64_t{1} << (at % tile.row_bytes() / unit);
        }
        REQUIRE(row_units == (per_row == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << per_row) - 1));
        for (std::int64_t c = 0; c + places <= per_row; c += places) {
          std::uint64_t seen = 0;
          for (std::int64_t i = c; i < c + places; ++i) seen |= std::uint64_t{1} << slot(tile, s, r, i);
          REQUIRE(seen == all);
        }
      }
    }
  }
}

TEST_CASE("tile: rows of 32, 64 and 128 bytes get the three modes of CUTLASS, on every offset") {
  const struct {
    std::int64_t row_bytes;
    gpu::Swizzle cute;
  } rows[] = {{32, {1, 4, 3}}, {64, {2, 4, 3}}, {128, {3, 4, 3}}, {256, {3, 4, 4}}};
  for (const auto& row : rows) {
    const SharedTile tile{.rows = 32, .columns = row.row_bytes / 2, .element_bytes = 2};
    const auto s = gpu::fitted_swizzle(tile, 16);
    CAPTURE(row.row_bytes);
    CHECK(gpu::cute_swizzle(tile, s) == row.cute);
    for (std::int64_t at = 0; at < tile.bytes(); at += 2) REQUIRE(gpu::swizzled_address(tile, s, at) == row.cute(at));
  }
  const SharedTile floats;
  CHECK(gpu::cute_swizzle(floats, gpu::fitted_swizzle(floats, 4)) == gpu::Swizzle{5, 2, 5});
  CHECK_FALSE(gpu::cute_swizzle({.columns = 48}, {.unit_bytes = 4, .shift = 0, .mask = 3}));
  CHECK_FALSE(gpu::cute_swizzle(floats, {.unit_bytes = 4, .shift = 0, .mask = 5}));
}

TEST_CASE("tile: ldmatrix takes 8, 16 and 32 wavefronts on rows of 32, 64 and 128 bytes, and 4 padded or swizzled") {
  const struct {
    std::int64_t halves;
    int plain;
  } rows[] = {{16, 8}, {32, 16}, {64, 32}, {128, 32}};
  for (const auto& row : rows) {
    const SharedTile tile{.rows = 16, .columns = row.halves, .element_bytes = 2};
    CAPTURE(row.halves);
    CHECK(wavefronts(tile, TileWalk::ldmatrix, 16) == row.plain);
    CHECK(wavefronts(tile, TileWalk::ldmatrix, 16, 16) == 4);
    CHECK(swizzled(tile, TileWalk::ldmatrix, 16, gpu::fitted_swizzle(tile, 16)) == 4);
  }
}

TEST_CASE("tile: what mma's operands ask of rows, as published for float2 stores, tf32 and half2") {
  const SharedTile c{.columns = 32}, halves{.columns = 64, .element_bytes = 2}, b{.columns = 128};
  CHECK(wavefronts(c, TileWalk::mma_rows, 8) == 8);
  CHECK(wavefronts(c, TileWalk::mma_rows, 8, 16) == 4);  // 36 floats
  CHECK(wavefronts(c, TileWalk::mma_rows, 8, 32) == 2);  // 40: one a phase
  CHECK(wavefronts(halves, TileWalk::mma_rows, 4) == 8);
  CHECK(wavefronts(halves, TileWalk::mma_rows, 4, 16) == 1);  // 72 halves
  CHECK(wavefronts(c, TileWalk::mma_rows, 4, 16) == 1);       // tf32 A, 4 words more
  CHECK(wavefronts(b, TileWalk::mma_columns, 4) == 4);
  CHECK(wavefronts(b, TileWalk::mma_columns, 4, 16) == 2);
  CHECK(wavefronts(b, TileWalk::mma_columns, 4, 32) == 1);  // tf32 B, 8 words more
}

TEST_CASE(
    "tile: swizzled on what its phases take side by side, every walk from an aligned column is free of conflicts") {
  for (const std::int64_t halves : {64, 128, 256})
    for (const TileWalk walk :
         {TileWalk::row, TileWalk::column, TileWalk::ldmatrix, TileWalk::mma_rows, TileWalk::mma_columns})
      for (const std::int64_t width : {1, 2, 4, 8, 16}) {
        const SharedTile tile{.rows = 32, .columns = halves, .element_bytes = 2};
        const std::int64_t unit = gpu::walk_unit_bytes(walk, width);
        CAPTURE(halves, static_cast<int>(walk), width, unit);
        for (std::int64_t column = 0; column < halves; column += 64) {
          const std::int64_t moved = walk == TileWalk::ldmatrix ? 16 : width;
          auto lanes = gpu::walk_tile(tile, walk, width, 0, column);
          REQUIRE(lanes);
          for (std::int64_t& a : *lanes) a = gpu::swizzled_address(tile, gpu::fitted_swizzle(tile, unit), a);
          const auto access = gpu::shared_access(*lanes, moved);
          REQUIRE(access);
          CHECK(access->excess() == 0);
        }
      }
}

TEST_CASE("tile: a column of 32 x 32 floats takes as many wavefronts as its pitch and 32 have in common") {
  const SharedTile tile;
  const int expected[] = {32, 1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1, 16};
  for (int words = 0; words <= 16; ++words)
    CHECK(wavefronts(tile, TileWalk::column, 4, 4 * words, 11) == expected[words]);
  CHECK(wavefronts(tile, TileWalk::column, 16, 4) == 0);  // rows 132 bytes apart: a 16-byte load faults
  for (std::int64_t i = 0; i < 32; ++i) {
    CHECK(swizzled(tile, TileWalk::column, 4, gpu::fitted_swizzle(tile, 4), 0, i) == 1);
    CHECK(swizzled(tile, TileWalk::row, 4, gpu::fitted_swizzle(tile, 4), i) == 1);
  }
}

TEST_CASE("tile: a 16 x 16 tile of halves whose elements are XORed with the row mod 8 keeps a 2-way conflict") {
  const SharedTile tile{.rows = 16, .columns = 16, .element_bytes = 2};
  CHECK(wavefronts(tile, TileWalk::column, 2) == 4);
  CHECK(swizzled(tile, TileWalk::column, 2, {.unit_bytes = 2, .shift = 0, .mask = 7}) == 2);
  CHECK(gpu::check_swizzle(tile, {.unit_bytes = 2, .shift = 0, .mask = 7}, 16).error ==
        "The XOR moves units of 2 B and tears apart the 16 B that a lane moves at once: choose a larger unit.");
  const auto fitted = gpu::fitted_swizzle(tile, 16);
  CHECK((fitted.shift == 2 && fitted.mask == 1));  // chunk ^ (row >> 2 & 1)
  CHECK(swizzled(tile, TileWalk::column, 16, fitted) == 4);
  CHECK(wavefronts(tile, TileWalk::column, 16) == 8);
}

TEST_CASE("tile: walks wrap, and what lies outside is refused") {
  const SharedTile tile{.rows = 8, .columns = 16};
  const auto row = gpu::walk_tile(tile, TileWalk::row, 4, 7, 0);
  REQUIRE(row);
  CHECK((*row)[15] == 8 * 64 - 4);
  CHECK((*row)[16] == 0);
  const auto column = gpu::walk_tile(tile, TileWalk::column, 4, 0, 15);
  REQUIRE(column);
  CHECK((*column)[7] == 7 * 64 + 60);
  CHECK((*column)[8] == 0);
  CHECK(gpu::walk_tile(tile, TileWalk::column, 4, 0, 16).error ==
        "Column 16 lies outside of a tile of 16 columns, which are counted from 0: choose a smaller one.");
  CHECK_FALSE(gpu::walk_tile(tile, TileWalk::row, 4, 8, 0));
  CHECK_FALSE(gpu::walk_tile(tile, TileWalk::row, 3, 0, 0));
  CHECK_FALSE(gpu::walk_tile({.rows = 8, .columns = 3}, TileWalk::row, 8, 0, 0));
  CHECK_FALSE(gpu::check_swizzle({.columns = 48}, {.unit_bytes = 4, .shift = 0, .mask = 16}, 4));
  CHECK(gpu::check_swizzle({.columns = 48}, {.unit_bytes = 4, .shift = 0, .mask = 15}, 4));
}

TEST_CASE("tile: padding has no logical address, and everything else has its own") {
  const SharedTile tile{.rows = 8, .columns = 16, .element_bytes = 2};
  for (std::int64_t at = 0; at < tile.bytes(); ++at)
    REQUIRE(gpu::logical_of_padded(tile, 6, gpu::padded_address(tile, 6, at)) == at);
  CHECK_FALSE(gpu::logical_of_padded(tile, 6, 32));
  CHECK_FALSE(gpu::logical_of_padded(tile, 6, 37));
  CHECK(gpu::logical_of_padded(tile, 6, 38) == 32);
  CHECK(gpu::row_alignment(132) == 4);
  CHECK(gpu::row_alignment(4096) == 128);
}

TEST_CASE("tile: counting wavefronts alone says what the access says") {
  std::uint64_t state = 7;
  const auto below = [&](std::uint64_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % n;
  };
  for (int round = 0; round < 400; ++round) {
    const auto width = std::int64_t{1} << below(5);
    const std::uint64_t spread = std::uint64_t{1} << (3 + below(8));
    gpu::LaneAddresses lanes{};
    for (std::int64_t& a : lanes)
      a = below(8) == 0 ? gpu::inactive_lane : width * static_cast<std::int64_t>(below(spread));
    const auto access = gpu::shared_access(lanes, width);
    const auto count = gpu::count_wavefronts(lanes, width);
    REQUIRE(access);
    REQUIRE(count);
    CHECK(count->wavefronts == access->wavefronts);
    CHECK(count->ideal == access->ideal);
  }
  gpu::LaneAddresses lanes{};
  lanes[3] = 6;
  CHECK_FALSE(gpu::count_wavefronts(lanes, 4));
  CHECK(gpu::count_wavefronts(lanes, 2));
  CHECK_FALSE(gpu::count_wavefronts(lanes, 3));
}

// Lanes of a phase that share a row lie side by side, so the unit must be as wide as all of them.
TEST_CASE("tile: a column of fewer rows than lanes is freed of conflicts where any XOR does it") {
  for (const std::int64_t rows : {2, 4, 8, 16, 32})
    for (const std::int64_t columns : {32, 64, 128})
      for (const std::int64_t width : {4, 8, 16})
        for (const std::int64_t column : {0, 5, 31}) {
          const SharedTile tile{.rows = rows, .columns = columns, .element_bytes = 4};
          const auto lanes = gpu::walk_tile(tile, TileWalk::column, width, 0, column);
          REQUIRE(lanes);
          const auto fit = gpu::fit_swizzle(tile, *lanes, width, gpu::walk_unit_bytes(TileWalk::column, width));
          INFO(rows << " x " << columns << ", " << width << " B, column " << column);
          REQUIRE(fit);
          CHECK(gpu::check_swizzle(tile, fit->swizzle, width));
          CHECK(fit->wavefronts == fit->ideal);
          CHECK(swizzled(tile, TileWalk::column, width, fit->swizzle, 0, column) == fit->wavefronts);
        }
  // Twelve rows do not divide 32 lanes: rows are read three times and twice, and that no XOR spreads evenly.
  const SharedTile odd{.rows = 12, .columns = 32, .element_bytes = 4};
  const auto lanes = gpu::walk_tile(odd, TileWalk::column, 4, 0, 0);
  const auto fit = gpu::fit_swizzle(odd, *lanes, 4, 4);
  REQUIRE(fit);
  CHECK(fit->searched);
  CHECK(fit->wavefronts < 12);
  for (const std::int64_t unit : {4, 8, 16, 32, 64})
    for (int shift = 0; shift < 6; ++shift)
      for (std::int64_t mask = 0; mask < 128 / unit; ++mask)
        CHECK(swizzled(odd, TileWalk::column, 4, {unit, shift, mask}) >= fit->wavefronts);
}
