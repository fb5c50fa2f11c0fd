#pragma once
#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

/// A step as a slab of parts, and under it a list of switches: what each takes out of the slab stands below the part
/// that it takes it from, and what it gives back stands behind the slab's end.
namespace widgets {

struct BitePart {
  std::string_view label, info{};
  Tint tint{};
  bool wait = false;  ///< hatched: nothing is done in it
};

/// A slab; values by part, in the chart's unit.
struct BiteBar {
  std::string_view label, note{};
  std::span<const double> values;
  std::string_view total{};
};

inline constexpr std::size_t bite_columns = 5;

struct BiteRow {
  std::string_view label;
  const char* id = "";                    ///< The id of the control.
  std::span<const double> before, after;  ///< by part; empty: it cannot be switched
  bool on = false, lit = false;
  std::string_view note{}, info{};
  std::array<std::string_view, bite_columns> figures{};
};

struct BiteOptions {
  std::span<const BitePart> parts;
  BiteBar first, main;  ///< `main` is the one whose parts the rows bite into
  double floor = std::numeric_limits<double>::quiet_NaN();
  std::string_view floor_label{}, floor_note{};
  std::string_view unit = "s", rows_title{}, bites_title{};
  std::array<std::string_view, bite_columns> titles{};
  /// The column that is left out first, then the next; the others stay.
  std::array<std::size_t, bite_columns> drop_order{4, 3, 1, 2, 0};
  ImVec2 size{0, 0};
};

enum class BiteCaption : std::uint8_t { none, value, name, both };
struct BitePiece {
  std::size_t part = 0;
  Rect rect{};
  BiteCaption caption = BiteCaption::none;
};
/// What a switch takes from a part, or gives it.
struct PlacedBite {
  std::size_t row = 0, part = 0;
  Rect rect{};
  bool given = false;
};

struct BiteLayout {
  Rect slab{};  ///< x: the time axis from 0; y: all of the chart
  float px_per_unit = 0;
  std::vector<BitePiece> first, main;
  Rect first_rect{}, main_rect{}, floor_rect{};
  float floor_x = 0, rows_top = 0, heads_y = 0;
  std::vector<Rect> rows;
  std::vector<PlacedBite> bites;
  std::array<float, bite_columns> column_right{};  ///< 0: left out
  std::vector<LegendEntry> legend;                 ///< parts that either slab has
  std::vector<PlacedLegend> placed_legend;
  float label_left = 0;
};

/// A legend, slabs and rows on one axis. Columns are left out until the axis has room, and in little height the legend,
/// the first slab, the floor and the last rows, in this order: what is left out has an empty rectangle or none.
void layout_bites(std::span<const BiteRow> rows, const BiteOptions& options, Rect area, Measure measure,
                  BiteLayout& out);

struct BiteView {
  BiteLayout layout;
  std::ptrdiff_t hovered = -1;  ///< the row under the pointer
};

/// Draws at the cursor. Returns the row that was pressed, -1 without one.
std::ptrdiff_t draw_bites(const char* label, std::span<const BiteRow> rows, BiteView& view, const BiteOptions& options);

}  // namespace widgets
