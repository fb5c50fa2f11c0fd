#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/learning/fsrs.h"

/// A deck of cards over the days to come: how many answers a day it asks for, and how much of it is known at the end.
namespace models {

/// A card of the deck. One that was never answered has an empty memory.
struct DeckCard {
  FsrsMemory memory;
  double since_days = 0;  ///< from the last answer to the first day of the forecast
};

struct DeckPlan {
  double retention = 0.9;  ///< 0 to 1: a card is asked again when its chance has fallen to this
  std::int64_t days = 60;  ///< how many days are forecast
  std::int64_t new_a_day = 8;
  double first_known = 0.5;  ///< share of new cards that are known at first sight
  std::uint64_t seed = 1;
  std::int64_t runs = 4;            ///< the forecast is their mean
  std::int64_t known_samples = 60;  ///< on how many days what is known is summed; 1: on the last alone
};

struct DeckForecast {
  std::vector<double> answers;  ///< one a day
  /// Cards that are known at the end of some days, the sum of their chances: `known_samples` days at most, evenly
  /// apart, the last day among them.
  std::vector<double> known_days, known;
  double answers_a_day = 0, most_a_day = 0, seen = 0, known_at_end = 0;
};

/// Follows every card day by day. A card that is asked is known with its chance, drawn at random, and then graded good,
/// else again. New cards come in the order of the deck. Whatever is due is answered, each card at most once a day.
DeckForecast forecast_deck(std::span<const DeckCard> deck, const DeckPlan& plan);

}  // namespace models
