#pragma once
#include <cstdint>
#include <vector>

#include "widgets/pictures/chunk_board.h"

/// Who talks to whom: the ranks of a chunk board on a circle, every pair that ever exchanges a message joined, and the
/// messages in flight as arrows as thick as they are large.
namespace widgets {

struct RankCircleLayout {
  ImVec2 centre{};
  float radius = 0;  ///< The circle goes through the ranks' middles.
  float dot = 0;     ///< radius of a rank
  std::int64_t ranks = 0;
  /// The first rank is on top; the others follow clockwise. The hub, number `ranks`, is in the middle.
  ImVec2 at(std::int64_t rank) const;
};
/// Pure; `scale` is pixels a design pixel.
RankCircleLayout layout_rank_circle(std::int64_t ranks, Rect area, float scale);

struct RankCircleView {
  std::vector<std::uint8_t> joined;  ///< [source][target]: scratch
};

/// The circle at `time` of the board, in `size` pixels at the cursor.
void draw_rank_circle(const char* label, const ChunkBoardData& data, double time, RankCircleView& view, ImVec2 size);

}  // namespace widgets
