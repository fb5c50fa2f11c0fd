#include "chapters/roofline/hierarchy/human_duration.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace chapters::roofline::hierarchy {

std::string human_duration(double seconds) {
  struct Unit {
    const char* one;
    const char* many;
    double seconds;
  };
  constexpr std::array<Unit, 8> units{{{"million years", "million years", 31557600e6},
                                       {"century", "centuries", 3155760000.0},
                                       {"year", "years", 31557600.0},
                                       {"month", "months", 2629800.0},
                                       {"day", "days", 86400.0},
                                       {"hour", "hours", 3600.0},
                                       {"minute", "minutes", 60.0},
                                       {"s", "s", 1.0}}};
  for (const Unit& unit : units) {
    const double count = seconds / unit.seconds;
    if (!(count >= 0.995) && unit.seconds > 1) continue;
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), count < 9.95 ? "%.1f" : count < 1e6 ? "%.0f" : "%.1e", count);
    const std::string_view digits(number.data());
    return std::string(digits) + " " + (digits == "1.0" ? unit.one : unit.many);
  }
  return {};
}

}  // namespace chapters::roofline::hierarchy
