#pragma once
#include <string_view>

#include "widgets/base/parts.h"

/// Words that have less room than they need.
namespace widgets {

/// The text where it fits in `width` pixels; else its beginning and its end with an ellipsis between, the end a little
/// the longer, since names differ there. Empty where not even two letters and the ellipsis fit.
Line shorten_middle(std::string_view s, float width, Type type = Type::body, Font font = Font::sans);

/// A title, which is never cut: the whole where it fits in `width` pixels; else what stands before its first comma or
/// bracket; else nothing.
std::string_view fitting_title(std::string_view s, float width, Type type = Type::small, Font font = Font::sans);

/// How much of the beginning of `a` and `b` is the same, up to and with the last space, slash, colon, dot, dash or
/// underscore in it; 0 where they part before one.
std::size_t common_prefix(std::string_view a, std::string_view b);

/// "stream 2" before "stream 10": runs of digits compare by their value, all else by bytes.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace widgets
