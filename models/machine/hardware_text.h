#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "models/base/result.h"

namespace models {

/// Fails for the text of a hardware file that is not even worth parsing: over 16 MiB, or brackets deeper than 32
/// levels. Depth is bounded because printing a value for an error recurses.
Status check_json_text(std::string_view text, std::string_view origin);

/// "line 3, column 7" of the byte, counted from 1 as JSON parsers report it; columns are bytes.
std::string place_in_text(std::string_view text, std::size_t byte);

/// "1e+18", "0.75": six digits, for the limits that error sentences name.
std::string short_number(double value);

}  // namespace models
