// What a person types for a number of each unit: accepted values are finite, and what the program shows of them can be
// typed again.
#include <cmath>

#include "tests/fuzz/fuzz.h"
#include "widgets/number/number.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto typed = fuzz::text_of(data, size);
  for (const std::string_view unit :
       {"", "s", "B", "B/s", "FLOP", "FLOP/s", "FLOP/B", "W", "J", "Hz", "%", "tokens", "USD/h", "cycles"}) {
    const auto read = widgets::parse_quantity(typed, unit);
    if (!read.error.empty()) {
      fuzz::require_sentence(read.error);
      continue;
    }
    fuzz::require(std::isfinite(read.value), "a number that is none", typed);
    const double size_of_it = std::abs(read.value);
    if (size_of_it != 0 && !(size_of_it > 1e-300 && size_of_it < 1e300))
      continue;  // nine digits may round past the ends of a double
    const auto shown = widgets::format(read.value, unit, 9);
    const auto again = widgets::parse_quantity(shown, unit);
    fuzz::require(again.error.empty(), "what is shown cannot be typed", shown.view());
    fuzz::require(std::abs(again.value - read.value) <= 2e-8 * size_of_it, "what is shown reads as another number",
                  shown.view());
  }
  return 0;
}
