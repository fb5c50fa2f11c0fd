#include "models/gpu/access/tile_access.h"

#include <algorithm>
#include <bit>

namespace models::gpu {
namespace {

constexpr std::int64_t all_banks_bytes = shared_banks * bank_bytes;

std::int64_t lowest_bit(std::int64_t n) { return n & -n; }

int log2_of(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

bool power_of_two(std::int64_t n) { return n > 0 && lowest_bit(n) == n; }

std::string bytes_text(std::int64_t n) { return std::to_string(n) + " B"; }

}  // namespace

std::int64_t units_that_swap(const SharedTile& tile, std::int64_t unit_bytes) {
  return lowest_bit(tile.row_bytes() / unit_bytes);
}

RowSwizzle fitted_swizzle(const SharedTile& tile, std::int64_t unit_bytes) {
  const std::int64_t slots = std::max<std::int64_t>(1, all_banks_bytes / unit_bytes);
  const std::int64_t swapped = std::min(units_that_swap(tile, unit_bytes), slots);
  return {.unit_bytes = unit_bytes, .shift = log2_of(slots / swapped), .mask = swapped - 1};
}

Status check_swizzle(const SharedTile& tile, const RowSwizzle& s, std::int64_t width_bytes) {
  if (!power_of_two(s.unit_bytes) || tile.row_bytes() % s.unit_bytes != 0)
    return Status::fail("A row of " + bytes_text(tile.row_bytes()) + " is no whole number of units of " +
                        bytes_text(s.unit_bytes) + ": choose a smaller unit.");
  if (s.mask >= units_that_swap(tile, s.unit_bytes))
    return Status::fail("A row has " + std::to_string(tile.row_bytes() / s.unit_bytes) +
                        " units, and this XOR leads out of it: leave out the higher bits.");
  if (s.mask != 0 && s.unit_bytes < width_bytes)
    return Status::fail("The XOR moves units of " + bytes_text(s.unit_bytes) + " and tears apart the " +
                        bytes_text(width_bytes) + " that a lane moves at once: choose a larger unit.");
  return Status::ok();
}

std::optional<Swizzle> cute_swizzle(const SharedTile& tile, const RowSwizzle& s) {
  if (!power_of_two(tile.row_bytes()) || !power_of_two(s.unit_bytes) || !power_of_two(s.mask + 1)) return std::nullopt;
  const int bits = log2_of(s.mask + 1), base = log2_of(s.unit_bytes);
  const Swizzle cute{.bits = bits, .base = base, .shift = log2_of(tile.row_bytes()) + s.shift - base};
  return cute.admissible() ? std::optional(cute) : std::nullopt;
}

std::int64_t padded_address(const SharedTile& tile, std::int64_t pad_bytes, std::int64_t logical) {
  return logical + logical / tile.row_bytes() * pad_bytes;
}

std::int64_t swizzled_address(const SharedTile& tile, const RowSwizzle& s, std::int64_t logical) {
  const std::int64_t row = logical / tile.row_bytes(), in_row = logical % tile.row_bytes();
  const std::int64_t unit = in_row / s.unit_bytes ^ s.flip(row);
  return row * tile.row_bytes() + unit * s.unit_bytes + in_row % s.unit_bytes;
}

std::optional<std::int64_t> logical_of_padded(const SharedTile& tile, std::int64_t pad_bytes, std::int64_t physical) {
  const std::int64_t pitch = tile.row_bytes() + pad_bytes, row = physical / pitch, in_row = physical % pitch;
  if (in_row >= tile.row_bytes()) return std::nullopt;
  return row * tile.row_bytes() + in_row;
}

Result<LaneAddresses> walk_tile(const SharedTile& tile, TileWalk walk, std::int64_t width_bytes, std::int64_t row,
                                std::int64_t column) {
  using Out = Result<LaneAddresses>;
  const std::int64_t width = walk == TileWalk::ldmatrix ? 16 : width_bytes;
  if (!width_admissible(width)) return Out::fail("One lane moves 1, 2, 4, 8 or 16 B: choose one of these.");
  if (tile.rows < 1 || tile.columns < 1 || tile.element_bytes < 1 || tile.row_bytes() % width != 0)
    return Out::fail("A row of " + bytes_text(tile.row_bytes()) + " is no whole number of accesses of " +
                     bytes_text(width) + ": choose a narrower access.");
  if (walk == TileWalk::row && (row < 0 || row >= tile.rows))
    return Out::fail("Row " + std::to_string(row) + " lies outside of a tile of " + std::to_string(tile.rows) +
                     " rows, which are counted from 0: choose a smaller one.");
  if (walk != TileWalk::row && (column < 0 || column >= tile.columns))
    return Out::fail("Column " + std::to_string(column) + " lies outside of a tile of " + std::to_string(tile.columns) +
                     " columns, which are counted from 0: choose a smaller one.");
  const std::int64_t chunks = tile.row_bytes() / width, first = column * tile.element_bytes / width;
  const std::int64_t deep = tile.rows >= 16 ? 16 : 8;
  LaneAddresses out{};
  for (std::int64_t t = 0; t < warp_lanes; ++t) {
    std::int64_t r = 0, c = 0;
    switch (walk) {
      case TileWalk::row:
        r = row + t / chunks;
        c = t;
        break;
      case TileWalk::column:
        r = t;
        c = first + t / tile.rows;
        break;
      case TileWalk::ldmatrix:
        r = t % deep;
        c = first + t / deep;
        break;
      case TileWalk::mma_rows:
        r = t / 4;
        c = first + t % 4;
        break;
      case TileWalk::mma_columns:
        r = t % 4;
        c = first + t / 4;
        break;
    }
    out[static_cast<std::size_t>(t)] = r % tile.rows * tile.row_bytes() + c % chunks * width;
  }
  return Out::ok(out);
}

std::optional<SharedCount> count_wavefronts(const LaneAddresses& addresses, std::int64_t width_bytes) {
  if (!width_admissible(width_bytes)) return std::nullopt;
  for (const std::int64_t a : addresses)
    if (a != inactive_lane && (a < 0 || a > address_most || a % width_bytes != 0)) return std::nullopt;
  // An aligned 8 or 16 bytes are words of neighbouring banks that go together: they are counted as one unit.
  const std::int64_t unit = std::max(bank_bytes, width_bytes), places = all_banks_bytes / unit;
  const auto lanes = static_cast<std::size_t>(std::min<std::int64_t>(warp_lanes, places));
  SharedCount out;
  for (std::size_t first = 0; first < addresses.size(); first += lanes) {
    std::array<std::int64_t, warp_lanes> distinct{};
    std::array<int, warp_lanes> in_place{};
    std::size_t n = 0;
    int most = 0;
    for (std::size_t lane = first; lane < first + lanes; ++lane) {
      if (addresses[lane] == inactive_lane) continue;
      const std::int64_t number = addresses[lane] / unit;
      const auto seen = distinct.begin() + static_cast<std::ptrdiff_t>(n);
      if (std::find(distinct.begin(), seen, number) != seen) continue;
      distinct[n++] = number;
      most = std::max(most, ++in_place[static_cast<std::size_t>(number % places)]);
    }
    out.wavefronts += most;
    out.ideal += static_cast<int>((static_cast<std::int64_t>(n) + places - 1) / places);
  }
  return out;
}

namespace {

std::optional<SharedCount> count_with(const SharedTile& tile, const RowSwizzle& swizzle, LaneAddresses lanes,
                                      std::int64_t width_bytes) {
  for (std::int64_t& a : lanes)
    if (a != inactive_lane) a = swizzled_address(tile, swizzle, a);
  return count_wavefronts(lanes, width_bytes);
}

}  // namespace

std::optional<FittedSwizzle> fit_swizzle(const SharedTile& tile, const LaneAddresses& lanes, std::int64_t width_bytes,
                                         std::int64_t unit_bytes) {
  if (!count_wavefronts(lanes, width_bytes)) return std::nullopt;
  FittedSwizzle best{.swizzle = fitted_swizzle(tile, unit_bytes)};
  const bool fits = static_cast<bool>(check_swizzle(tile, best.swizzle, width_bytes));
  const auto first = count_with(tile, fits ? best.swizzle : RowSwizzle{.unit_bytes = unit_bytes}, lanes, width_bytes);
  if (!first) return std::nullopt;
  if (!fits) best.swizzle.mask = 0;
  best.wavefronts = first->wavefronts;
  best.ideal = first->ideal;
  if (best.wavefronts == best.ideal) return best;
  best.searched = true;
  const auto try_mask = [&](std::int64_t unit, int shift, std::int64_t mask) {
    const RowSwizzle other{.unit_bytes = unit, .shift = shift, .mask = mask};
    const auto count = count_with(tile, other, lanes, width_bytes);
    if (!count || count->wavefronts >= best.wavefronts) return;
    best.swizzle = other;
    best.wavefronts = count->wavefronts;
  };
  constexpr int shifts = 6;  // rows further apart than 32 are not read together
  for (const bool low_bits : {true, false})
    for (std::int64_t unit = std::max(bank_bytes, width_bytes); unit < all_banks_bytes; unit *= 2) {
      if (tile.row_bytes() % unit != 0) break;
      const std::int64_t swapped = std::min(units_that_swap(tile, unit), all_banks_bytes / unit);
      for (int shift = 0; shift < shifts; ++shift)
        for (std::int64_t mask = 1; mask < swapped && best.wavefronts > best.ideal; ++mask)
          if (power_of_two(mask + 1) == low_bits) try_mask(unit, shift, mask);
    }
  return best;
}

std::int64_t walk_unit_bytes(TileWalk walk, std::int64_t width_bytes) {
  const std::int64_t phase_lanes = std::min<std::int64_t>(warp_lanes, all_banks_bytes / width_bytes);
  std::int64_t chunks = 1;
  if (walk == TileWalk::mma_rows) chunks = 4;
  if (walk == TileWalk::mma_columns) chunks = phase_lanes / 4;
  return std::max(bank_bytes, walk == TileWalk::ldmatrix ? 16 : chunks * width_bytes);
}

std::int64_t row_alignment(std::int64_t pitch_bytes) {
  return std::min<std::int64_t>(128, lowest_bit(std::max<std::int64_t>(1, pitch_bytes)));
}

}  // namespace models::gpu
