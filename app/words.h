#pragma once
#include <string>
#include <string_view>

namespace app {

/// True when brackets outside strings nest at most `most` deep; JSON deeper than that is refused before it is parsed.
bool shallow_enough(std::string_view json, int most = 64);
/// "There is no lab 'roofline/rofline': did you mean 'roofline/roofline'? `ridgeline list` names all."
std::string unknown_lab(std::string_view id);

}  // namespace app
