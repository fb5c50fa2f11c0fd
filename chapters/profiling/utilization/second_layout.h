#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

/// One second of the chip's peak as a square: time to the right, share of the peak rate upwards, so that an area is a
/// share of what could have been multiplied.
namespace chapters::profiling::utilization {

enum class PartFill : std::uint8_t { solid, pale, hatched };

/// A part of the second in shares of it: x is time, y is rate from the ground up.
struct SecondPart {
  std::string name;
  double x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  widgets::Tint tint{};
  PartFill fill = PartFill::solid;
  std::string value, info;
  double share() const { return (x1 - x0) * (y1 - y0); }
};

/// A line of the subtraction beside the square.
struct LedgerLine {
  std::string words, value;
  bool total = false;     ///< what is left so far, in bold
  bool reported = false;  ///< the convention's own figure
  widgets::Tint tint{};
  PartFill fill = PartFill::solid;
};

/// One of the four meters as a bar.
struct Meter {
  std::string name, value;
  double share = 0;  ///< may exceed 1
  widgets::Tint tint{};
  std::string_view output{};  ///< key of the output that it shows
};

struct PlacedPart {
  std::size_t part = 0;
  widgets::Rect rect{};
  bool named = false;  ///< the name fits inside
  float name_y = 0;    ///< middle of its words, clear of the reported utilization's line
};

struct SecondLayout {
  widgets::Rect square{};  ///< the whole second
  widgets::Rect ledger{};
  std::vector<PlacedPart> parts;
  bool totals_only = false;          ///< the ledger has no room for the losses
  bool has_dimensions = true;        ///< there is room for the two dimension lines
  float line_px = 0;                 ///< height of a line of the ledger
  float busy_x = 0, products_x = 0;  ///< where these end
  float reported_y = 0;              ///< top of the reported utilization's frame
  bool reported_over = false;        ///< it would stand above the square
  float meters_top = 0;              ///< under the ledger; below 0: there is no room for them
  float dimension_y[2]{};            ///< heights of the two dimension lines under the square
};

/// Room for the axes' words at the left and under the square, the ledger at the right in a third of the width or what
/// its widest line needs, `meters` bars under it where a line for each is left. A low area drops the dimension lines,
/// and the ledger's losses where not all its lines fit. Parts are placed to the pixel: neighbours share their edge.
void layout_second(const std::vector<SecondPart>& parts, const std::vector<LedgerLine>& ledger, double busy,
                   double products, double reported, std::size_t meters, widgets::Rect area, widgets::Measure measure,
                   float px, float line, SecondLayout& out);

}  // namespace chapters::profiling::utilization
