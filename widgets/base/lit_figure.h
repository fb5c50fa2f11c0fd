#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "widgets/base/painter.h"

/// The figure that the pointer rests on beside the picture: a card, a row of the outputs, a figure of the answer. The
/// picture lights the marks that show it and the words that say it.
namespace widgets {

/// Lights an output by its key, and its figure as written in any of these ways, in this frame and the next. An empty
/// key: the words alone. Longer words than 47 bytes are left out.
void light_figure(std::string_view output, std::span<const std::string_view> words);
/// Whether a mark that shows this output is lit; false for an empty key.
bool output_lit(std::string_view output);
/// The first of the words that are lit; empty where none are.
std::string_view lit_words();

/// Where `figure` stands in `text` as a number of its own: "2.5 ms" does not stand in "12.5 ms". npos where it does
/// not, and for a figure of a single digit, which stands for too many things. One without a unit is the whole text, or
/// stands before the sign for "times".
std::size_t find_figure(std::string_view text, std::string_view figure);

/// While one lives, texts that say the lit figure are lit: around what a panel draws.
class LitTexts {
 public:
  LitTexts();
  ~LitTexts();
  LitTexts(const LitTexts&) = delete;
  LitTexts& operator=(const LitTexts&) = delete;
};

/// What lies under a lit text or around a lit mark of this extent, in pixels.
void paint_light(const Painter& painter, ImVec2 min, ImVec2 max);
/// For Painter: lights the figure in a text that is about to be written.
void light_text(const Painter& painter, ImVec2 at, std::string_view text, float size_px, Font font);

}  // namespace widgets
