#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace models {

inline constexpr std::size_t longest_json_bytes = 4u << 20;
inline constexpr int deepest_json = 64;

/// One sentence that says why `text` is not JSON that a loader may read (too long, not UTF-8, nested too deeply, a
/// syntax error with its line, a key given twice in one object), or nothing if it is. Never throws.
std::string json_problem(std::string_view text, std::string_view origin);

}  // namespace models
