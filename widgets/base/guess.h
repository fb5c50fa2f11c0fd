#pragma once
#include <optional>
#include <string_view>

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
/// The guess for this output, for a picture that marks it itself; a plot with an axis of the output's name does so
/// without being asked.
std::optional<double> guess_of(std::string_view output);

}  // namespace widgets
