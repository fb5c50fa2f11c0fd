#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace widgets {

/// Bytes of the UTF-8 character at the start of `s`; 0 when there is no valid one.
std::size_t utf8_length(std::string_view s);

/// The text with every byte that is not part of a valid UTF-8 character as '?'; `first_bad` is the first such byte's
/// offset, or the size of the text when all is well.
std::string valid_utf8(std::string_view text, std::size_t& first_bad);

/// The character behind "&amp;", "&#955;" and the like; an entity that is not known stays as it is.
std::string decode_entity(std::string_view entity);

}  // namespace widgets
