#include <algorithm>
#include <cmath>

#include "chapters/interview/scenarios/lab.h"

namespace chapters::interview::scenarios {
namespace {

/// The index of the case whose card lies there.
std::size_t case_of(const ScenarioBoard& board, std::size_t column, std::size_t row) {
  return board.order[column][row];
}

/// Lays a thread: one ends where it began, and one that ended where it ends, are taken off.
void lay(std::vector<Thread>& threads, const Thread& thread) {
  std::erase_if(threads, [&](const Thread& t) {
    return t.column == thread.column && (t.from == thread.from || t.to == thread.to);
  });
  threads.push_back(thread);
}

void count_board(const ScenarioBoard& board, BoardPlay& play) {
  std::fill(play.right_of.begin(), play.right_of.end(), 0);
  for (const Thread& t : play.threads)
    if (t.right) ++play.right_of[case_of(board, t.column, t.from)];
  play.right = 0;
  play.told = 0;
  for (const std::int64_t n : play.right_of) {
    play.right += n;
    play.told += n == 3;
  }
}

}  // namespace

BoardPlay play_board(const ScenarioBoard& board, const std::vector<Move>& moves, double limit_s) {
  BoardPlay play;
  const std::size_t n = board.cases.size();
  play.wrong_of.assign(n, 0);
  play.right_of.assign(n, 0);
  play.seconds_of.assign(n, 0);
  double before = 0;
  for (const Move& move : moves) {
    if (play.ended) break;
    const bool late = limit_s > 0 && move.at_s >= limit_s;
    if (move.kind == MoveKind::give_up || late) {
      play.ended = true;
      play.ended_s = late ? limit_s : move.at_s;
      break;
    }
    const auto column = static_cast<std::size_t>(move.kind);
    if (!move.is_thread() || move.from >= board.order[column].size() || move.to >= board.order[column + 1].size())
      continue;
    const std::size_t of = case_of(board, column, move.from);
    const bool right = of < n && of == case_of(board, column + 1, move.to);
    lay(play.threads, {column, move.from, move.to, right});
    play.parts.push_back({before, move.at_s, board.case_at(static_cast<BoardColumn>(column), move.from).seen, right});
    if (of < n) play.seconds_of[of] += move.at_s - before;
    if (!right) {
      ++play.wrong;
      if (of < n) ++play.wrong_of[of];
    }
    before = move.at_s;
    count_board(board, play);
    if (play.told == static_cast<std::int64_t>(n)) {
      play.ended = true;
      play.ended_s = move.at_s;
    }
  }
  return play;
}

TreePlay play_tree(const models::debugging::TreeCase& tree, std::size_t cause, const std::vector<Move>& moves) {
  TreePlay play;
  play.left = models::debugging::all_causes(tree);
  for (const Move& move : moves) {
    if (play.ended) break;
    if (move.kind == MoveKind::give_up) play.ended = true;
    if (move.kind == MoveKind::check && move.from < tree.checks.size() &&
        std::none_of(play.ran.begin(), play.ran.end(), [&](const RanCheck& r) { return r.check == move.from; })) {
      const models::debugging::TreeCheck& check = tree.checks[move.from];
      play.left = models::debugging::after_check(tree, play.left, move.from, cause);
      play.ran.push_back({move.from, play.spent_min, play.spent_min + check.minutes, play.left, check.outcome[cause]});
      play.spent_min += check.minutes;
    }
    if (move.kind == MoveKind::diagnose && move.from < tree.weight.size()) {
      play.named = static_cast<int>(move.from);
      play.ended = true;
      double left = 0;
      for (std::size_t i = 0; i < tree.weight.size(); ++i)
        if (play.left >> i & 1U) left += tree.weight[i];
      play.sure = (play.left >> move.from & 1U) && left > 0 ? tree.weight[move.from] / left : 0;
    }
  }
  return play;
}

std::vector<double> play_ticks(std::size_t points, const std::vector<Move>& moves, bool& ended) {
  std::vector<double> said(points, unknown);
  ended = false;
  for (const Move& move : moves) {
    if (ended) break;
    if (move.kind == MoveKind::give_up) ended = true;
    if (move.kind == MoveKind::tick && move.from < points)
      said[move.from] = std::isfinite(said[move.from]) ? unknown : move.at_s;  // a second press takes it back
  }
  return said;
}

}  // namespace chapters::interview::scenarios
