#pragma once
#include "widgets/charts/token_rain.h"

namespace widgets {

/// The lower band of a token rain: each group's phases as columns that hang down, what it waits for the slowest, and
/// the end for all. `hovered` is a bucket whose group stands out, -1: none; `passed` the share of the clock that is
/// over, 1: all.
void paint_rain_clock(const TokenRain& rain, const TokenRainLayout& layout, std::int64_t hovered, double passed);

}  // namespace widgets
