#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chapters/precision/number_line/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::number_line {

void paint_ticks(const widgets::Painter& p, const Frame& frame, float top, float bottom) {
  const auto& t = widgets::theme();
  const double span = frame.stretch.hi - frame.stretch.lo;
  const double room = static_cast<double>((frame.right - frame.left) /
                                          t.px(frame.axis == models::LineAxis::log2 && span > 6 ? 64 : 150));
  float clear_from = frame.left - t.px(30);
  // Raised digits of the monospaced font stand far apart; decimals align better in it.
  const bool powers = frame.axis == models::LineAxis::log2 && span > 6;
  const widgets::Font font = powers ? widgets::Font::sans : widgets::Font::mono;
  const auto tick = [&](double coordinate, std::string_view text) {
    const float x = frame.x(coordinate);
    if (x < frame.left - 0.5f || x > frame.right + 0.5f) return;
    p.line({x, top}, {x, bottom}, t.grid);
    const float wide = widgets::text_size(text, widgets::Type::small, font).x;
    const float from = std::clamp(x - wide / 2, frame.left - t.px(20), frame.right - wide);
    if (from < clear_from) return;
    p.text({from, bottom + t.px(6)}, text, t.muted, widgets::Type::small, font);
    clear_from = from + wide + t.px(10);
  };
  const double raw = span / std::max(room, 1.0);
  if (powers) {
    // A view zoomed out without end spans more than whole numbers hold, and no exponent that has a name.
    constexpr double most = 1e6;
    const double every = std::max(1.0, std::ceil(raw)), last = std::min(frame.stretch.hi, most);
    if (!std::isfinite(every) || every > most) return;
    for (double k = std::floor(std::max(frame.stretch.lo, -most) / every) * every; k <= last; k += every)
      tick(k, widgets::power_of_two(static_cast<int>(k)).view());
    return;
  }
  // Ticks stand at round decimals of the value (by share on the ordinal axis), with as many digits as tell neighbours
  // apart.
  const bool log = frame.axis == models::LineAxis::log2;
  const double lo = log ? std::exp2(frame.stretch.lo) : frame.stretch.lo,
               hi = log ? std::exp2(frame.stretch.hi) : frame.stretch.hi;
  const double least = (hi - lo) / std::max(room, 1.0), decade = std::pow(10, std::floor(std::log10(least)));
  const double step = least / decade <= 1   ? decade
                      : least / decade <= 2 ? 2 * decade
                      : least / decade <= 5 ? 5 * decade
                                            : 10 * decade;
  if (!(step > 0) || !std::isfinite(step)) return;
  const double largest = std::max(std::abs(lo), std::abs(hi));
  const int digits = static_cast<int>(std::clamp(std::ceil(std::log10(largest / step)) + 1, 1.0, 17.0));
  for (int i = 0; i < 64; ++i) {
    const double v = (std::ceil(lo / step) + i) * step;
    if (v > hi) break;
    char text[40];
    const double shown = std::abs(v) < step / 2 ? 0.0 : v;
    if (largest < 1e7 && step > 1e-16 && (largest > 1e-3 || shown == 0))
      std::snprintf(text, sizeof text, "%.*f", static_cast<int>(std::max(0.0, std::ceil(-std::log10(step) - 1e-9))),
                    shown);
    else
      std::snprintf(text, sizeof text, "%.*g", digits, shown);
    tick(log ? std::log2(v) : v, text);
  }
}

}  // namespace chapters::precision::number_line
