#pragma once
#include <string>
#include <string_view>
#include <utility>

/// Where file bytes become text: Windows programs write byte order marks and UTF-16, which no reader behind this knows.
namespace app {

enum class Encoding : unsigned char { plain, utf8_marked, utf16_little, utf16_big };

/// How the text that begins so is written: by its byte order mark or, of UTF-16 without one, by an opening bracket, a
/// letter or a digit in units of two bytes. What goes on as no text would, such as a safetensors header whose length
/// looks like a mark, is plain.
Encoding encoding_of(std::string_view head);

/// The text in UTF-8 and without a mark. A half of a surrogate pair becomes U+FFFD, an odd last byte is dropped.
std::string to_utf8(std::string bytes, Encoding encoding);
inline std::string to_utf8(std::string bytes) {
  const Encoding encoding = encoding_of(bytes);
  return to_utf8(std::move(bytes), encoding);
}

}  // namespace app
