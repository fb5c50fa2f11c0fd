#pragma once
#include <imgui.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/capstone/shared/game.h"
#include "widgets/base/parts.h"

/// A game on the board: each round as a column or as a row, its slab by cause with the ghost of the slab before, its
/// vessel, the targets' lines through all rounds, and below them the hand of cards. `make_board` belongs to arrange,
/// `draw_board` to draw; what the hand did comes back as a BoardMove, which `take_move` writes into the Inputs.
namespace chapters::capstone {

/// A cause of the slab, in the order of Figures::slab.
struct BoardCause {
  std::string_view name;
  widgets::Tint tint{};
  bool hatched = false;
};
/// How a lab's board is made. The slab's length is the figure of the target `main`, whose line crosses the slabs.
struct BoardSpec {
  std::span<const BoardCause> causes;
  std::size_t main = 0;
  std::string_view start_name, start_note;
  std::string_view opens{};       ///< the lab that a round opens, as a person reads it; empty: none
  bool rows = false;              ///< rounds as rows; else as columns
  std::string_view slab_words{};  ///< under each column: what the slab is of ("a token")
  /// What somebody else says of each round from the start on, by target; NaN: nothing. Drawn as diamonds.
  std::span<const std::array<double, max_targets>> claimed{};
  std::string_view claimed_by{};  ///< who says it: "the study"
};

struct BoardPiece {
  std::size_t cause = 0;
  double value = 0;
  std::string words;
};
struct BoardRound {
  std::string name, note, number;
  std::string total_words, change;  ///< change: "won 79 ms", "lost 53 days", "won nothing"; empty for the start
  std::string held_words, said_words, bounce;
  std::vector<BoardPiece> pieces;  ///< those that are longer than nothing, from the ground up
  double total = 0, before = 0;    ///< before: the round before it; 0 for the start
  double said = nothing_said;
  double held = 0, tried = 0;  ///< shares of the vessel; tried: what a card that bounced would hold
  std::array<double, max_targets> values{}, claimed{not_claimed, not_claimed, not_claimed, not_claimed};
  std::array<std::string, max_targets> words;
  std::array<bool, max_targets> met{};
  bool bounced = false, all_met = false;
};
struct BoardTarget {
  std::string name, line_words, axis_words;  ///< axis_words: name and unit over the axis
  double line = 0, most = 1;                 ///< most: the end of its axis
  double given_most = 1;  ///< the same where nothing but the line is known: under the veil of a question
};
struct BoardCard {
  std::string id, name, note;
  std::size_t place = 0;
  bool there = false;  ///< in force: cannot be played
};

struct Board {
  std::vector<BoardRound> rounds;
  std::vector<BoardTarget> targets;
  std::vector<BoardCard> hand;
  std::vector<BoardCause> causes;
  std::vector<std::pair<double, std::string>> ticks;  ///< the main axis
  std::size_t main = 0;
  std::string unit, room_words, opens, slab_words, claimed_by;
  std::string_view round_word = "round";  ///< what one is called
  std::string score;                      ///< stands where the next round will; a lab may set it
  bool rows = false, over = false;        ///< over: the last round meets every target
};

struct BoardView {
  std::string picked;     ///< id of the card in the hand; empty: none
  double say = 0;         ///< where its line is held
  bool dragged = false;   ///< the line was moved
  std::size_t seen = 0;   ///< rounds drawn last time
  float flight = 1;       ///< the last card on its way to the board, 0 to 1
  ImVec2 from{}, card{};  ///< where that card lay, and its size
  std::vector<widgets::PlacedLegend> legend;
  bool small_hand = false, short_hand = false;  ///< in little room: smaller cards, and none that are on the board
};

/// What the hand did in this frame.
struct BoardMove {
  std::string_view play{};  ///< id of the card that is played; empty: none
  double said = nothing_said;
  bool back = false;         ///< the last round is taken back
  std::ptrdiff_t open = -1;  ///< the round whose lab is opened
};

/// Round values for the axis of the main target, none where its line stands.
void add_axis_ticks(Board& board);
Board make_board(const Rules& rules, const Played& game, const BoardSpec& spec);
/// Draws at the cursor. Under the veil of a question it gives the targets' lines and empty vessels alone.
BoardMove draw_board(const Board& board, BoardView& view, ImVec2 size);
/// Where the axis of a board in rows begins and ends, in pixels from its left edge, so that a picture below can share
/// it.
struct BoardAxis {
  float left = 0, right = 0;
};
BoardAxis rows_axis(const Board& board, float width);
/// Writes a move into the rounds of the Inputs.
void take_move(const BoardMove& move, std::string& rounds, std::vector<double>& said);

}  // namespace chapters::capstone
