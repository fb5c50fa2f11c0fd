#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/base/painter.h"
#include "widgets/base/tint.h"

/// Small pieces that several charts share.
namespace widgets {

/// Width in pixels of a text; layouts take it as an argument so that they need no font.
using Measure = float (*)(std::string_view, Type);
float measure_text(std::string_view s, Type type);

/// Painter::text_fit for text that may be an empty view: that may be null, which Dear ImGui does not take.
inline void fit_text(const Painter& painter, ImVec2 at, std::string_view s, float max_width, ImU32 colour,
                     Type type = Type::body, Font font = Font::sans, Align align = Align::left) {
  if (!s.empty()) painter.text_fit(at, s, max_width, colour, type, font, align);
}

struct Rect {
  ImVec2 min, max;
  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
  bool contains(ImVec2 p) const { return p.x >= min.x && p.x < max.x && p.y >= min.y && p.y < max.y; }
};

/// Running FNV-1a over what a layout depends on, so that it is redone only when that changed.
struct Fingerprint {
  std::uint64_t value = 1469598103934665603ull;
  void add(std::uint64_t x) {
    value = (value ^ x) * 1099511628211ull;
    value ^= value >> 29;
  }
  void add(double x);
  void add(std::string_view s);
};

/// Diagonal hatching inside a rectangle: the mark of "partly" that does not depend on colour.
void hatch(const Painter& painter, Rect area, ImU32 colour, float spacing = 6.0f);

struct LegendEntry {
  std::string_view label;
  Tint tint{};
  bool dot = false;  ///< a disc instead of a square
};
struct PlacedLegend {
  std::size_t entry = 0;
  ImVec2 at{};  ///< top left, relative to the legend's own top left
};
/// Flows entries into rows no wider than `width` px; returns the height in px. One entry wider than that gets a row of
/// its own.
float layout_legend(std::span<const LegendEntry> entries, float width, float row_px, Measure measure,
                    std::vector<PlacedLegend>& out);
void paint_legend(const Painter& painter, ImVec2 at, float width, std::span<const LegendEntry> entries,
                  std::span<const PlacedLegend> placed);
float legend_row_px();

/// A hover that says what a mark is: name, value in its unit, and where it comes from. Empty parts are left out.
void tip(std::string_view name, std::string_view value, std::string_view info = {});

/// Text in place, for names and tips without allocation; what does not fit is cut.
struct Line {
  char chars[192] = {};
  std::size_t length = 0;
  Line& add(std::string_view s);
  Line& add_integer(std::int64_t n);
  std::string_view view() const { return {chars, length}; }
  const char* c_str() const { return chars; }
};

/// Are these the same words but for capital letters?
bool same_letters(std::string_view a, std::string_view b);

/// A number for CSV: shortest text that reads back to the same double.
std::string exact(double value);

/// A canvas of the asked size, with 0 meaning "what is left", never smaller than `least` px a side, with a
/// click-and-hover item of this label on it. Check ImGui::IsItemHovered() and friends right after.
Rect canvas(const char* label, ImVec2 size, ImVec2 least);
/// What was pressed in this frame while the item just made has the keyboard; it keeps these keys from moving the focus
/// or pressing it.
struct PlayKeys {
  int steps = 0;      ///< right minus left arrow, repeating
  bool play = false;  ///< Space
};
PlayKeys play_keys();
/// The same place without an item, for charts whose marks are items themselves.
Rect reserve(ImVec2 size, ImVec2 least);

}  // namespace widgets
