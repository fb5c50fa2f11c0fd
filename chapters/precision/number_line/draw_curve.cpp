#include <algorithm>
#include <cmath>

#include "chapters/precision/number_line/lab.h"
#include "widgets/base/guess.h"
#include "widgets/number/number.h"

namespace chapters::precision::number_line {

void paint_curve(const widgets::Painter& p, View& view, const Frame& frame, float top, float height, bool fates) {
  if (!(view.curve_highest > 0)) return;
  const std::size_t columns = view.curve.size();
  const float step = (frame.right - frame.left) / static_cast<float>(columns);
  const auto tint = [&](Fate fate) { return fates ? colour_of(fate) : widgets::theme().muted; };
  // A stretch of columns that become the same: its ground, and its outline in full colour.
  const auto flush = [&](Fate fate) {
    if (view.curve_edge.size() > 1) p.polyline(view.curve_edge, tint(fate), widgets::theme().px(2));
    view.curve_edge.clear();
  };
  Fate before = Fate::normal;
  view.curve_edge.clear();
  for (std::size_t i = 0; i < columns; ++i) {
    const float x = frame.left + step * static_cast<float>(i),
                h = height * static_cast<float>(view.curve[i] / view.curve_highest);
    const Fate fate = view.curve_fate[i];
    if ((fates && fate != before) || h < 0.4f) flush(before);  // an end of the colour would tell the limit
    before = fate;
    if (h < 0.4f) continue;
    p.rect({x, top + height - h}, {x + step, top + height}, widgets::with_alpha(tint(fate), 0.5f));
    view.curve_edge.push_back({x + step / 2, top + height - h});
  }
  flush(before);
}

void paint_unscaled(const widgets::Painter& p, double scale, View& view, const Frame& frame, float top, float height) {
  if (!(view.curve_highest > 0) || !(scale > 1) || frame.axis != models::LineAxis::log2) return;
  const auto& t = widgets::theme();
  const std::size_t columns = view.curve.size();
  const float step = (frame.right - frame.left) / static_cast<float>(columns),
              shift = frame.x(std::log2(scale)) - frame.x(0);
  float peak = frame.left - 1, clear = frame.left, highest = 0;
  view.curve_edge.clear();
  for (std::size_t i = 0; i < columns; ++i) {
    const float x = frame.left + step * static_cast<float>(i) - shift,
                h = height * static_cast<float>(view.curve[i] / view.curve_highest);
    if (x < frame.left || h < 0.4f) continue;
    view.curve_edge.push_back({x, top + height - h});
    // Where the flank is still under the words that stand at the top.
    if (h >= highest && h < height - t.type(widgets::Type::small) - t.px(6)) clear = x;
    if (h > highest) {
      highest = h;
      peak = x;
    }
  }
  if (view.curve_edge.size() > 1) p.polyline(view.curve_edge, widgets::with_alpha(t.muted, 0.8f), t.px(1.3f));
  view.curve_edge.clear();
  const std::string_view words = "without the scale";
  const float wide = widgets::text_size(words, widgets::Type::small).x;
  const float end = std::min(clear, peak - t.px(20)) - t.px(6);
  if (end >= frame.left + wide && height >= t.px(40))
    p.text({end, top + t.px(2)}, words, t.muted, widgets::Type::small, widgets::Font::sans, widgets::Align::right);
}

void paint_fate(const widgets::Painter& p, const Row& r, std::string_view text, bool chosen, float left, float right,
                float top, float height) {
  const auto& t = widgets::theme();
  const double shares[] = {r.underflow, r.subnormal, r.normal, r.overflow};
  const float small = t.type(widgets::Type::small), bar = std::min(t.px(13), height - t.px(2));
  const bool words = height >= bar + small + t.px(6);
  const float y = top + (height - bar - (words ? small + t.px(5) : 0.0f)) / 2;
  constexpr std::string_view keys[] = {"underflow", "subnormal", "normal", "overflow"};
  const widgets::ShownGuess* const guess = chosen ? widgets::shown_guess() : nullptr;
  float x = left, guessed = -1;
  for (std::size_t i = 0; i < fate_count; ++i) {
    const float wide = (right - left) * static_cast<float>(shares[i] / 100);
    if (wide > 0.3f) p.rect({x, y}, {x + wide, y + bar}, colour_of(static_cast<Fate>(i)));
    if (guess && guess->output == keys[i])
      guessed = std::clamp(x + (right - left) * static_cast<float>(guess->value / 100), left, right);
    x += wide;
  }
  if (guessed >= 0) {  // as long from where its share begins as was said
    p.line({guessed, y - t.px(5)}, {guessed, y + bar + t.px(3)}, t.accent, t.px(2));
    const widgets::Line said = widgets::guess_words(widgets::format(guess->value, "%").view(), false);
    if (words) return widgets::paint_guess_words(p, {left + t.px(3), y + bar + t.px(5)}, said.view());
    return;
  }
  if (words) widgets::fit_text(p, {left, y + bar + t.px(4)}, text, right - left, t.muted, widgets::Type::small);
}

void paint_legend(const widgets::Painter& p, ImVec2 at, float right) {
  const auto& t = widgets::theme();
  const auto entry = [&](ImU32 colour, std::string_view text) {
    const float wide = t.px(15) + widgets::text_size(text, widgets::Type::small).x;
    if (at.x + wide > right) return;
    p.rect({at.x, at.y + t.px(2)}, {at.x + t.px(10), at.y + t.px(12)}, colour, t.px(2));
    p.text({at.x + t.px(15), at.y}, text, t.muted, widgets::Type::small);
    at.x += wide + t.px(16);
  };
  entry(colour_of(Fate::normal), "normal");
  entry(colour_of(Fate::subnormal), "subnormal");
  entry(colour_of(Fate::zero), "rounded to zero");
  entry(colour_of(Fate::overflow), "past the largest");
  const std::string_view density = "stronger colour: more values per pixel";
  if (at.x + widgets::text_size(density, widgets::Type::small).x <= right)
    p.text(at, density, t.muted, widgets::Type::small);
}

}  // namespace chapters::precision::number_line
