#include "chapters/capstone/shared/game.h"

#include <algorithm>
#include <cmath>

namespace chapters::capstone {
namespace {

constexpr std::string_view between_words = ", \t\n";

/// The place of a card by its id, max_cards where there is none.
std::size_t place_of(std::span<const Card> cards, std::string_view id) {
  const auto at = std::find_if(cards.begin(), cards.end(), [&](const Card& c) { return c.id == id; });
  return at == cards.end() ? max_cards : static_cast<std::size_t>(at - cards.begin());
}

/// The word with "?" for what cannot be printed.
std::string printable(std::string_view word) {
  std::string out(word);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
  return out;
}

/// Calls `each` with every word of the text and the place of its end.
template <class Each>
void for_words(std::string_view text, const Each& each) {
  std::size_t from = 0;
  while ((from = text.find_first_not_of(between_words, from)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(between_words, from), text.size());
    each(text.substr(from, end - from), end);
    from = end;
  }
}

}  // namespace

CardSet put(std::span<const Card> cards, CardSet set, std::size_t card) {
  const std::string_view slot = cards[card].slot;
  if (!slot.empty())
    for (std::size_t i = 0; i < cards.size(); ++i)
      if (cards[i].slot == slot) set = set.without(i);
  return set.with(card);
}

const Figures& Plays::of(CardSet cards) {
  const auto [at, fresh] = seen_.try_emplace(cards.bits);
  if (fresh) at->second = rules_.play(cards);
  return at->second;
}

std::size_t targets_met(std::span<const Target> targets, const Figures& figures) {
  if (!figures.bounce.empty()) return 0;
  std::size_t met = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) met += targets[i].met(figures.values[i]) ? 1 : 0;
  return met;
}

bool Round::nothing_won() const { return std::abs(won) < slight_share * std::abs(figures.said_of + won); }

bool Round::wasted() const { return card < max_cards && (!(won > 0) || nothing_won()); }

std::size_t moved_besides(const Round& before, const Round& after, std::size_t targets, std::size_t main) {
  std::size_t moved = max_targets;
  double most = std::log(1.1);
  for (std::size_t i = 0; i < targets; ++i) {
    const double from = before.figures.values[i], to = after.figures.values[i];
    if (i == main || !(from > 0) || !(to > 0)) continue;
    if (const double by = std::abs(std::log(to / from)); by > most) {
      most = by;
      moved = i;
    }
  }
  return moved;
}

models::Result<std::vector<std::size_t>> read_rounds(const Rules& rules, std::string_view text) {
  using Out = models::Result<std::vector<std::size_t>>;
  std::vector<std::size_t> rounds;
  std::string problem;
  for_words(text, [&](std::string_view word, std::size_t) {
    if (!problem.empty()) return;
    const std::size_t card = place_of(rules.cards(), word);
    if (card == max_cards)
      problem = "No card of this game is called \"" + printable(word.substr(0, 40)) + "\": take it out of the rounds.";
    else if (rounds.size() == max_rounds)
      problem = "A game has at most " + std::to_string(max_rounds) + " rounds: take some back.";
    else
      rounds.push_back(card);
  });
  if (!problem.empty()) return Out::fail(std::move(problem));
  return Out::ok(std::move(rounds));
}

models::Result<Played> replay(Plays& plays, std::span<const std::size_t> cards, std::span<const double> said) {
  using Out = models::Result<Played>;
  const Rules& rules = plays.rules();
  const auto targets = rules.targets();
  Played game;
  const Figures& start = plays.of(rules.start());
  if (!start.bounce.empty()) return Out::fail("The start of this game does not work: " + start.bounce);
  game.rounds.push_back({.cards = rules.start(), .figures = start, .met = targets_met(targets, start)});
  if (game.now().met == targets.size()) game.first_all_met = 0;
  double off = 0;
  for (const std::size_t card : cards) {
    const Round before = game.now();
    if (before.cards.has(card))
      return Out::fail(std::string(rules.cards()[card].name) +
                       " is played where it is there already: take that round out.");
    Round round{.card = card, .cards = put(rules.cards(), before.cards, card)};
    const Figures& after = plays.of(round.cards);
    if (game.count < said.size()) round.said = said[game.count];
    round.bounced = !after.bounce.empty();
    round.figures = round.bounced ? before.figures : after;
    round.figures.bounce = after.bounce;
    if (round.bounced) {
      round.cards = before.cards;
      round.tried_bytes = after.held_bytes;
    }
    round.met = round.bounced ? before.met : targets_met(targets, after);
    round.won = before.figures.said_of - round.figures.said_of;
    if (!round.bounced && round.said > 0 && round.figures.said_of > 0) {
      off += std::abs(std::log(round.said / round.figures.said_of));
      ++game.predicted;
    }
    ++game.count;
    if (!game.all_met() && !round.bounced && round.met == targets.size()) game.first_all_met = game.count;
    game.rounds.push_back(std::move(round));
  }
  if (game.predicted > 0) game.off = std::exp(off / static_cast<double>(game.predicted));
  return Out::ok(std::move(game));
}

void add_round(std::string& rounds, std::vector<double>& said, std::string_view card, double says) {
  std::size_t count = 0;
  for_words(rounds, [&](std::string_view, std::size_t) { ++count; });
  if (count >= max_rounds) return;
  said.resize(count, nothing_said);
  said.push_back(says);
  if (count > 0) rounds += ", ";
  rounds += card;
}

void keep_rounds(std::string& rounds, std::vector<double>& said, std::size_t keep) {
  std::size_t count = 0, length = 0;
  for_words(rounds, [&](std::string_view, std::size_t end) {
    if (count++ < keep) length = end;
  });
  rounds.resize(length);
  if (said.size() > keep) said.resize(keep);
}

void take_back(std::string& rounds, std::vector<double>& said) {
  std::size_t count = 0;
  for_words(rounds, [&](std::string_view, std::size_t) { ++count; });
  if (count > 0) keep_rounds(rounds, said, count - 1);
}

std::vector<StudyPlayed> replay_study(Plays& plays, std::span<const StudyRound> rounds) {
  const Rules& rules = plays.rules();
  std::vector<StudyPlayed> out;
  CardSet set = rules.start();
  const auto add = [&] {
    const Figures& figures = plays.of(set);
    out.push_back({figures, targets_met(rules.targets(), figures)});
  };
  add();
  for (const StudyRound& round : rounds) {
    for (const std::string_view id : round.cards)
      if (const std::size_t card = place_of(rules.cards(), id); card < max_cards) set = put(rules.cards(), set, card);
    add();
  }
  return out;
}

}  // namespace chapters::capstone
