#pragma once
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

/// The bytes of one thing in a row, one cell a byte, a row for each way to keep it, with a line that they must end
/// before.
namespace widgets {

struct ByteRun {
  std::string_view label;
  double bytes = 0;
  Tint tint{};
  bool pale = false;
};

struct ByteStripRow {
  std::string_view label, note;  ///< the note stands muted behind the label
  std::span<const ByteRun> runs;
  std::string_view figure;  ///< at the right: what all of them take
  bool chosen = false;
  char letter = '\0';  ///< in a ring before the row
};

struct ByteStripOptions {
  ImVec2 size{0, 0};
  double limit = std::numeric_limits<double>::quiet_NaN();  ///< bytes; NaN or not above 0: none
  std::string_view figure_title{};
};

struct ByteCell {
  std::size_t row = 0, run = 0;
  Rect rect{};  ///< narrower where a byte is only begun
};

struct ByteStripLayout {
  std::vector<ByteCell> cells;
  std::vector<Rect> rows;          ///< those that have room
  std::vector<std::size_t> shown;  ///< which they are: chosen ones before others, in their order
  float left = 0, cell = 1;
  float x(double bytes) const { return left + cell * static_cast<float>(bytes); }
};

/// Cells of one width, so that the longest row and the limit have room left of the figures.
void layout_byte_strip(std::span<const ByteStripRow> rows, const ByteStripOptions& options, Rect area,
                       ByteStripLayout& out);

struct ByteStripView {
  ByteStripLayout layout;
};

/// Draws at the cursor. Returns the row that was clicked, -1 without one.
std::ptrdiff_t draw_byte_strip(const char* label, std::span<const ByteStripRow> rows, ByteStripView& view,
                               const ByteStripOptions& options = {});

}  // namespace widgets
