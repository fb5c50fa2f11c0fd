#pragma once
#include <cstdint>
#include <span>
#include <string_view>

/// What number.cpp and number_parse.cpp both need to know of units.
namespace widgets {

/// How a unit takes multiples. `bytes` and `rate` (FLOP, Hz) go up only; `energy` (J, W, and m) both ways; `time` has
/// min, h and days; `intensity` (FLOP/B) goes up from a million on.
enum class UnitFamily : std::uint8_t { plain, count, bytes, rate, energy, time, money, intensity };

struct Multiple {
  std::string_view name;  ///< "k", "Gi"; for long times the whole unit: "min"
  double factor;
};

UnitFamily unit_family(std::string_view unit);
/// "B" of "B/s".
std::string_view unit_head(std::string_view unit);
/// "/s" of "B/s"; empty when there is none.
std::string_view unit_tail(std::string_view unit);
std::span<const Multiple> decimal_multiples();  ///< f to E, rising; includes the empty name for 1
std::span<const Multiple> binary_multiples();   ///< 1, Ki to Ei, rising
std::span<const Multiple> long_times();         ///< min, h, days, rising

}  // namespace widgets
