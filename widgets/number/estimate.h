#pragma once
#include <string_view>

#include "widgets/number/number.h"

namespace widgets {

/// The ends of a range that is taken as its middle are within this share of the middle.
inline constexpr double narrow_range = 0.05;

/// Reads what a person estimates, where a number of `unit` is expected: as parse_quantity, and besides "~141 GB",
/// "about 141 GB", and a range "140-142 GB", "140 to 142 GB" or "0.9 GB - 1 GB". A narrow range is its middle; a wider
/// one is refused, since it says no figure.
ParsedQuantity parse_estimate(std::string_view text, std::string_view unit);

}  // namespace widgets
