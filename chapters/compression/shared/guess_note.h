#pragma once
#include <imgui.h>

#include "widgets/base/guess.h"
#include "widgets/base/theme.h"
#include "widgets/number/number.h"

namespace chapters::compression {

/// What the learner guessed, in words that end at `right`: for figures of which the picture has no length. Nothing
/// where there is no guess.
inline void paint_guess_note(ImVec2 right) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess) return;
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit).view(), false);
  const float wide = widgets::text_size(words.view(), widgets::Type::small).x;
  widgets::paint_guess_words(widgets::Painter::window(), {right.x - wide - widgets::theme().px(4), right.y},
                             words.view());
}

}  // namespace chapters::compression
