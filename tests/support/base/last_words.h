#pragma once
#include <string_view>

namespace support {

/// While alive, a process that dies of a signal or of a sanitizer first writes what was set last to standard error: a
/// long random run says so what it was doing. One at a time.
class LastWords {
 public:
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  /// Keeps a copy of at most 4,096 bytes.
  static void set(std::string_view words);
};

}  // namespace support
