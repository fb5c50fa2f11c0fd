#pragma once
#include <imgui.h>

#include <string_view>

/// The name over a picture.
namespace widgets {

/// Where the quieter words of a heading stand: on a line of their own, or behind the title where both fit.
enum class HeadingMore { below, beside };

/// Pixels, from the heading's top left.
struct HeadingLayout {
  ImVec2 more_at{};
  float height = 0;
};
/// For a title and more words of these widths in px in a room of `width` px; `more_px` 0: there are none. `beside`
/// falls back to `below` where the room is too narrow.
HeadingLayout layout_heading(float title_px, float more_px, float width, HeadingMore place);

/// A bold title and quieter words that say more, in `width` px: what does not fit is cut. The next item stands below
/// it.
void heading(std::string_view title, std::string_view more, float width, HeadingMore place = HeadingMore::below);

}  // namespace widgets
