#include "chapters/capstone/shared/board.h"

#include <algorithm>
#include <cmath>

#include "widgets/number/number.h"

namespace chapters::capstone {
namespace {

/// How a round stands to the one before it, in the unit of the slab; where that figure stayed, by the other target that
/// it moved the most.
std::string change_words(const Rules& rules, const Played& game, std::size_t number, std::size_t main) {
  const auto targets = rules.targets();
  const Round& round = game.rounds[number];
  if (!round.nothing_won())
    return (round.won > 0 ? "won " : "lost ") + widgets::format_text(std::abs(round.won), targets[main].unit);
  const std::size_t other = moved_besides(game.rounds[number - 1], round, targets.size(), main);
  if (other == max_targets) return "won nothing";
  const double by = round.figures.values[other] - game.rounds[number - 1].figures.values[other];
  return std::string(targets[other].name) + (by > 0 ? " +" : " -") +
         widgets::format_text(std::abs(by), targets[other].unit);
}

BoardRound board_round(const Rules& rules, const Played& game, const BoardSpec& spec, std::size_t number) {
  const auto targets = rules.targets();
  const Round& round = game.rounds[number];
  const std::string_view unit = targets[spec.main].unit;
  const bool start = round.card == max_cards;
  BoardRound out{.name = std::string(start ? spec.start_name : rules.cards()[round.card].name),
                 .note = std::string(start ? spec.start_note : rules.cards()[round.card].note),
                 .number = std::to_string(number),
                 .total_words = widgets::format_text(round.figures.said_of, unit),
                 .change = start || round.bounced ? std::string() : change_words(rules, game, number, spec.main),
                 .held_words = widgets::format_text(
                     round.bounced && round.tried_bytes > 0 ? round.tried_bytes : round.figures.held_bytes, "B"),
                 .said_words = round.said > 0 ? "you said " + widgets::format_text(round.said, unit) : std::string(),
                 .bounce = round.figures.bounce,
                 .total = round.figures.said_of,
                 .before = start ? 0 : round.figures.said_of + round.won,
                 .said = round.said,
                 .held = round.figures.room_bytes > 0 ? round.figures.held_bytes / round.figures.room_bytes : 0,
                 .values = round.figures.values,
                 .bounced = round.bounced,
                 .all_met = !round.bounced && round.met == targets.size()};
  if (round.bounced && round.figures.room_bytes > 0) out.tried = round.tried_bytes / round.figures.room_bytes;
  for (std::size_t i = 0; i < spec.causes.size(); ++i)
    if (const double value = round.figures.slab[i]; value > 0)
      out.pieces.push_back({i, value, widgets::format_text(value, unit)});
  for (std::size_t i = 0; i < targets.size(); ++i) {
    out.words[i] = widgets::format_text(round.figures.values[i], targets[i].unit);
    out.met[i] = targets[i].met(round.figures.values[i]);
  }
  if (number < spec.claimed.size()) out.claimed = spec.claimed[number];
  return out;
}

BoardTarget board_target(const Target& target, std::size_t i, bool main, const std::vector<BoardRound>& rounds) {
  double most = 1.35 * target.line;
  for (const BoardRound& r : rounds) {
    most = std::max(most, 1.12 * r.values[i]);
    if (std::isfinite(r.claimed[i])) most = std::max(most, 1.12 * r.claimed[i]);
  }
  // A lane shows how far a figure is from its line; what is far beyond is cut.
  if (!main) most = std::min(most, 3 * target.line);
  return {.name = std::string(target.name),
          .line_words = widgets::format_text(target.line, target.unit),
          .axis_words = std::string(target.name),
          .line = target.line,
          .most = most,
          .given_most = 1.35 * target.line};
}

}  // namespace

void add_axis_ticks(Board& board) {
  const BoardTarget& main = board.targets[board.main];
  // Times longer than some days are counted in days.
  const double day_s = 86'400, unit = board.unit == "s" && main.most > 3 * day_s ? day_s : 1;
  const double raw = main.most / 5 / unit, power = std::pow(10.0, std::floor(std::log10(raw))),
               step = (raw <= power       ? 1
                       : raw <= 2 * power ? 2
                       : raw <= 5 * power ? 5
                                          : 10) *
                      power * unit;
  for (double v = 0; v <= main.most * (1 + 1e-9); v += step)
    if (!(main.line > 0) || std::abs(v - main.line) > 0.45 * step)
      board.ticks.emplace_back(v, v > 0 ? widgets::format_text(v, board.unit) : "0");  // no other unit at the foot
}

Board make_board(const Rules& rules, const Played& game, const BoardSpec& spec) {
  Board board;
  board.causes.assign(spec.causes.begin(), spec.causes.end());
  board.main = spec.main;
  board.unit = std::string(rules.targets()[spec.main].unit);
  board.room_words = widgets::format_text(game.now().figures.room_bytes, "B");
  board.opens = std::string(spec.opens);
  board.rows = spec.rows;
  board.slab_words = std::string(spec.slab_words);
  board.claimed_by = std::string(spec.claimed_by);
  for (std::size_t i = 0; i < game.rounds.size(); ++i) board.rounds.push_back(board_round(rules, game, spec, i));
  for (std::size_t i = 0; i < rules.targets().size(); ++i)
    board.targets.push_back(board_target(rules.targets()[i], i, i == spec.main, board.rounds));
  for (const BoardRound& r : board.rounds)
    board.targets[board.main].most = std::max(board.targets[board.main].most, 1.05 * std::max(r.total, r.said));
  for (std::size_t i = 0; i < rules.cards().size(); ++i) {
    const Card& card = rules.cards()[i];
    board.hand.push_back(
        {std::string(card.id), std::string(card.name), std::string(card.note), i, game.now().cards.has(i)});
  }
  board.over = board.rounds.back().all_met;
  add_axis_ticks(board);
  return board;
}

void take_move(const BoardMove& move, std::string& rounds, std::vector<double>& said) {
  if (move.back) take_back(rounds, said);
  if (!move.play.empty()) add_round(rounds, said, move.play, move.said);
}

}  // namespace chapters::capstone
