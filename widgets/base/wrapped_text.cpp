#include "widgets/base/wrapped_text.h"

#include <algorithm>

#include "widgets/base/parts.h"

namespace widgets {
namespace {

/// End of the line that begins at `begin`: past at least one letter.
const char* end_of_line(const char* begin, const char* end, float width, const WrapOptions& options) {
  const char* cut = font_of(options.font)->CalcWordWrapPosition(theme().type(options.type), begin, end, width);
  if (cut == begin) ++cut;
  const char* const line_end = std::find(begin, cut, '\n');
  if (line_end != cut || cut == end || *cut == ' ' || *cut == '\n' || cut[-1] == ' ') return line_end;
  // Dear ImGui also breaks behind a point or a comma, which may stand in a number.
  const std::string_view line(begin, static_cast<std::size_t>(cut - begin));
  const std::size_t space = line.rfind(' ');
  return space == std::string_view::npos || space == 0 ? cut : begin + space;
}

}  // namespace

float wrapped_text(const Painter& painter, ImVec2 at, std::string_view text, float width, ImU32 colour,
                   const WrapOptions& options) {
  const float line_px = options.line_px > 0 ? options.line_px : theme().type(options.type) * 1.4f;
  const char* s = text.data();
  const char* const end = s + text.size();
  float y = 0;
  for (int line = 1; s < end; ++line, y += line_px) {
    const bool last = line == options.max_lines;
    const char* const line_end = last ? end : end_of_line(s, end, width, options);
    const std::string_view words(s, static_cast<std::size_t>(line_end - s));
    const ImVec2 place{at.x, at.y + y};
    if (options.paint && options.max_lines > 0)
      fit_text(painter, place, words, width, colour, options.type, options.font);
    else if (options.paint && !words.empty())
      painter.text(place, words, colour, options.type, options.font);
    s = line_end;
    while (s < end && *s == ' ') ++s;
    if (s < end && *s == '\n') ++s;
  }
  return y;
}

}  // namespace widgets
