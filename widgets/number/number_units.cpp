#include "widgets/number/number_units.h"

#include <algorithm>
#include <array>

namespace widgets {
namespace {

constexpr std::array<Multiple, 12> decimal{{{"f", 1e-15},
                                            {"p", 1e-12},
                                            {"n", 1e-9},
                                            {"\xC2\xB5", 1e-6},
                                            {"m", 1e-3},
                                            {"", 1},
                                            {"k", 1e3},
                                            {"M", 1e6},
                                            {"G", 1e9},
                                            {"T", 1e12},
                                            {"P", 1e15},
                                            {"E", 1e18}}};
constexpr std::array<Multiple, 7> binary{{{"", 1},
                                          {"Ki", 1024.0},
                                          {"Mi", 1048576.0},
                                          {"Gi", 1073741824.0},
                                          {"Ti", 1099511627776.0},
                                          {"Pi", 1125899906842624.0},
                                          {"Ei", 1152921504606846976.0}}};
constexpr std::array<Multiple, 3> long_time{{{"min", 60}, {"h", 3600}, {"days", 86400}}};
constexpr std::array<std::string_view, 4> counted{"token", "tokens", "parameter", "parameters"};

}  // namespace

std::string_view unit_head(std::string_view unit) { return unit.substr(0, unit.find('/')); }
std::string_view unit_tail(std::string_view unit) {
  const std::size_t slash = unit.find('/');
  return slash == std::string_view::npos ? std::string_view() : unit.substr(slash);
}

UnitFamily unit_family(std::string_view unit) {
  const std::string_view head = unit_head(unit);
  if (head == "s") return UnitFamily::time;
  if (head == "B") return UnitFamily::bytes;
  // Arithmetic intensity is read and compared as a bare figure: 295 FLOP/B, never 0.295 kFLOP/B.
  if (head == "FLOP") return unit_tail(unit) == "/B" ? UnitFamily::intensity : UnitFamily::rate;
  if (head == "Hz") return UnitFamily::rate;
  if (head == "J" || head == "W" || head == "m") return UnitFamily::energy;
  if (head == "$") return UnitFamily::money;
  return std::find(counted.begin(), counted.end(), head) != counted.end() ? UnitFamily::count : UnitFamily::plain;
}

std::span<const Multiple> decimal_multiples() { return decimal; }
std::span<const Multiple> binary_multiples() { return binary; }
std::span<const Multiple> long_times() { return long_time; }

}  // namespace widgets
