#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What was done in a scenario, one after the other, as a line of text: "KEY: s0c3@12.5 c3e1@20 ...".
namespace chapters::interview::scenarios {

enum class MoveKind : std::uint8_t { symptom, cause, evidence, check, diagnose, tick, give_up };

/// One move: a thread from row `from` of a column to row `to` of the next, a check that is run, a cause that is named,
/// a point that was said, or the end. `at_s` is on the clock of the case.
struct Move {
  MoveKind kind{};
  std::size_t from = 0, to = 0;
  double at_s = 0;
  bool is_thread() const { return kind <= MoveKind::evidence; }
};

inline constexpr std::size_t max_moves = 240;

std::string text_of(const Move& move);
/// The moves of `text` where it was written for `key`; none where it is for another deal, or not of this form.
std::vector<Move> moves_for(std::string_view text, std::string_view key);
/// `text` with one more move, begun anew where it is of another deal. Unchanged where there are max_moves.
std::string with_move(std::string_view text, std::string_view key, const Move& move);

}  // namespace chapters::interview::scenarios
