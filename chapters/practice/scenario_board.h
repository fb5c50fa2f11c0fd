#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "chapters/mechanism/scenario_deck.h"
#include "models/base/result.h"

/// Deals boards of symptoms, causes, evidence and fixes.
namespace chapters {

enum class BoardColumn : std::uint8_t { symptom, cause, evidence, fix };
inline constexpr std::size_t board_columns = 4;

struct BoardWish {
  std::string_view topic = "any";
  int level = 0;       ///< 0: any
  bool twins = false;  ///< pairs of twins only, as far as there are any
  std::int64_t cards = 5, seed = 0;
};
/// A board: `order[column][row]` is the index of the case whose card lies there. The causes have one row more, the one
/// of `left_over`, whose index is the number of cases.
struct ScenarioBoard {
  std::vector<const SymptomCase*> cases;
  const SymptomCase* left_over = nullptr;
  std::array<std::vector<std::size_t>, board_columns> order;
  std::int64_t of_topic = 0;  ///< how many of the cases are of the topic and level that were asked for
  const SymptomCase& case_at(BoardColumn column, std::size_t row) const;
};

/// Could this cause be what this symptom shows? Its own, its twin's, or one that is said to explain it as well.
bool explains(const SymptomCase& cause, const SymptomCase& symptom);
/// In how many ways symptoms can be given causes that explain them and whose evidence lies on the board and agrees with
/// what the symptom's other instrument reads. A fair board has one.
std::int64_t assignments_of(const ScenarioBoard& board);

/// Cases of the topic and level first, others where these are too few; no row lies next to its answer; one assignment
/// alone is right. The same deck and wish deal the same board. Fails where the deck has too few cases.
models::Result<ScenarioBoard> deal_board(const ScenarioDeck& deck, const BoardWish& wish);

}  // namespace chapters
