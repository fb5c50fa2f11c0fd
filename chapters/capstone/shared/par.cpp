#include <algorithm>
#include <unordered_set>
#include <utility>

#include "chapters/capstone/shared/game.h"

namespace chapters::capstone {
namespace {

/// A state on its way: the state before it and the card that was put.
struct Reached {
  CardSet cards{};
  std::size_t before = 0, card = max_cards;
};

/// Sets of cards that can be at most: each slot holds one of its cards or none.
double count_states(std::span<const Card> cards) {
  double states = 1;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const auto same = [&](const Card& c) { return !c.slot.empty() && c.slot == cards[i].slot; };
    const auto first = std::find_if(cards.begin(), cards.end(), same);
    if (first != cards.end() && first - cards.begin() < static_cast<std::ptrdiff_t>(i)) continue;
    const auto in_slot = std::max<std::ptrdiff_t>(1, std::count_if(cards.begin(), cards.end(), same));
    states *= static_cast<double>(in_slot + 1);
  }
  return states;
}

std::vector<std::size_t> cards_to(const std::vector<Reached>& reached, std::size_t at) {
  std::vector<std::size_t> cards;
  for (; reached[at].card != max_cards; at = reached[at].before) cards.push_back(reached[at].card);
  std::reverse(cards.begin(), cards.end());
  return cards;
}

}  // namespace

Par find_par(Plays& plays, Progress& progress) {
  const Rules& rules = plays.rules();
  const auto cards = rules.cards();
  const auto targets = rules.targets();
  const double most = count_states(cards);
  Par par;
  std::vector<Reached> reached{{.cards = rules.start()}};
  std::unordered_set<std::uint32_t> seen{rules.start().bits};
  const auto wins = [&](std::size_t at) { return targets_met(targets, plays.of(reached[at].cards)) == targets.size(); };
  const auto win = [&](std::size_t at, std::size_t depth) {
    if (++par.ways > 1) return;
    par.exists = true;
    par.rounds = depth;
    par.cards = cards_to(reached, at);
  };
  if (!plays.of(rules.start()).bounce.empty()) return par;
  if (wins(0)) win(0, 0);
  std::size_t level = 0;
  for (std::size_t depth = 1; !par.exists && level < reached.size(); ++depth) {
    const std::size_t end = reached.size();
    for (; level < end; ++level) {
      for (std::size_t card = 0; card < cards.size(); ++card) {
        if (progress.cancelled) return par;
        const CardSet from = reached[level].cards;
        if (from.has(card)) continue;
        const CardSet set = put(cards, from, card);
        if (!seen.insert(set.bits).second || !plays.of(set).bounce.empty()) continue;
        reached.push_back({set, level, card});
        if (wins(reached.size() - 1)) win(reached.size() - 1, depth);
      }
      progress.fraction = std::min(1.0, static_cast<double>(seen.size()) / most);
    }
  }
  par.states = seen.size();
  par.searched = true;
  return par;
}

}  // namespace chapters::capstone
