#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "widgets/base/parts.h"

namespace widgets {

struct Tile {
  std::int64_t group = -1;       ///< wave, thread, owner: its colour; -1: empty
  float fill_x = 1, fill_y = 1;  ///< part of the tile that does work, 0..1; the rest is hatched
  double number = std::numeric_limits<double>::quiet_NaN();  ///< written inside when it fits; NaN: the group
};

struct TileGridData {
  std::size_t rows = 0, cols = 0;
  Tile (*tile)(const void* context, std::size_t row, std::size_t col) = nullptr;
  std::string_view (*info)(const void* context, std::size_t row, std::size_t col) = nullptr;  ///< for the hover
  const void* context = nullptr;
};

struct TileGridOptions {
  std::string_view row_title{}, col_title{}, group_title = "group";
  ImVec2 size{0, 0};  ///< pixels; 0: what is left, 280 design pixels high
  double aspect = 1;  ///< height of a tile over its width
  float max_px = 64;  ///< design pixels of a tile's longer side, at most
  bool numbers = true;
  std::int64_t up_to_group = INT64_MAX;  ///< later groups are pale: a cursor over waves
  std::span<const LegendEntry> legend{};
};

struct TileGridLayout {
  Rect grid{};
  float tile_w = 0, tile_h = 0;                ///< pixels of a shown tile
  std::size_t rows = 0, cols = 0;              ///< shown
  std::size_t row_stride = 1, col_stride = 1;  ///< tiles behind each shown one; the first stands for them
  bool numbers = false;
  float legend_height = 0;
  std::vector<PlacedLegend> placed_legend;

  Rect tile(std::size_t shown_row, std::size_t shown_col) const;
};

/// Tiles of one shape, as large as fits; when they would fall under 3 px, every n-th is shown.
void layout_tile_grid(const TileGridData& data, const TileGridOptions& options, Rect area, Measure measure,
                      TileGridLayout& out);

struct TileGridView {
  std::int64_t row = -1, col = -1;  ///< selected by click; -1: none
  TileGridLayout layout;
};

struct TileGridEvents {
  std::int64_t row = -1, col = -1;  ///< under the pointer
  bool clicked = false;
};
/// Draws at the cursor; says what is under the pointer and whether it was clicked.
TileGridEvents draw_tile_grid(const char* label, const TileGridData& data, TileGridView& view,
                              const TileGridOptions& options = {});

}  // namespace widgets
