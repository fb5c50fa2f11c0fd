#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"

namespace chapters {

inline constexpr int recall_levels = 3;
inline constexpr std::size_t min_recall_points = 3, max_recall_points = 6;

/// An open question with what a full answer says.
struct RecallCard {
  std::string id, topic, topic_label, question;
  int level = 1;                    ///< 1 know it, 2 explain it, 3 judge with it
  std::vector<std::string> points;  ///< short statements, in the order in which one says them
  std::string why;                  ///< why it is asked, or the mistake that people make; may be empty
  std::string lab;                  ///< link to where it is seen: "inference/kv-cache?batch=32"
};

/// The open questions of the catalog. Immutable once in force.
struct RecallDeck {
  std::vector<RecallCard> cards;
  /// Filled by `index_recall`, in the order of the cards.
  Choices topics{{"due", "due first, then new", ""}};
  Choices card_choices{{"due", "the next one", "What is due first, then a new one."}};

  /// The place of a card in `cards`; its size where there is none with that id.
  std::size_t find(std::string_view id) const;
};

void index_recall(RecallDeck& deck);

/// The deck of the catalog in force; empty where it has none.
const RecallDeck& recall_deck();

}  // namespace chapters
