#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Stops the program, which is how a fuzz target says that something is wrong. Written so that a NaN in `good` fails.
inline void require(bool good, const char* what, std::string_view detail = "") {
  if (good) return;
  std::fprintf(stderr, "%s: %s\n", what, std::string(detail).c_str());
  std::abort();
}

/// Every refusal is one sentence that a person can read: not empty, not endless, on one line.
inline void require_sentence(std::string_view error) {
  require(!error.empty() && error.size() < 4096 && error.find('\n') == std::string_view::npos, "not one sentence",
          error);
}

/// Either a value or a sentence.
template <class Result>
bool accepted(const Result& result) {
  if (result) return require(result.error.empty(), "a value with an error", result.error), true;
  require_sentence(result.error);
  return false;
}

}  // namespace fuzz
