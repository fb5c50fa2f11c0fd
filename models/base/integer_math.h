#pragma once
#include <cstdint>

/// Whole numbers among quantities.
namespace models {

inline double as_double(std::int64_t n) { return static_cast<double>(n); }

/// a / b rounded up; a >= 0, b > 0.
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace models
