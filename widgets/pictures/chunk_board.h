#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

/// Who holds what, and what is under way: a column for each rank, a row for each chunk, and in a cell a place for each
/// rank whose numbers may be in it. Below it a film of all states, which is the slider over them.
namespace widgets {

/// `chunk` goes from `source` to `target` in `step`. Ranks count from 0; the hub is number `ranks`.
struct ChunkMessage {
  std::int32_t step = 0, source = 0, target = 0, chunk = 0;
  bool adds = false;         ///< the target adds it to its own; else it is put in place of its own
  std::int32_t origin = -1;  ///< only this place's block goes, and leaves its source; -1: the whole cell, as a copy
};

inline constexpr std::int64_t max_board_ranks_in_full = 16;  ///< With more ranks no message and no place is drawn.
inline constexpr std::string_view hub_name = "switch";       ///< left of its cells

struct ChunkBoardData {
  std::int64_t ranks = 0, chunks = 0, steps = 0;
  bool hub = false;                        ///< a switch takes part, drawn over the columns
  bool sums = true;                        ///< cells fill up; else they hold their part or do not
  bool travels = false;                    ///< blocks are at rest only where they belong; there a cell is whole
  std::int64_t places = 1;                 ///< in a cell
  std::int64_t group = 0;                  ///< ranks of a node, which stand together; 0: no nodes
  std::span<const std::uint64_t> origins;  ///< [state][rank, then hub][chunk]: bit i, place i is there
  std::span<const std::uint64_t> asked;    ///< [rank][chunk]: what must be there in the end; 0: does not matter
  std::span<const ChunkMessage> messages;  ///< by step
  std::span<const std::string> rank_names, chunk_names, node_names;
  std::span<const std::string> step_says;  ///< one a step, under the board while it is in flight
  std::string_view before, after;          ///< under the film's ends
  std::string_view turn_says;              ///< at state `turn`
  std::int64_t turn = -1;
  std::string_view places_say;  ///< what the places are, beside the first column's numbers while all is at rest
  std::string_view verdict;     ///< under the board, at its right
  /// Hover of a cell: its content in words, into two lines.
  void (*cell_says)(const void* context, std::int64_t state, std::int64_t rank, std::int64_t chunk, Line& value,
                    Line& info) = nullptr;
  const void* context = nullptr;
  std::int64_t participants() const { return ranks + (hub ? 1 : 0); }
  std::uint64_t at(std::int64_t state, std::int64_t rank, std::int64_t chunk) const {
    return origins[static_cast<std::size_t>((state * participants() + rank) * chunks + chunk)];
  }
};

struct ChunkBoardLayout {
  float column_x = 0, column_pitch = 0, group_gap = 0, cell_width = 0;
  float row_y = 0, row_pitch = 0, cell_height = 0;
  std::int64_t ranks = 0, chunks = 0, group = 0;
  Rect arcs{};          ///< over the names, where messages to distant ranks bow; or where the hub stands
  float hub_inset = 0;  ///< over the hub's cells, for the frames around them
  float names_y = 0, nodes_y = 0;
  float says_y = 0;
  Rect film{};   ///< thumbnails; empty where there is no room
  Rect track{};  ///< The slider's track, from the first state to the last.
  float words_y = 0;
  Rect play{};  ///< the button that plays
  std::int64_t frames = 0, frame_stride = 1;
  float thumb_width = 0, thumb_height = 0;
  bool chunk_names = true, full = true;  ///< full: with places and messages
  float height = 0;                      ///< all of it

  Rect column(std::int64_t rank) const;
  Rect cell(std::int64_t rank, std::int64_t chunk) const;
  /// The i-th of `places` in a cell.
  Rect place(const Rect& cell, std::int64_t i, std::int64_t places) const;
  /// Where the hub keeps a chunk.
  Rect hub_cell(std::int64_t chunk) const;
  float time_x(double time, std::int64_t steps) const;
  double time_at(float x, std::int64_t steps) const;
  Rect thumb(std::int64_t state, std::int64_t steps) const;
};

/// Places the board in `area`, of which it takes at most the height. Pure; `scale` is pixels a design pixel, and
/// `small_px`, `body_px` are heights of type.
void layout_chunk_board(const ChunkBoardData& data, Rect area, float scale, float small_px, float body_px,
                        Measure measure, ChunkBoardLayout& out);

/// Whether a message bows over the columns instead of crossing the gap to a neighbour, or leaving at the board's edge.
bool message_bows(const ChunkBoardData& data, const ChunkMessage& message);

struct ChunkBoardView {
  double time = -1;  ///< 4: after four steps; 4.5: the fifth is in flight; below 0: a third of the way, in flight
  bool playing = false;
  bool driven = false;  ///< whoever draws it moves `time` while it plays
  ChunkBoardLayout layout;
};

/// Where a board stands that nobody has moved: 4.5 of 14 steps.
double chunk_board_start(std::int64_t steps);

/// The board in `size` pixels at the cursor; returns the height that it took. Arrow keys go on by half a step, Space
/// plays.
float draw_chunk_board(const char* label, const ChunkBoardData& data, ChunkBoardView& view, ImVec2 size);

}  // namespace widgets
