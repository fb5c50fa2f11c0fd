#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "widgets/base/parts.h"

/// Where the square, the block of threads and the odometers stand. Pure.
namespace chapters::inference::flash_attention {

/// One tile of the walk.
struct WalkStep {
  std::int32_t row = 0, column = 0;  ///< counted in tiles
  bool operator==(const WalkStep&) const = default;
};
/// Tiles in the order in which they are computed: rows of tiles after each other, or columns. `visited` is by row how
/// many tiles from the left are computed.
std::vector<WalkStep> walk_order(const std::vector<std::int64_t>& visited, bool columns_first);

struct WalkPlaces {
  widgets::Rect square{}, queries{}, keys{}, values{}, results{};
  widgets::Rect hint{};  ///< under the square: play and words; empty: no room
  widgets::Rect chip{};  ///< the block of threads; empty: no room
  widgets::Rect title{}, heads{}, tile{}, largest{}, sum{}, turn{}, words{}, formula{}, vessel{}, vessel_words{};
  std::int64_t rows = 0;  ///< How many of the tile are shown.
  std::array<widgets::Rect, 3> odometers{};
  widgets::Rect note{};  ///< empty: no room
};
/// `line` is a line of small type in px. Odometers keep their place at the foot; the square is as large as the height
/// and half of the width allow, and the block of threads takes what is left at its right.
void layout_walk(widgets::Rect area, float scale, float line, std::int64_t tile_rows, WalkPlaces& out);

/// Part of `square` that a tile covers, its sides counted in cells of which the square has `cells` a side.
widgets::Rect tile_place(const widgets::Rect& square, double cells, const WalkStep& at, double rows, double columns);

}  // namespace chapters::inference::flash_attention
