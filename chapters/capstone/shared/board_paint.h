#pragma once
#include "chapters/capstone/shared/board.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"

/// Parts of a board that columns and rows have in common.
namespace chapters::capstone {

/// How far the last card is: the way to the board, and the growth of its slab behind it; both 0 to 1.
struct BoardFlight {
  float way = 1, growth = 1;
  bool bounces = false;
  bool flying() const { return way < 1; }
};
/// Which rounds a board has room for: the last, and the first where at least three have it.
struct ShownRounds {
  std::array<std::size_t, max_rounds + 2> rounds{};
  std::size_t count = 0;
  std::size_t hidden = 0, gap_at = 0;  ///< so many have no room; their place is in front of the shown one `gap_at`
};
ShownRounds shown_rounds(const Board& board, std::size_t room);
/// "2 rounds more", which have no room, with its left end at `at`.
void paint_hidden(const widgets::Painter& p, const Board& board, const ShownRounds& shown, ImVec2 at, float width,
                  int max_lines);
/// Nothing was played and no card is picked: what to do, in a sentence.
bool is_fresh(const Board& board, const BoardView& view);
inline constexpr std::string_view first_move_words =
    "Take a card from below, drag its line to where you say this will end, and let go: it is played.";
/// Advances the flight of a card that was just played, and asks for another frame while it lasts.
BoardFlight step_flight(const Board& board, BoardView& view);
/// Chooses cards that take no more than two fifths of a board of this size, and returns the pixels that they take.
float plan_hand(const Board& board, BoardView& view, ImVec2 size);
/// The causes, and at the right who claims what the diamonds say. Returns its height in px; `paint`: else it is
/// planned.
float board_legend(const Board& board, BoardView& view, ImVec2 at, float width, bool paint);
/// The hand from `at` on: a press picks a card, another plays it without saying.
void draw_hand(const Board& board, BoardView& view, ImVec2 at, ImVec2 room, BoardMove& move);
/// The card on its way from the hand to `to`; one that bounces falls back.
void paint_flying_card(const widgets::Painter& p, const Board& board, const BoardView& view, const BoardFlight& flight,
                       ImVec2 to);
/// A number in a disc, a name, and a check or a cross for the round.
void paint_round_number(const widgets::Painter& p, const BoardRound& round, ImVec2 centre, bool now);
/// A check where it is met, else a cross, `size` px wide around `centre`.
void paint_met(const widgets::Painter& p, ImVec2 centre, float size, bool met);
/// What somebody else says of the round.
void paint_claim(const widgets::Painter& p, ImVec2 at, float radius);
/// The value of a piece while its slab grows from that of the round before.
double grown(const Board& board, std::size_t round, std::size_t cause, double share);
/// The piece of this cause in the round, 0 where it has none.
double piece_of(const BoardRound& round, std::size_t cause);
/// The card in the hand; null where none is picked that can be played.
const BoardCard* picked_card(const Board& board, const BoardView& view);
/// The handle of the line that says what the picked card will bring, at `at`; `vertical`: it moves up and down.
/// `value_of(px)` is the value at the pointer. Let go, it plays.
struct BoardHandle {
  ImVec2 at{};
  bool vertical = true;
  double from_px = 0, to_px = 1;  ///< pixels of 0 and of the axis' end
};
void drag_say(const Board& board, BoardView& view, const BoardHandle& handle, BoardMove& move);

BoardMove draw_columns(const Board& board, BoardView& view, ImVec2 at, ImVec2 size);
BoardMove draw_rows(const Board& board, BoardView& view, ImVec2 at, ImVec2 size);

}  // namespace chapters::capstone
