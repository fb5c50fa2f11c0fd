#pragma once
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "widgets/base/guess.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"
#include "widgets/number/number.h"

/// What the learner committed to, as a mark in a hero of this chapter.
namespace chapters::distributed {

/// The guess that is shown, if it is about one of these outputs; else null.
inline const widgets::ShownGuess* guess_about(std::initializer_list<std::string_view> outputs) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  return guess && std::find(outputs.begin(), outputs.end(), guess->output) != outputs.end() ? guess : nullptr;
}
inline widgets::Line guess_line(const widgets::ShownGuess& guess, bool off_scale = false) {
  return widgets::guess_words(widgets::format(guess.value, guess.unit).view(), off_scale);
}

/// A dashed line down `area` at the pixel `wanted`, or at its edge; the words stand at its top.
inline void mark_guess_down(const widgets::ShownGuess& guess, const widgets::Rect& area, float wanted) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const float x = std::clamp(wanted, area.min.x, area.max.x);
  p.dashed_line({x, area.min.y}, {x, area.max.y}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = guess_line(guess, x != wanted);
  const float width = widgets::text_size(words.view(), widgets::Type::small).x;
  const float left = x + t.px(8) + width > area.max.x ? x - t.px(8) - width : x + t.px(8);
  widgets::paint_guess_words(p, {std::max(left, area.min.x), area.min.y + t.px(3)}, words.view());
}

/// A length from `from` to `wanted` between two ticks at the height `y`, as far as `area` reaches; the words stand over
/// it.
inline void mark_guess_along(const widgets::ShownGuess& guess, const widgets::Rect& area, float from, float wanted,
                             float y) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const float to = std::clamp(wanted, area.min.x, area.max.x);
  p.line({from, y}, {to, y}, t.accent, t.px(2));
  for (const float x : {from, to}) p.line({x, y - t.px(4)}, {x, y + t.px(4)}, t.accent, t.px(2));
  const widgets::Line words = guess_line(guess, to != wanted);
  const float width = widgets::text_size(words.view(), widgets::Type::small).x;
  const float x = std::clamp((from + to - width) / 2, area.min.x + t.px(4), area.max.x - width - t.px(4));
  widgets::paint_guess_words(p, {x, y - t.type(widgets::Type::small) - t.px(7)}, words.view());
}

/// Where no mark has the guess's scale: the words alone, ending at `end`.
inline void say_guess(const widgets::ShownGuess& guess, ImVec2 end) {
  const widgets::Line words = guess_line(guess);
  const float width = widgets::text_size(words.view(), widgets::Type::small).x;
  widgets::paint_guess_words(widgets::Painter::window(), {end.x - width - widgets::theme().px(4), end.y}, words.view());
}

}  // namespace chapters::distributed
