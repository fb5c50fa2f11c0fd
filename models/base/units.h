#pragma once
#include <cstdint>

/// SI throughout: seconds, bytes, flops, watts, joules. Decimal and binary multiples are never mixed.
namespace models {

inline constexpr double kilo = 1e3, mega = 1e6, giga = 1e9, tera = 1e12, peta = 1e15;
inline constexpr double kibi = 1024.0, mebi = 1048576.0, gibi = 1073741824.0, tebi = 1099511627776.0;

}  // namespace models
