// A file of open questions: each card that is taken keeps the limits, and each fault is one sentence.
#include "app/content/load_recall.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> errors;
  chapters::RecallDeck deck;
  deck.cards = app::parse_recall(fuzz::text_of(data, size), "recall.json", errors);
  for (const auto& error : errors) fuzz::require_sentence(error);
  for (const auto& card : deck.cards) {
    fuzz::require(!card.question.empty(), "a card without a question", card.id);
    fuzz::require(card.points.size() >= chapters::min_recall_points, "too few points", card.id);
    fuzz::require(card.points.size() <= chapters::max_recall_points, "too many points", card.id);
  }
  chapters::index_recall(deck);
  fuzz::require(deck.card_choices.size() == deck.cards.size() + 1, "a card without a choice", "deck");
  return 0;
}
