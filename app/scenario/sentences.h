#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"

/// Pieces of the sentences that tell a person what was wrong and what is allowed.
namespace app {

/// "a, b and c" of every option, key and so on. More than `max_items` are counted: "a, b and 3 more".
std::string sentence_list(const std::vector<std::string>& items, std::size_t max_items = 12);

/// The nearest of `options` to a mistyped word; "" when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& options);

/// The options nearest to a mistyped word, the nearest first, at most `max_items`: those within a few edits, either
/// case of letters alike, and those that contain the word.
std::vector<std::string> nearest_few(std::string_view word, const std::vector<std::string>& options,
                                     std::size_t max_items = 3);

/// "did you mean "a", "b" or "c"?" of at most three options; "" when none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& options);

/// The beginning of somebody else's text, fit to be quoted in a sentence: on one line, cut between characters.
std::string excerpt(std::string_view text, std::size_t max_bytes = 60);

/// "roofline/roofline has no input "chp": did you mean "chip"? It has chip, format and batch."
std::string unknown_key(std::string_view owner, std::string_view what, std::string_view key,
                        const chapters::Fields& fields);

/// "There is no lab "roofline/rofline": did you mean "roofline/roofline"? `ridgeline list` names all."
std::string unknown_lab(std::string_view id);

}  // namespace app
