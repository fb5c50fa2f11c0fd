#include "widgets/base/guess.h"

namespace widgets {
namespace {

const ShownGuess* current_guess = nullptr;

}  // namespace

ShowGuess::ShowGuess(const ShownGuess* guess) { current_guess = guess; }
ShowGuess::~ShowGuess() { current_guess = nullptr; }

const ShownGuess* shown_guess() { return current_guess; }

Line guess_words(std::string_view figure, bool off_scale) {
  Line words;
  words.add("you: ").add(figure).add(off_scale ? ", off this scale" : "");
  return words;
}

void paint_guess_words(const Painter& p, ImVec2 at, std::string_view words) {
  const Theme& t = theme();
  const ImVec2 size = text_size(words, Type::small);
  p.rect({at.x - t.px(3), at.y - t.px(1)}, {at.x + size.x + t.px(3), at.y + t.type(Type::small) + t.px(2)}, t.panel,
         t.px(3));
  p.text(at, words, t.accent, Type::small);
}

}  // namespace widgets
