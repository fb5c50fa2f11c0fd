#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/recall_deck.h"

namespace app {

/// Reads a file of open questions: {"topic": {"id", "label"}, "cards": [{"id", "level", "question", "points", "why",
/// "lab"}]}. What is wrong with a card is said in one sentence of `errors`, and the card is left out. `origin` is the
/// name of the file.
std::vector<chapters::RecallCard> parse_recall(std::string_view text, std::string_view origin,
                                               std::vector<std::string>& errors);

}  // namespace app
