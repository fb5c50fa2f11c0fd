#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "widgets/base/tint.h"

namespace widgets {

/// One series of a plot as a lab's `arrange` fills it; `draw` paints it with Plot::curve and does not describe it
/// again.
struct Curve {
  enum class Kind : std::uint8_t { line, steps, dots } kind = Kind::line;
  std::string label;
  std::string info{};    ///< formula or source, for hover
  std::string output{};  ///< the key of the output that it shows, lit with its figure
  Tint tint{};
  float width = 2;  ///< A line's width in design pixels.
  bool dashed = false;
  bool named = true;   ///< a line's name is written along it where there is room
  bool legend = true;  ///< its name stands in the legend
  std::vector<double> x{}, y{};

  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
};

}  // namespace widgets
