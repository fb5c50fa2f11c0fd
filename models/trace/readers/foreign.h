#pragma once
#include <string>
#include <string_view>

namespace models::trace {

/// So many bytes of a text's beginning are enough to tell what it is.
inline constexpr std::size_t foreign_head_bytes = 4096;

/// One sentence that names what a file is and how to get a recording out of it that can be read, where its first bytes
/// or the end of its name say so; empty otherwise. `head` is the beginning of the text, inflated where it was a gz.
std::string foreign_format(std::string_view head, std::string_view file_name, bool inflated);

}  // namespace models::trace
