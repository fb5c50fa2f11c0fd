#include "chapters/mechanism/recall_deck.h"

#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"

namespace chapters {

std::size_t RecallDeck::find(std::string_view id) const {
  const auto at = std::find_if(cards.begin(), cards.end(), [&](const RecallCard& c) { return c.id == id; });
  return static_cast<std::size_t>(at - cards.begin());
}

void index_recall(RecallDeck& deck) {
  // Topics that are chapters stand in the order of teaching, others behind them in the order of their first card.
  std::vector<std::string> order;
  for (const Chapter& chapter : all_chapters()) order.emplace_back(chapter.slug);
  for (const RecallCard& c : deck.cards)
    if (std::find(order.begin(), order.end(), c.topic) == order.end()) order.push_back(c.topic);
  const auto place = [&](const RecallCard& c) { return std::find(order.begin(), order.end(), c.topic); };
  std::stable_sort(deck.cards.begin(), deck.cards.end(),
                   [&](const RecallCard& a, const RecallCard& b) { return place(a) < place(b); });
  deck.topics.resize(1);
  deck.card_choices.resize(1);
  for (const RecallCard& c : deck.cards) {
    if (deck.topics.back().id != c.topic) deck.topics.push_back({c.topic, c.topic_label, ""});
    deck.card_choices.push_back({c.id, c.question, c.topic_label});
  }
}

const RecallDeck& recall_deck() {
  static const RecallDeck none;
  const Catalog& c = catalog();
  return c.recall ? *c.recall : none;
}

}  // namespace chapters
