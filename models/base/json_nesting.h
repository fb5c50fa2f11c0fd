#pragma once
#include <string_view>

namespace models {

/// Deepest nesting of brackets outside strings, valid JSON or not: what nests too deep is refused before a parser
/// recurses into it.
int json_nesting(std::string_view text);

}  // namespace models
