#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "chapters/precision/bits/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/painter.h"
#include "widgets/number/number.h"

namespace chapters::precision::bits {
namespace {

using models::Rounding, widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// The line between two values: where its ends are on screen and what is written at them.
struct Line {
  float left = 0, right = 0, y = 0;
  float at(double share) const { return left + (right - left) * static_cast<float>(share); }
};

/// `room` is the width in px that its labels may take; those that need more are left out.
void end_mark(const Painter& p, float x, float y, bool chosen, const EndLabels& labels, Align align, float room) {
  const auto& t = widgets::theme();
  p.line({x, y - t.px(13)}, {x, y + t.px(13)}, chosen ? t.text : t.muted, t.px(chosen ? 2 : 1.2f));
  if (chosen)
    p.circle({x, y}, t.px(6.5f), t.accent);
  else
    p.circle({x, y}, t.px(5.5f), t.background);
  p.ring({x, y}, t.px(chosen ? 6.5f : 5.5f), chosen ? t.accent : t.muted, t.px(1.5f));
  const auto write = [&](float below, const std::string& s, ImU32 colour) {
    if (widgets::text_size(s, Type::small, Font::mono).x <= room)
      p.text({x, y + below}, s, colour, Type::small, Font::mono, align);
  };
  write(t.px(17), labels.value, chosen ? t.text : t.muted);
  write(t.px(34), labels.code, t.muted);
  p.text({x, y - t.px(33)}, labels.what, chosen ? t.accent : t.muted, Type::small, Font::sans, align);
}

/// The number itself, above the line; its label and the line to it, which runs under them, stay clear of the labels of
/// the ends and of the midpoint. A number beyond the line points out of it.
void number_mark(const Painter& p, const Line& l, double position, int beyond, std::string_view text) {
  const auto& t = widgets::theme();
  const float x = beyond > 0 ? l.right : beyond < 0 ? l.left : l.at(position);
  const ImVec2 tip{x, l.y - t.px(3)};
  const ImVec2 down[] = {tip, {tip.x - t.px(6), tip.y - t.px(11)}, {tip.x + t.px(6), tip.y - t.px(11)}};
  const float out = t.px(8) * static_cast<float>(beyond), y = tip.y - t.px(7);
  const ImVec2 outward[] = {{x + out, y}, {x - out / 2, y - t.px(6)}, {x - out / 2, y + t.px(6)}};
  p.polygon(beyond != 0 ? outward : down, t.warning);
  const float half = widgets::text_size(text, Type::small, Font::mono).x / 2, reach = t.px(130);
  const float centre = std::clamp(x, l.left + reach + half, std::max(l.left + reach + half, l.right - reach - half));
  p.text({centre, l.y - t.px(33)}, text, t.warning, Type::small, Font::mono, Align::center);
  if (std::abs(centre - x) > half + t.px(8))
    p.line({centre + (x < centre ? -half - t.px(2) : half + t.px(2)), l.y - t.px(17)}, {x, l.y - t.px(15)},
           widgets::with_alpha(t.warning, 0.6f));
}

/// Which part of the way goes where: that which rounds to what is stored has the colour of what is stored.
void stretches(const Painter& p, const Line& l, const Inputs& in, const Picture& picture) {
  const auto& t = widgets::theme();
  const models::RoundingStudy& study = picture.run->study;
  const ImU32 taken = widgets::with_alpha(t.accent, 0.32f), left_out = widgets::with_alpha(t.muted, 0.2f),
              down = study.lower_chosen ? taken : left_out, up = study.upper_chosen ? taken : left_out;
  const float top = l.y - t.px(8), bottom = l.y + t.px(8), middle = l.at(0.5);
  switch (in.rounding) {
    case Rounding::nearest_even:
      p.rect({l.left, top}, {middle, bottom}, down);
      p.rect({middle, top}, {l.right, bottom}, up);
      p.dashed_line({middle, l.y - t.px(14)}, {middle, l.y + t.px(16)}, t.muted, t.px(1.2f), t.px(3));
      if (widgets::text_size(picture.midpoint_text, Type::small, Font::mono).x <= (l.right - l.left) / 3 - t.px(8))
        p.text({middle, l.y + t.px(17)}, picture.midpoint_text, t.muted, Type::small, Font::mono, Align::center);
      p.text({middle, l.y + t.px(34)}, "midpoint", t.muted, Type::small, Font::sans, Align::center);
      break;
    case Rounding::toward_zero: {
      p.rect({l.left, top}, {l.right, bottom}, taken);
      p.text({middle, l.y + t.px(17)}, picture.goes_down ? "all of it goes down" : "all of it goes up", t.muted,
             Type::small, Font::sans, Align::center);
      break;
    }
    case Rounding::stochastic: {
      // The chance of going up grows from 0 to 1 along the way.
      const ImVec2 falling[] = {{l.left, top}, {l.right, top}, {l.left, bottom}},
                   rising[] = {{l.right, top}, {l.right, bottom}, {l.left, bottom}};
      p.polygon(falling, down);
      p.polygon(rising, up);
      p.text({middle, l.y + t.px(17)}, picture.chance_text, t.muted, Type::small, Font::sans, Align::center);
      break;
    }
  }
}

/// A tie: both ways are half a step, and the number goes to the neighbour that the rule for ties takes.
void tie_marks(const Painter& p, const Line& l, const Picture& picture) {
  const auto& t = widgets::theme();
  const float middle = l.at(0.5), gap = t.px(10), y = l.y - t.px(26);
  const float number = widgets::text_size(picture.number_label, Type::small, Font::mono).x / 2 + gap;
  const float from_left = l.left + widgets::text_size(picture.left.what, Type::small).x + gap,
              to_right = l.right - widgets::text_size(picture.right.what, Type::small).x - gap;
  const std::string_view words = "half a step";
  const float half = widgets::text_size(words, Type::small).x / 2 + t.px(6);
  for (const auto& [from, to] : {std::pair(from_left, middle - number), std::pair(middle + number, to_right)}) {
    const float at = (from + to) / 2;
    if (to - from < 2 * half + t.px(16)) continue;
    p.line({from, y}, {at - half, y}, t.muted, t.px(1));
    p.line({at + half, y}, {to, y}, t.muted, t.px(1));
    for (const float x : {from, to}) p.line({x, y - t.px(4)}, {x, y + t.px(4)}, t.muted, t.px(1));
    p.text({at, l.y - t.px(33)}, words, t.muted, Type::small, Font::sans, Align::center);
  }
  const float way = picture.goes_down ? -1.0f : 1.0f, end = (picture.goes_down ? l.left : l.right) - way * t.px(10),
              head = end - way * t.px(14);
  p.line({middle, l.y}, {head, l.y}, t.accent, t.px(4));
  const ImVec2 point[] = {{end, l.y}, {head, l.y - t.px(8)}, {head, l.y + t.px(8)}};
  p.polygon(point, t.accent);
}

/// The number that was said to be stored, where it lies on the line; at an end of it, with an arrow, where it lies
/// beyond.
void guess_mark(const Painter& p, const Line& l, const Picture& picture) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "value") return;
  const auto& t = widgets::theme();
  const models::RoundingStudy& s = picture.run->study;
  const double at = (guess->value - s.lower) / (s.upper - s.lower);
  if (!std::isfinite(at)) return;
  const float x = l.at(std::clamp(at, 0.0, 1.0));
  p.dashed_line({x, l.y - t.px(18)}, {x, l.y + t.px(14)}, t.accent, t.px(1.5f), t.px(3));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, "", 6).view(), !(at >= 0 && at <= 1));
  const float width = widgets::text_size(words.view(), Type::small).x;
  widgets::paint_guess_words(p, {std::clamp(x - width / 2, l.left, l.right - width), l.y + t.px(52)}, words.view());
}

