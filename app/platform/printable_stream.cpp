#include "app/platform/printable_stream.h"

namespace app {

/// The control characters of Unicode from U+0080 to U+009F are C2 80 to C2 9F in UTF-8.
bool PrintableStream::put(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool after_c2 = after_c2_;
  after_c2_ = byte == 0xC2;
  if (after_c2) {
    const bool control = byte >= 0x80 && byte <= 0x9F;
    if (control) return static_cast<bool>(to_.put('?'));
    to_.put('\xC2');
  }
  if (after_c2_) return to_.good();  // it waits for the next
  const bool control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
  return static_cast<bool>(to_.put(control ? '?' : c));
}

int PrintableStream::overflow(int c) {
  if (std::char_traits<char>::eq_int_type(c, std::char_traits<char>::eof())) return std::char_traits<char>::not_eof(c);
  return put(std::char_traits<char>::to_char_type(c)) ? c : std::char_traits<char>::eof();
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize size) {
  std::streamsize done = 0;
  while (done < size && put(text[done])) ++done;
  return done;
}

int PrintableStream::sync() { return to_.flush() ? 0 : -1; }

}  // namespace app
