#pragma once
#include <string>
#include <string_view>

namespace app {

/// True when brackets outside strings nest at most `most` deep; JSON deeper than that is refused before it is parsed.
bool shallow_enough(std::string_view json, int most = 64);
/// The beginning of somebody else's text, fit to be quoted in a sentence: on one line, cut between characters.
std::string excerpt(std::string_view text, std::size_t most = 60);
/// "There is no lab 'roofline/rofline': did you mean 'roofline/roofline'? `ridgeline list` names all."
std::string unknown_lab(std::string_view id);

}  // namespace app
