#pragma once
#include <imgui.h>

#include <cstddef>
#include <span>
#include <vector>

/// Where the parts of home stand. Pure; all lengths are design pixels.
namespace app {

/// A chapter on the map: how many of its labs are open, and how many there are.
struct HomeBlock {
  std::size_t open = 0, labs = 0;
};

namespace home {
inline constexpr float row = 24, closest_row = 16, header = 33, gap = 15, closest_gap = 9, column_gap = 30,
                       least_column = 236, closest_column = 212, count_box = 214, planned_line = 23;
inline constexpr int max_columns = 5;
}  // namespace home

struct HomeMap {
  int columns = 1;
  bool folded = false;    ///< planned labs are a count
  float row = home::row;  ///< height of a lab's row
  float column_width = 0, height = 0;
  std::vector<ImVec2> at;              ///< top left corner of each chapter
  ImVec2 box{};                        ///< top left corner of the box that counts the labs
  float box_height = home::count_box;  ///< less the line that explains the mark of a planned lab, where none is planned
};

/// Rows under a chapter's heading.
std::size_t rows_of(const HomeBlock& block, bool folded);
/// Chapters in order, down one column after the other, so that the highest column is as low as can be; the box stands
/// at the foot of the last. Planned labs fold to a count where the map would be higher than `room`, rows stand closer
/// where that is not enough, as far as their text allows, then chapters do, and then columns.
HomeMap lay_out_map(std::span<const HomeBlock> chapters, float width, float room);
/// How many doors stand beside each other.
int doors_in_a_row(int doors, float width);

}  // namespace app
