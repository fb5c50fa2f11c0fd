#include "app/shell/home/home_layout.h"

#include <algorithm>

namespace app {
namespace {

float height_of(const HomeBlock& block, bool folded, float row) {
  return home::header + row * static_cast<float>(rows_of(block, folded));
}

float gap_at(float row) { return row > home::closest_row ? home::gap : home::closest_gap; }

float box_height_of(std::span<const HomeBlock> blocks) {
  for (const HomeBlock& block : blocks)
    if (block.open < block.labs) return home::count_box;
  return home::count_box - home::planned_line;
}

/// Puts the blocks into columns of at most `limit`; returns how many columns that takes.
int pack(std::span<const HomeBlock> blocks, bool folded, float row, float limit, float step, std::vector<ImVec2>* at) {
  int column = 0;
  float y = 0;
  for (const HomeBlock& block : blocks) {
    const float height = height_of(block, folded, row);
    if (y > 0 && y + height > limit) {
      ++column;
      y = 0;
    }
    if (at) at->push_back({step * static_cast<float>(column), y});
    y += height + gap_at(row);
  }
  return column + 1;
}

/// How many columns of at least `least` are beside each other.
int columns_in(float width, float least) {
  const auto wanted = static_cast<int>((width + home::column_gap) / (least + home::column_gap));
  return std::clamp(wanted, 1, home::max_columns);
}

HomeMap packed(std::span<const HomeBlock> blocks, float width, bool folded, float row, int columns) {
  HomeMap map;
  map.row = row;
  map.folded = folded;
  map.columns = columns;
  map.box_height = box_height_of(blocks);
  const float gap = gap_at(row);
  const auto n = static_cast<float>(map.columns);
  map.column_width = (width - home::column_gap * (n - 1)) / n;
  const float step = map.column_width + home::column_gap;
  float limit = 0;
  for (const HomeBlock& block : blocks) limit = std::max(limit, height_of(block, folded, row));
  // The box takes part as a last block, so that the last column keeps room for it where one can.
  const auto fits = [&] {
    map.at.clear();
    if (pack(blocks, folded, row, limit, step, &map.at) > map.columns) return false;
    const float end = map.at.empty() ? 0 : map.at.back().y + height_of(blocks.back(), folded, row) + gap;
    const bool last_is_full = !map.at.empty() && map.at.back().x >= step * (n - 1) - 0.5f;
    return !last_is_full || end + map.box_height <= limit;
  };
  while (!fits()) limit += 4;
  for (std::size_t i = 0; i < map.at.size(); ++i)
    map.height = std::max(map.height, map.at[i].y + height_of(blocks[i], folded, row));
  if (!map.at.empty() && map.at.back().x >= step * (n - 1) - 0.5f)
    map.height = std::max(map.height, map.at.back().y + height_of(blocks.back(), folded, row) + gap + map.box_height);
  map.height = std::max(map.height, map.box_height);
  map.box = {step * (n - 1), map.height - map.box_height};
  return map;
}

}  // namespace

std::size_t rows_of(const HomeBlock& block, bool folded) {
  if (!folded) return block.labs;
  if (block.open == 0) return 0;  // the heading says how many are planned
  return block.open + (block.open < block.labs ? 1 : 0);
}

HomeMap lay_out_map(std::span<const HomeBlock> chapters, float width, float room) {
  const int columns = columns_in(width, home::least_column), most = columns_in(width, home::closest_column);
  HomeMap map = packed(chapters, width, false, home::row, columns);
  const auto closer = [&](int n) {
    for (float row = home::row; map.height > room && row >= home::closest_row; row -= 1)
      map = packed(chapters, width, true, row, n);
  };
  closer(columns);
  if (map.height > room && most > columns && columns > 1) closer(most);
  return map;
}

int doors_in_a_row(int doors, float width) {
  constexpr float least = 250, gap = 20;
  const auto fit = static_cast<int>((width + gap) / (least + gap));
  if (fit >= doors) return doors;
  return fit >= 2 ? 2 : 1;
}

}  // namespace app
