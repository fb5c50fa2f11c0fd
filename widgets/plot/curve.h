#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "widgets/base/marker.h"
#include "widgets/base/tint.h"

namespace widgets {

/// One series of a plot as a lab's `arrange` fills it; `draw` paints it with Plot::curve and does not describe it
/// again.
struct Curve {
  enum class Kind : std::uint8_t { line, steps, dots, area } kind = Kind::line;
  std::string label;
  std::string info{};    ///< formula or source, for hover
  std::string output{};  ///< the key of the output that it shows, lit with its figure
  Tint tint{};
  float alpha = 1;  ///< opacity of a line, of dots, and of an area's ground
  float width = 2;  ///< a line's or an area's edge's, in design pixels; 0: an area without an edge
  bool dashed = false;
  Marker marker = Marker::circle;  ///< what a dot looks like
  float radius = 5;                ///< a dot's, in design pixels
  bool named = true;               ///< a line's name is written along it where there is room
  bool legend = true;              ///< its name stands in the legend
  bool given = false;              ///< dots or a line known before a question is answered: they stay under its veil
  std::vector<double> x{}, y{};
  std::vector<double> lower{};        ///< an area's lower edge, one a point; empty: it goes down to zero
  std::vector<std::string> labels{};  ///< names of single dots, in order; empty ones are not written

  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
};

}  // namespace widgets
