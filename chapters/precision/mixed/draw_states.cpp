#include <algorithm>
#include <cmath>

#include "chapters/precision/mixed/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/number/number.h"

namespace chapters::precision::mixed {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

float state_row_px() {
  const auto& t = widgets::theme();
  return t.type(Type::small) + t.px(11);
}

/// The parts of one recipe's states from `left` on, `px_a_byte` wide each; their sum stands after them.
void paint_state_row(const Painter& p, const RecipePicture& recipe, float left, float y, float px_a_byte, bool now) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), bottom = y + small + t.px(8);
  float x = left;
  for (const StatePart& part : recipe.states) {
    const float wide = px_a_byte * static_cast<float>(part.bytes);
    const ImU32 fill = mark_of(part.format).colour;
    p.rect({x, y}, {x + wide - t.px(1.5f), bottom}, now ? fill : widgets::with_alpha(fill, 0.4f), t.px(2));
    const widgets::NumberText bytes = widgets::format(part.bytes, "");
    widgets::Line words;
    words.add(part.name).add(" ").add(bytes.view());
    const float room = wide - t.px(8);
    const std::string_view said = widgets::text_size(words.view(), Type::small).x <= room ? words.view() : bytes.view();
    if (widgets::text_size(said, Type::small).x <= room)
      p.text({x + t.px(4), y + t.px(3)}, said, now ? widgets::text_on(fill, t) : t.text, Type::small);
    x += wide;
  }
  p.text({x + t.px(6), y + t.px(3)}, recipe.bytes, now ? t.text : t.muted, Type::small, Font::mono);
  if (now && widgets::output_lit("bytes_per_parameter")) widgets::paint_light(p, {left, y}, {x - t.px(1.5f), bottom});
}

/// What a question gives: which states there are, all as wide, without their bytes and formats.
void paint_given_states(const RecipePicture& recipe, ImVec2 at, float width) {
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  const auto& t = widgets::theme();
  const float slot = width / static_cast<float>(std::max<std::size_t>(recipe.states.size(), 1));
  for (std::size_t i = 0; i < recipe.states.size(); ++i) {
    const float x = at.x + slot * static_cast<float>(i);
    p.frame({x, at.y}, {x + slot - t.px(3), at.y + t.type(Type::small) + t.px(8)}, widgets::with_alpha(t.muted, 0.55f),
            t.px(1.3f), t.px(2));
    widgets::fit_text(p, {x + t.px(5), at.y + t.px(3)}, recipe.states[i].name, slot - t.px(11), t.muted, Type::small);
  }
}

/// Bytes per parameter that were guessed, as a line across the chosen recipe's row.
void paint_guess(const Painter& p, float left, float right, float y, float px_a_byte) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "bytes_per_parameter") return;
  const auto& t = widgets::theme();
  const float x = left + px_a_byte * static_cast<float>(guess->value), bottom = y + t.type(Type::small) + t.px(10);
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, "B").view(), x > right);
  const float at = std::clamp(x, left, right), wide = widgets::text_size(words.view(), Type::small).x;
  p.line({at, y - t.px(2)}, {at, bottom}, t.accent, t.px(2));
  widgets::paint_guess_words(p, {std::clamp(at + t.px(6), left, right - wide - t.px(4)), y + t.px(3)}, words.view());
}

}  // namespace

float states_height(const Picture& picture, bool before) {
  const auto& t = widgets::theme();
  return t.type(Type::small) + t.px(6) + state_row_px() * (before && picture.recipes.size() > 1 ? 2.0f : 1.0f);
}

void draw_states(const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float head = t.type(Type::small) + t.px(6);
  {
    const widgets::GivenMarks given;
    widgets::fit_text(Painter::window(), at, "states of one parameter, in bytes", size.x, t.muted, Type::small);
  }
  if (widgets::veiled()) return paint_given_states(picture.recipes.back(), {at.x, at.y + head}, size.x);
  const bool before = size.y >= states_height(picture, true) - 0.5f;
  const std::size_t first = before ? 0 : picture.recipes.size() - 1;
  float names = 0, sums = 0;
  double most = 0;
  for (std::size_t i = first; i < picture.recipes.size(); ++i) {
    const RecipePicture& recipe = picture.recipes[i];
    names = std::max(names, widgets::text_size(recipe.recipe, Type::small).x + t.px(10));
    sums = std::max(sums, widgets::text_size(recipe.bytes, Type::small, Font::mono).x + t.px(8));
    double bytes = 0;
    for (const StatePart& part : recipe.states) bytes += part.bytes;
    most = std::max(most, bytes);
  }
  if (!(most > 0)) return;
  const float px_a_byte = std::max(0.0f, size.x - names - sums) / static_cast<float>(most);
  float y = at.y + head;
  for (std::size_t i = first; i < picture.recipes.size(); ++i) {
    const bool now = i + 1 == picture.recipes.size();
    p.text({at.x, y + t.px(3)}, picture.recipes[i].recipe, now ? t.text : t.muted, Type::small);
    paint_state_row(p, picture.recipes[i], at.x + names, y, px_a_byte, now);
    if (now) paint_guess(p, at.x + names, at.x + size.x, y, px_a_byte);
    y += state_row_px();
  }
  widgets::drew("states of one parameter");
}

}  // namespace chapters::precision::mixed
