#include "widgets/base/fit_text.h"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace {

/// As `s` would stand in room for `letters` letters.
std::string fitted(std::string_view s, std::size_t letters) {
  char room[256];
  return std::string(widgets::fit_text(s, room, [&](std::string_view part) {
    std::size_t n = 0;
    for (const char c : part) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    return n <= letters;
  }));
}

}  // namespace

TEST_CASE("words shorten to an ellipsis, down to nothing") {
  CHECK(fitted("communication", 13) == "communication");
  CHECK(fitted("communication", 8) == "communi…");
  CHECK(fitted("communication", 1).empty());
  CHECK(fitted("größer", 4) == "grö…");
}

TEST_CASE("a quantity is whole, without its unit, or nothing") {
  CHECK(fitted("1.33 ms", 7) == "1.33 ms");
  CHECK(fitted("1.33 ms", 6) == "1.33");
  CHECK(fitted("1.33 ms", 4) == "1.33");
  CHECK(fitted("1.33 ms", 3).empty());
  CHECK(fitted("12: 33.4 ms", 8) == "12: 33.4");
  CHECK(fitted("12: 33.4 ms", 7).empty());
  CHECK(fitted("$2.50/h", 6).empty());
  CHECK(fitted("128 GPUs in one rack", 12) == "128 GPUs in…");
}

TEST_CASE("a short unit goes with its number, a word after a number shortens") {
  CHECK(fitted("one more: 1.40 GB over", 17) == "one more: …");
  CHECK(fitted("one more: 1.40 GB over", 21) == "one more: 1.40 GB ov…");
  CHECK(fitted("reads 128 tokens", 13) == "reads 128 to…");
}

TEST_CASE("no token with a digit is cut, in a name neither, and no ellipsis touches one") {
  CHECK(fitted("Llama 3.1 70B", 12) == "Llama 3.1 …");
  CHECK(fitted("Llama 3.1 70B", 10) == "Llama …");
  CHECK(fitted("H100 SXM memory", 8) == "H100 SX…");
  for (const std::string_view s : {"Llama 3.1 70B Instruct", "step 1,024 of 4,096", "gate and up, 128 tokens", "H100"})
    for (std::size_t letters = 0; letters < s.size(); ++letters) {
      const std::string part = fitted(s, letters);
      INFO(s << " in " << letters << ": " << part);
      const std::size_t cut = part.find("…");
      const std::string kept = part.substr(0, cut);
      CHECK(s.substr(0, kept.size()) == kept);
      if (!kept.empty() && kept.back() >= '0' && kept.back() <= '9') {
        CHECK(cut == std::string::npos);
        CHECK((kept.size() == s.size() || s[kept.size()] == ' '));
      }
    }
}
