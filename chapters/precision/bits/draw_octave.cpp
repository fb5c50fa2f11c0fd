#include <algorithm>
#include <cmath>

#include "chapters/precision/bits/lab.h"
#include "widgets/base/painter.h"

namespace chapters::precision::bits {

float octave_height() { return widgets::theme().px(66); }

void draw_octave(const Picture& picture, ImVec2 at, float width, float below) {
  using widgets::Font;
  using widgets::Type;
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const float left = at.x + t.px(8), right = at.x + width - t.px(8), small = t.type(Type::small);
  const float top = at.y + small + t.px(8), bottom = top + t.px(18);
  const auto x_of = [&](double share) { return left + (right - left) * static_cast<float>(share); };
  widgets::fit_text(p, at, picture.octave_words, width, t.muted, Type::small);
  const double steps = picture.octave_steps;
  const float end = x_of(picture.octave_end);
  p.rect({left, top}, {end, bottom}, t.card, t.px(2));
  if ((right - left) / static_cast<float>(steps) >= t.px(4)) {
    for (double i = 0; i <= steps * picture.octave_end; i += 1)
      p.line({x_of(i / steps), top}, {x_of(i / steps), bottom}, t.muted, t.px(1));
  } else {  // Ticks that run into each other are one band.
    p.rect({left, top}, {end, bottom}, widgets::with_alpha(t.muted, 0.35f), t.px(2));
  }
  const float here = x_of(picture.octave_at);
  // From the value down to the ends of the line below, which is this place enlarged.
  const ImU32 faint = widgets::with_alpha(t.accent, 0.45f);
  p.line({here, bottom}, {left, below}, faint, t.px(1));
  p.line({here, bottom}, {right, below}, faint, t.px(1));
  p.line({here, top - t.px(3)}, {here, bottom + t.px(3)}, t.accent, t.px(2.5f));
  const auto end_text = [&](float x, const std::string& text, widgets::Align align) {
    if (std::abs(x - here) > t.px(60)) p.text({x, bottom + t.px(3)}, text, t.muted, Type::small, Font::mono, align);
  };
  end_text(left, picture.octave_lo, widgets::Align::left);
  end_text(end, picture.octave_hi, widgets::Align::right);
}

}  // namespace chapters::precision::bits
