#pragma once
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

/// A chip's memory as a vessel that is filled in layers by owner, with a rim; what does not fit stands above it,
/// hatched. Several vessels stand side by side on one scale, joined by ribbons.
namespace widgets {

struct VesselLayer {
  std::string_view label;
  double value = 0;  ///< in the chart's unit; what is not above 0 is left out
  Tint tint{};
  bool pale = false;  ///< lighter, for an owner that belongs to the one of the same hue
  std::string_view info{};
};

struct Vessel {
  std::string_view label;                                 ///< under the vessel
  std::string_view note;                                  ///< over it, under the total
  std::span<const VesselLayer> layers;                    ///< from the ground up
  double rim = std::numeric_limits<double>::quiet_NaN();  ///< what it holds; NaN: no rim
};

/// A dimension line left of the first vessel.
struct VesselBracket {
  double from = 0, to = 0;
  std::string_view bold, words;
};

struct VesselOptions {
  std::string_view unit{};
  ImVec2 size{0, 0};  ///< pixels; 0: what is left
  bool ribbons = true;
  std::span<const VesselBracket> brackets{};
  bool axis = false;  ///< round values of the unit left of the first vessel, and its rim among them
  /// Keys of outputs, between spaces, that a level over the ground shows: a guess of one of them stands as a line
  /// across the first vessel.
  std::string_view levels{};
  /// Above 0: value a pixel, with the ground at screen y `ground`, so that a vessel stands on the scale of a plot
  /// beside it.
  double scale = 0;
  float ground = 0;
};

/// A value on the axis.
struct VesselTick {
  double value = 0;
  float y = 0;
  bool rim = false;
};

enum class VesselCaption : std::uint8_t { none, inside, beside };

struct VesselPiece {
  std::size_t vessel = 0, layer = 0;
  Rect rect{};
  double value = 0;   ///< The layer's value, or that of its part where the rim cuts it.
  bool over = false;  ///< above the rim
  VesselCaption caption = VesselCaption::none;
  float caption_y = 0;  ///< middle of the words
};

struct PlacedVessel {
  Rect body{};    ///< from the ground to the rim, or to the top of what it holds where it has none
  float top = 0;  ///< y of the highest of fill and rim
  double total = 0;
};

struct VesselLayout {
  std::vector<VesselPiece> pieces;  ///< bottom up; a layer that the rim cuts has two
  std::vector<PlacedVessel> vessels;
  double scale = 1;               ///< value a pixel
  float ground = 0;               ///< y
  float left = 0;                 ///< x where the brackets end
  std::vector<VesselTick> ticks;  ///< from the ground up; round values that would touch the rim's are left out
  float axis = 0;                 ///< width of their words
};

/// Vessels of one width between room for brackets at the left and for words beside the last one; the highest of totals
/// and rims takes the height that two lines of type leave.
void layout_vessels(std::span<const Vessel> vessels, const VesselOptions& options, Rect area, Measure measure,
                    VesselLayout& out);

struct VesselView {
  VesselLayout layout;
};

/// Draws at the cursor. Returns the vessel that was clicked, -1 without one.
std::ptrdiff_t draw_vessels(const char* label, std::span<const Vessel> vessels, VesselView& view,
                            const VesselOptions& options = {});

/// The colour of a layer: `pale` mixes it with white.
ImU32 vessel_colour(Tint tint, bool pale, const Theme& theme);

}  // namespace widgets
