#include "chapters/practice/scenario_board.h"

#include <algorithm>

#include "models/base/counter_random.h"
#include "models/learning/thread_board.h"

namespace chapters {
namespace {

bool reads_other(const SymptomCase& evidence, const SymptomCase& symptom) {
  return evidence.tell == symptom.tell && evidence.reads != symptom.reads;
}

bool asked_for(const SymptomCase& c, const BoardWish& wish) {
  return (wish.topic == "any" || c.topic == wish.topic) && (wish.level == 0 || c.level == wish.level);
}

/// All cases, those that were asked for first, each part in an order of the seed's.
std::vector<const SymptomCase*> candidates(const ScenarioDeck& deck, const BoardWish& wish) {
  std::vector<const SymptomCase*> out;
  for (const std::size_t i : models::shuffled(deck.symptoms.size(), models::random_stream(wish.seed, 1)))
    out.push_back(&deck.symptoms[i]);
  std::stable_partition(out.begin(), out.end(), [&](const SymptomCase* c) { return asked_for(*c, wish); });
  return out;
}

bool has(const std::vector<const SymptomCase*>& cases, const SymptomCase* c) {
  return std::find(cases.begin(), cases.end(), c) != cases.end();
}

/// Puts the case on the board where one assignment alone stays right.
bool put(ScenarioBoard& board, const SymptomCase* c) {
  if (!c || has(board.cases, c)) return false;
  board.cases.push_back(c);
  if (assignments_of(board) == 1) return true;
  board.cases.pop_back();
  return false;
}

void pick_cases(ScenarioBoard& board, const ScenarioDeck& deck, const BoardWish& wish,
                const std::vector<const SymptomCase*>& from) {
  const auto wanted = static_cast<std::size_t>(wish.cards);
  if (wish.twins)
    for (const SymptomCase* c : from)
      if (board.cases.size() + 2 <= wanted && !c->twin.empty() && put(board, c))
        put(board, find_symptom(deck, c->twin));
  for (const SymptomCase* c : from)
    if (board.cases.size() < wanted &&
        (wish.twins || c->twin.empty() || !has(board.cases, find_symptom(deck, c->twin))))
      put(board, c);
}

/// The twin of a case on the board if there is one, else a cause of the same chapters.
const SymptomCase* pick_left_over(const ScenarioBoard& board, const ScenarioDeck& deck,
                                  const std::vector<const SymptomCase*>& from) {
  for (const SymptomCase* c : board.cases)
    if (const SymptomCase* twin = c->twin.empty() ? nullptr : find_symptom(deck, c->twin);
        twin && !has(board.cases, twin))
      return twin;
  for (const SymptomCase* c : from)
    for (const SymptomCase* other : board.cases)
      if (!has(board.cases, c) && c->topic == other->topic) return c;
  for (const SymptomCase* c : from)
    if (!has(board.cases, c)) return c;
  return nullptr;
}

/// Does no row of this column lie next to what belongs to it, or across from its symptom?
bool parted(const ScenarioBoard& board, std::size_t column) {
  for (const std::size_t before : {column - 1, std::size_t{0}})
    for (std::size_t row = 0; row < board.order[column].size() && row < board.order[before].size(); ++row)
      if (board.order[column][row] == board.order[before][row]) return false;
  return true;
}

/// Each column in an order of the seed's; one in which a row lies next to its answer is shuffled anew.
void lay_out(ScenarioBoard& board, std::int64_t seed) {
  constexpr std::uint64_t max_tries = 1000;
  for (std::size_t column = 0; column < board_columns; ++column)
    for (std::uint64_t attempt = 0; attempt < max_tries; ++attempt) {
      board.order[column] = models::shuffled(board.cases.size() + (column == 1 ? 1 : 0),
                                             models::random_stream(seed, 16 + attempt * board_columns + column));
      if (column == 0 || parted(board, column)) break;
    }
}

}  // namespace

const SymptomCase& ScenarioBoard::case_at(BoardColumn column, std::size_t row) const {
  const std::size_t i = order[static_cast<std::size_t>(column)][row];
  return i < cases.size() ? *cases[i] : *left_over;
}

bool explains(const SymptomCase& cause, const SymptomCase& symptom) {
  return cause.id == symptom.id || cause.twin == symptom.id ||
         std::find(cause.also.begin(), cause.also.end(), symptom.id) != cause.also.end();
}

std::int64_t assignments_of(const ScenarioBoard& board) {
  std::vector<std::uint32_t> allowed(board.cases.size(), 0);
  for (std::size_t s = 0; s < board.cases.size(); ++s)
    for (std::size_t c = 0; c < board.cases.size(); ++c)
      if (explains(*board.cases[c], *board.cases[s]) && !reads_other(*board.cases[c], *board.cases[s]))
        allowed[s] |= std::uint32_t{1} << c;
  return models::count_assignments(allowed);
}

models::Result<ScenarioBoard> deal_board(const ScenarioDeck& deck, const BoardWish& wish) {
  using Dealt = models::Result<ScenarioBoard>;
  const std::vector<const SymptomCase*> from = candidates(deck, wish);
  ScenarioBoard board;
  pick_cases(board, deck, wish, from);
  board.left_over = pick_left_over(board, deck, from);
  if (board.cases.size() < static_cast<std::size_t>(wish.cards) || !board.left_over)
    return Dealt::fail("There are too few symptom cards for a board of " + std::to_string(wish.cards) +
                       ": put more into assets/scenarios.");
  board.of_topic =
      std::count_if(board.cases.begin(), board.cases.end(), [&](const SymptomCase* c) { return asked_for(*c, wish); });
  lay_out(board, wish.seed);
  return Dealt::ok(std::move(board));
}

}  // namespace chapters
