#pragma once
#include "widgets/pictures/chunk_board.h"

/// The painting of a chunk board at one moment.
namespace widgets {

struct ChunkBoardMoment {
  std::int64_t state = 0;           ///< the last one that was reached
  std::int64_t step = -1;           ///< in flight, from 0; -1: all is at rest
  double done = 0;                  ///< share of that step
  std::size_t first = 0, last = 0;  ///< its messages
  std::int64_t hovered_rank = -1, hovered_chunk = -1;
  double time = 0;
};
/// `time` beyond the end is the end.
ChunkBoardMoment chunk_board_moment(const ChunkBoardData& data, double time);

void paint_chunk_board(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& layout,
                       const ChunkBoardMoment& moment, bool playing);
/// The film, its slider and the words under it.
void paint_chunk_film(const Painter& painter, const ChunkBoardData& data, const ChunkBoardLayout& layout,
                      const ChunkBoardMoment& moment, bool playing);
/// How a cell with these places looks: how complete it is, in one hue.
ImU32 chunk_tone(const ChunkBoardData& data, std::int64_t rank, std::int64_t chunk, std::uint64_t origins);

}  // namespace widgets
