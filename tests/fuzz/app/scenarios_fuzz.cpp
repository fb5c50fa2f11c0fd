// A file of scenarios: what is wrong is said in sentences, and what is taken deals boards with one right assignment and
// branching cases that can be won.
#include "app/content/load_catalog.h"
#include "app/content/load_scenarios.h"
#include "chapters/practice/scenario_board.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> errors;
  chapters::ScenarioDeck deck;
  app::parse_scenarios(fuzz::text_of(data, size), "scenarios.json", deck, errors);
  for (const std::string& fault : chapters::faults_of(deck)) errors.push_back(fault);
  for (const auto& error : errors) fuzz::require_sentence(error);
  chapters::index_deck(deck);
  for (std::int64_t seed = 0; seed < 4; ++seed) {
    const auto board = chapters::deal_board(deck, {.twins = seed % 2 == 1, .cards = 4, .seed = seed});
    if (!board)
      fuzz::require_sentence(board.error);
    else
      fuzz::require(chapters::assignments_of(*board) == 1, "a board with several right assignments", "board");
  }
  return 0;
}
