#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

/// Some neighbouring bits that mean one thing: sign, exponent, significand.
struct BitField {
  std::string_view label;
  std::size_t bits = 0;
  Tint tint{};
};

/// One row of bits, the most significant first.
struct BitRow {
  std::string_view label;
  std::span<const std::uint8_t> bits;  ///< each 0 or 1
  std::span<const BitField> fields{};  ///< from the left; bits behind the last field are neutral
  std::int64_t shift = 0;    ///< columns to the right of column 0, so that rows of one exponent stand over each other
  std::string_view value{};  ///< what the row is worth, at its right
  std::string_view operation{};  ///< "+" or "=" in front of it; "=" has a rule above
  std::string_view info{};
};

struct BitRowOptions {
  std::int64_t kept = 0;   ///< columns that the register holds, from column 0; bits further right fall off. 0: all
  std::int64_t extra = 0;  ///< columns behind those for guard, round and sticky, in this order: 0 to 3
  float fallen = 1;        ///< how far the lost bits have fallen, 0 to 1: a scrubbed animation
  ImVec2 size{0, 0};       ///< pixels; 0: the width left, and the height that the rows need
  float cell_px = 20;      ///< design pixels of a cell's side, at most
};

/// What becomes of a bit.
enum class BitFate : std::uint8_t { kept, extra, lost };

struct BitCell {
  std::size_t row = 0, bit = 0;
  Rect rect{};
  BitFate fate = BitFate::kept;
};
struct BitFieldPlace {
  std::size_t row = 0, field = 0;
  Rect rect{};         ///< over the field's bits
  bool named = false;  ///< the label has room
};
struct BitRowLayout {
  Rect grid{};     ///< from column 0 to the last that any row reaches
  float cell = 0;  ///< side of a cell in pixels
  std::size_t columns = 0;
  std::vector<BitCell> cells;
  std::vector<BitFieldPlace> fields;
  std::vector<float> row_tops;            ///< Screen y of each row of cells.
  std::size_t shown = 0, left_out = 0;    ///< rows
  float register_px = 0;                  ///< screen x where the register ends; 0: it has no end
  float extra_px = 0;                     ///< screen x where the extra bits end
  std::size_t lost = 0;                   ///< bits of all rows that fall off
  std::size_t lost_ones = 0;              ///< those of them that are 1: they change the result
  bool digits = false;                    ///< cells have room for 0 and 1
  float label_right = 0, value_left = 0;  ///< value_left 0: no room for values
};
/// Cells of one size for all rows, bits of equal weight under each other.
void layout_bit_rows(std::span<const BitRow> rows, const BitRowOptions& options, Rect area, Measure measure,
                     BitRowLayout& out);

struct BitRowView {
  BitRowLayout layout;
};
/// An adder, a cast or a code as bits: fields by colour, what the register cannot hold falls off its right. Returns
/// whether a bit is under the pointer.
bool draw_bit_rows(const char* label, std::span<const BitRow> rows, BitRowView& view,
                   const BitRowOptions& options = {});

}  // namespace widgets
