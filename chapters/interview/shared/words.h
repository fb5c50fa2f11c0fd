#pragma once
#include <span>
#include <string>
#include <string_view>

#include "chapters/practice/drill_history.h"

/// Words that the interview labs share.
namespace chapters::interview {

/// As people say counts: "12.9 G parameters" becomes "12.9 billion parameters", and "x", "^2" and "^3" between the
/// figures of a formula become the signs.
std::string spoken(std::string_view text);
/// What was typed with "thousand", "million", "billion" or "trillion" in it, as a prefix that the grading reads.
std::string typed_prefixes(std::string_view text);
/// A line such as "2 x layers x bytes" or "2 n^3 / (3 n^2 x bytes)" as markup of widgets/formula. Empty where it is not
/// a product, a quotient or a power but a sentence.
std::string formula_of(std::string_view line);

/// "7 of 9 right", "7 right and 1 near of 9", or that nothing was asked.
std::string right_of_asked(const TopicStanding& standing);

/// The topic whose answers support the least, of those with at least `least_asked` of them; null where there is none.
inline constexpr double least_asked = 3;
const TopicStanding* weakest_topic(std::span<const TopicStanding> standings);

}  // namespace chapters::interview
