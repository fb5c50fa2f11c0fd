#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/scenario_deck.h"

namespace app {

/// Reads {"symptoms": [...], "branching": [...], "designs": [...], "pitches": [...]}, each list optional, into `deck`;
/// a later entry takes the place of one with its id. What is wrong with one entry is said in `errors`, one sentence
/// each, and the others are taken. Whether links open and labs have what is named is asked by `ridgeline check`.
void parse_scenarios(std::string_view text, std::string_view origin, chapters::ScenarioDeck& deck,
                     std::vector<std::string>& errors);

}  // namespace app
