#pragma once
#include <cstdint>

namespace widgets {

/// The shape that stands for a series or a class beside its colour, in plots, tables and legends.
enum class Marker : std::uint8_t { none, circle, square, triangle, diamond };

}  // namespace widgets
