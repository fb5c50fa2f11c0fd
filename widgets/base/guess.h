#pragma once
#include <string_view>

#include "widgets/base/painter.h"
#include "widgets/base/parts.h"

/// What the learner committed to before the answer was shown: it stays in the picture, next to what is computed.
namespace widgets {

struct ShownGuess {
  std::string_view output;       ///< key of the output that was asked for
  std::string_view label, unit;  ///< as that output is described
  double value = 0;              ///< in its SI unit
};

/// While one lives, pictures mark the guess: around what the labs draw. Null: there is none.
class ShowGuess {
 public:
  explicit ShowGuess(const ShownGuess* guess);
  ~ShowGuess();
  ShowGuess(const ShowGuess&) = delete;
  ShowGuess& operator=(const ShowGuess&) = delete;
};

/// The guess that is shown; null: none is.
const ShownGuess* shown_guess();
/// "you: 64 GB" of a figure that is written already; `off_scale` where its mark stands at the edge instead.
Line guess_words(std::string_view figure, bool off_scale);
/// Paints such words on a plate, with their top left at `at`.
void paint_guess_words(const Painter& painter, ImVec2 at, std::string_view words);

}  // namespace widgets
