#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/gpu/access/swizzle.h"
#include "models/gpu/access/warp_access.h"

/// Tiles in shared memory: where padding and an XOR put their bytes, and how the lanes of a warp walk over them.
namespace models::gpu {

/// A tile of whole rows, each right after the one before. Addresses in it as it is written are called logical.
struct SharedTile {
  std::int64_t rows = 32, columns = 32, element_bytes = 4;

  std::int64_t row_bytes() const { return columns * element_bytes; }
  std::int64_t bytes() const { return rows * row_bytes(); }
};

/// The XOR on units of a row: unit c of row r lies where unit c ^ ((r >> shift) & mask) of that row lay.
struct RowSwizzle {
  std::int64_t unit_bytes = 4;
  int shift = 0;
  std::int64_t mask = 0;

  std::int64_t flip(std::int64_t row) const { return (row >> shift) & mask; }
};

/// The one for which any aligned 128 / unit rows read at one unit, and any aligned 128 / unit units of a row, lie in
/// distinct banks: with P units per row, g the largest power of two in P and at most n = 128 / unit, the flip is
/// (r >> log2(n / g)) & (g - 1). `unit_bytes` is a power of two up to 128 that divides the row.
/// Source: for powers of two the swizzle of CUTLASS's shared-memory layouts; the proof is that r P + (c ^ flip) visits
/// every residue of n, which tests/models/gpu tries for every P up to 64.
RowSwizzle fitted_swizzle(const SharedTile& tile, std::int64_t unit_bytes);
/// Units whose number in the row has bits that the XOR may flip: the largest power of two that divides units per row.
std::int64_t units_that_swap(const SharedTile& tile, std::int64_t unit_bytes);
/// Fails where the unit does not divide the row, the XOR would leave the row, or it would tear apart the `width_bytes`
/// that a lane moves at once.
Status check_swizzle(const SharedTile& tile, const RowSwizzle& swizzle, std::int64_t width_bytes);
/// The same as CuTe's Swizzle<B, M, S> on byte offsets; nothing where it has none: rows that are no power of two, or a
/// mask that is no run of ones from bit 0.
std::optional<Swizzle> cute_swizzle(const SharedTile& tile, const RowSwizzle& swizzle);

/// Where the byte at a logical address lies. Addresses beyond the tile belong to further rows of the same pitch.
std::int64_t padded_address(const SharedTile& tile, std::int64_t pad_bytes, std::int64_t logical);
std::int64_t swizzled_address(const SharedTile& tile, const RowSwizzle& swizzle, std::int64_t logical);
/// The logical address of a byte of the padded tile; nothing for padding.
std::optional<std::int64_t> logical_of_padded(const SharedTile& tile, std::int64_t pad_bytes, std::int64_t physical);

/// Which element each lane wants. A chunk is `width_bytes` of a row; lane t takes
enum class TileWalk : std::uint8_t {
  row,          ///< chunk t, on into the rows below where the row has fewer than 32
  column,       ///< row t of one chunk, the next chunks where the tile has fewer than 32 rows
  ldmatrix,     ///< the .x4 form: the 16 bytes at row t % 16, chunk t / 16 (t % 8 and t / 8 in a tile of 8 rows)
  mma_rows,     ///< row t / 4, chunk t % 4: operand A, operand B of an [n][k] tile, and the accumulator C
  mma_columns,  ///< row t % 4, chunk t / 4: operand B of a [k][n] tile
};
inline constexpr int tile_walk_count = 5;
/// Logical addresses. The walk begins at row `row` (TileWalk::row alone) or at the chunk that holds column `column`
/// (the others), and wraps where a row or the tile ends. Fails where these lie outside of the tile, or no whole number
/// of chunks makes a row. ldmatrix moves 16 bytes whatever the width.
Result<LaneAddresses> walk_tile(const SharedTile& tile, TileWalk walk, std::int64_t width_bytes, std::int64_t row,
                                std::int64_t column);

/// What shared_access counts, without the words: for many accesses at once.
struct SharedCount {
  int wavefronts = 0, ideal = 0;
};
/// Nothing where check_access fails: an address is no multiple of the width.
std::optional<SharedCount> count_wavefronts(const LaneAddresses& addresses, std::int64_t width_bytes);

/// An XOR and what it makes of one access.
struct FittedSwizzle {
  RowSwizzle swizzle;
  int wavefronts = 0, ideal = 0;
  bool searched = false;  ///< fitted_swizzle left conflicts: this is the best of all
};
/// The XOR for the lanes that begin at these logical addresses and move `width_bytes`: fitted_swizzle at `unit_bytes`
/// where that leaves no conflict, else the one with the fewest wavefronts among every unit that leaves a lane's bytes
/// whole, every shift and every mask. Masks of low bits come first, which CuTe can say. Nothing where check_access
/// fails or no unit divides a row.
std::optional<FittedSwizzle> fit_swizzle(const SharedTile& tile, const LaneAddresses& lanes, std::int64_t width_bytes,
                                         std::int64_t unit_bytes);

/// Bytes of a row that a phase of the walk takes side by side, where it begins at a multiple of them: the unit with
/// which fitted_swizzle leaves the walk no conflict. At least a word.
std::int64_t walk_unit_bytes(TileWalk walk, std::int64_t width_bytes);

/// The largest power of two, at most 128, that divides the pitch: how its rows are aligned.
std::int64_t row_alignment(std::int64_t pitch_bytes);

}  // namespace models::gpu
