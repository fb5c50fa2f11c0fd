#pragma once

/// Characters of a text, whatever language the process speaks.
namespace models {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace models