/// An exact value stands in the middle of its neighbours; shaded is what rounds to it.
void draw_exact(const Painter& p, const Line& l, const Inputs& in, const Picture& picture) {
  const auto& t = widgets::theme();
  const ImU32 fill = widgets::with_alpha(t.accent, 0.25f);
  if (in.rounding == Rounding::stochastic) {
    const ImVec2 tent[] = {{l.left, l.y + t.px(8)}, {l.at(0.5), l.y - t.px(12)}, {l.right, l.y + t.px(8)}};
    p.polygon(tent, fill);
  } else {
    p.rect({l.at(picture.run->study.captures_lo), l.y - t.px(8)}, {l.at(picture.run->study.captures_hi), l.y + t.px(8)},
           fill);
  }
  p.line({l.left, l.y}, {l.right, l.y}, t.muted, t.px(1.2f));
  const float room = (l.right - l.left) / 3 - t.px(8);
  if (picture.down) end_mark(p, l.left, l.y, false, picture.left, Align::left, room);
  if (picture.up) end_mark(p, l.right, l.y, false, picture.right, Align::right, room);
  end_mark(p, l.at(0.5), l.y, true, picture.middle, Align::center, room);
}

}  // namespace

float rounding_height() { return widgets::theme().px(24 + (widgets::shown_guess() ? 122.0f : 100.0f)); }

void draw_rounding(const Inputs& in, const Picture& picture, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  if (widgets::text_size(picture.decided, Type::small).x <= width) p.text(at, picture.decided, t.muted, Type::small);
  const Line l{at.x + t.px(8), at.x + width - t.px(8), at.y + t.px(24 + 42)};
  if (picture.exact) {
    draw_exact(p, l, in, picture);
  } else {
    stretches(p, l, in, picture);
    p.line({l.left, l.y}, {l.right, l.y}, t.muted, t.px(1.2f));
    const float room = (l.right - l.left) / 3 - t.px(8);
    end_mark(p, l.left, l.y, picture.run->study.lower_chosen, picture.left, Align::left, room);
    end_mark(p, l.right, l.y, picture.run->study.upper_chosen, picture.right, Align::right, room);
    if (picture.tie) tie_marks(p, l, picture);
    number_mark(p, l, picture.run->study.position, picture.beyond, picture.number_label);
    guess_mark(p, l, picture);
  }
}

}  // namespace chapters::precision::bits
