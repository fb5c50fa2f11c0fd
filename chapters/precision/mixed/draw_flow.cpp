#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/precision/mixed/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/theme.h"
#include "widgets/number/number.h"

namespace chapters::precision::mixed {
namespace {

using models::NumberFormat, widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

constexpr float highest_bits = 32;

/// Where the rows of the two recipes stand: `lane` is as high as 32 bits.
struct FlowLanes {
  Rect before{}, now{};
  float words = 0;   ///< height of the line of words over a lane
  float fall = 0;    ///< room under the lane for what falls out
  float px_a_s = 0;  ///< pixels of a second
  float x(double s) const { return now.min.x + px_a_s * static_cast<float>(s); }
};

ImU32 colour_of_format(NumberFormat format) { return mark_of(format).colour; }

/// The block in its lane: as high as its bits, in the lane's middle.
Rect rect_of(const FlowLanes& l, Rect lane, const FlowBlock& b, NumberFormat format) {
  const float half = lane.height() * static_cast<float>(bits_of(format)) / highest_bits / 2,
              middle = (lane.min.y + lane.max.y) / 2;
  return {{l.x(b.from_s), middle - half}, {l.x(b.from_s + b.time_s), middle + half}};
}

/// How long the row narrows, of a block that is `width` px wide.
float neck_px(float width) { return std::min(widgets::theme().px(8), width / 3); }

/// Title and time in the block as far as there is room. False: not even the title has.
bool paint_words(const Painter& p, const FlowBlock& b, Rect at, ImU32 ink) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), room = at.width() - t.px(8), x = (at.min.x + at.max.x) / 2,
              middle = (at.min.y + at.max.y) / 2;
  const float title = widgets::text_size(b.title, Type::small).x, time = widgets::text_size(b.time, Type::small).x;
  if (at.height() < small + t.px(2) || title > room) return false;
  if (title + t.px(6) + time <= room && at.height() < 2 * small + t.px(8)) {
    const float left = x - (title + t.px(6) + time) / 2;
    p.text({left, middle - small / 2 - t.px(1)}, b.title, ink, Type::small);
    p.text({left + title + t.px(6), middle - small / 2 - t.px(1)}, b.time, ink, Type::small);
  } else if (time <= room && at.height() >= 2 * small + t.px(8)) {
    p.text({x, middle - small - t.px(2)}, b.title, ink, Type::small, Font::bold, Align::center);
    p.text({x, middle + t.px(1)}, b.time, ink, Type::small, Font::sans, Align::center);
  } else {
    p.text({x, middle - small / 2 - t.px(1)}, b.title, ink, Type::small, Font::sans, Align::center);
  }
  return true;
}

/// The bits that a cast drops, as squares that fall from the row: those of the exponent filled, of the mantissa hollow.
/// Returns the width that they take.
float paint_lost_bits(const Painter& p, const FlowBlock& b, ImVec2 at, float height) {
  const auto& t = widgets::theme();
  const float side = t.px(6), step = t.px(9);
  const int rows = std::max(1, static_cast<int>(height / step)), lost = b.exponent_lost + b.mantissa_lost;
  for (int i = 0; i < lost; ++i) {
    const ImVec2 min{at.x + step * static_cast<float>(i / rows) + (i % 2 == 1 ? t.px(1.5f) : 0.0f),
                     at.y + step * static_cast<float>(i % rows)};
    if (i < b.exponent_lost)
      p.rect(min, {min.x + side, min.y + side}, t.bad, t.px(1));
    else
      p.frame(min, {min.x + side, min.y + side}, t.bad, t.px(1.2f), t.px(1));
  }
  return step * static_cast<float>((lost + rows - 1) / rows) + t.px(3);
}

/// One block of the chosen recipe's row.
void paint_block(const Painter& p, const Picture& picture, const FlowLanes& l, const FlowBlock& b) {
  const auto& t = widgets::theme();
  const Rect at = rect_of(l, l.now, b, b.computes), came = rect_of(l, l.now, b, b.comes);
  const ImU32 fill = colour_of_format(b.computes);
  const float right = std::max(at.min.x + 1, at.max.x - t.px(1)), neck = neck_px(right - at.min.x);
  if (b.product && bits_of(b.computes) < 32)
    for (const float x : {at.min.x, right}) p.dashed_line({x, l.now.min.y}, {x, l.now.max.y}, t.line, 1, t.px(4));
  if (b.casts) {
    p.rect(at.min, {right, at.max.y}, widgets::with_alpha(t.bad, 0.15f));
    widgets::hatch(p, {at.min, {right, at.max.y}}, widgets::with_alpha(t.bad, 0.4f), t.px(6));
  } else {
    p.rect({at.min.x + (b.comes == b.computes ? 0 : neck), at.min.y}, {right, at.max.y}, fill, t.px(2));
  }
  if (!b.casts && b.comes != b.computes) {
    const ImVec2 funnel[] = {
        {at.min.x, came.min.y}, {at.min.x + neck, at.min.y}, {at.min.x + neck, at.max.y}, {at.min.x, came.max.y}};
    p.polygon(funnel, colour_of_format(b.comes));
  }
  if (b.product && b.computes == picture.product && widgets::output_lit("recipe_flops_share"))
    widgets::paint_light(p, at.min, at.max);
  if (b.exponent_lost + b.mantissa_lost == 0 || right - at.min.x < t.px(10)) return;
  const float top = at.max.y + t.px(4), room = l.now.max.y + l.fall - top,
              wide = paint_lost_bits(p, b, {at.min.x + t.px(2), top}, room);
  const float words = right - at.min.x - wide - t.px(8);
  if (widgets::text_size(b.lost_text, Type::small).x <= words)
    p.text({at.min.x + wide + t.px(6), top + t.px(2)}, b.lost_text, t.bad, Type::small);
}

/// Where a name over a lane stands: from `left` to `right` px.
struct NamePlace {
  float left = 0, right = 0;
};

/// Names in the blocks; those that have no room there stand over the lane where they do not touch, the longest time
/// first. Nothing stands left of `from`.
void name_blocks(const Painter& p, const RecipePicture& recipe, const FlowLanes& l, Rect lane, bool pale, float from) {
  const auto& t = widgets::theme();
  constexpr std::size_t most = 24;
  std::array<NamePlace, most> placed;
  std::array<bool, most> done{};
  std::size_t count = 0;
  const std::size_t n = std::min(recipe.blocks.size(), most);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t next = n;
    for (std::size_t i = 0; i < n; ++i)
      if (!done[i] && (next == n || recipe.blocks[i].time_s > recipe.blocks[next].time_s)) next = i;
    done[next] = true;
    const FlowBlock& b = recipe.blocks[next];
    Rect at = rect_of(l, lane, b, b.computes);
    if (!pale && b.comes != b.computes) at.min.x += neck_px(at.width());
    if (paint_words(p, b, at, pale || b.casts ? t.text : widgets::text_on(colour_of_format(b.computes), t))) continue;
    widgets::Line words;
    words.add(b.title).add(" ").add(b.time);
    const float wide = widgets::text_size(words.view(), Type::small).x, x = (at.min.x + at.max.x) / 2;
    const float left = std::clamp(x - wide / 2, l.now.min.x, std::max(l.now.min.x, l.now.max.x - wide));
    const bool free =
        std::none_of(placed.begin(), placed.begin() + static_cast<std::ptrdiff_t>(count), [&](const NamePlace& o) {
          return (left < o.right + t.px(8) && left + wide + t.px(8) > o.left) ||
                 (x > o.left - t.px(2) && x < o.right + t.px(2));
        });
    if (left < from || at.width() < t.px(4) || !free) continue;
    placed[count++] = {left, left + wide};
    p.text({left, lane.min.y - l.words + t.px(1)}, words.view(), t.muted, Type::small);
    p.line({x, lane.min.y - t.px(3)}, {x, at.min.y}, t.line, t.px(1));
  }
}

/// The row of the recipe before, pale, with bands from its blocks to those of the same name.
void paint_before(const Painter& p, const Picture& picture, const FlowLanes& l) {
  const auto& t = widgets::theme();
  const RecipePicture &before = picture.recipes.front(), &now = picture.recipes.back();
  std::size_t from = 0;
  for (const FlowBlock& b : before.blocks) {
    const Rect at = rect_of(l, l.before, b, b.computes);
    p.rect(at.min, {std::max(at.min.x + 1, at.max.x - t.px(1)), at.max.y},
           widgets::with_alpha(colour_of_format(b.computes), 0.4f), t.px(2));
    const auto same = std::find_if(now.blocks.begin() + static_cast<std::ptrdiff_t>(from), now.blocks.end(),
                                   [&](const FlowBlock& n) { return n.title == b.title; });
    if (same == now.blocks.end()) continue;
    from = static_cast<std::size_t>(same - now.blocks.begin()) + 1;
    const float low = l.now.min.y - l.words;
    if (low - l.before.max.y < t.px(10)) continue;
    const ImVec2 band[] = {{at.min.x, l.before.max.y},
                           {at.max.x, l.before.max.y},
                           {l.x(same->from_s + same->time_s), low},
                           {l.x(same->from_s), low}};
    p.polygon(band, widgets::with_alpha(t.muted, from % 2 == 0 ? 0.2f : 0.11f));
  }
}

/// The recipe's name and time over its lane. Returns where they end, px.
float name_recipe(const Painter& p, const RecipePicture& recipe, const FlowLanes& l, Rect lane, ImU32 ink) {
  const auto& t = widgets::theme();
  const float y = lane.min.y - l.words + t.px(1);
  float x = lane.min.x + p.text({lane.min.x, y}, recipe.recipe, ink, Type::small, Font::bold) + t.px(8);
  x += p.text({x, y}, recipe.time, ink, Type::small, Font::mono);
  return x + t.px(14);
}

/// What lies between the ends of the two rows: the time that was saved, or that it takes longer.
void paint_gain(const Painter& p, const Picture& picture, const FlowLanes& l) {
  const auto& t = widgets::theme();
  const double before_s = picture.recipes.front().time_s, now_s = picture.recipes.back().time_s;
  const Rect lane = now_s < before_s ? l.now : l.before;
  const float x0 = l.x(std::min(before_s, now_s)) + t.px(2), x1 = l.x(std::max(before_s, now_s));
  const ImU32 colour = now_s < before_s ? t.good : t.bad;
  if (x1 - x0 < t.px(3)) return;
  p.rect({x0, lane.min.y}, {x1, lane.max.y}, widgets::with_alpha(colour, 0.12f));
  for (const float y : {lane.min.y, lane.max.y}) p.dashed_line({x0, y}, {x1, y}, colour, 1, t.px(4));
  p.dashed_line({x1, lane.min.y}, {x1, lane.max.y}, colour, 1, t.px(4));
  const Type type =
      widgets::text_size(picture.gain_text, Type::title).x + t.px(12) <= x1 - x0 ? Type::title : Type::small;
  if (widgets::text_size(picture.gain_text, type).x <= x1 - x0 - t.px(4))
    p.text({(x0 + x1) / 2, (lane.min.y + lane.max.y - t.type(type)) / 2}, picture.gain_text, t.text, type, Font::bold,
           Align::center);
  if (widgets::output_lit(picture.speedup_key)) widgets::paint_light(p, {x0, lane.min.y}, {x1, lane.max.y});
}

/// Swatches as high as their bits, then what the axes are; words without room are left out.
void paint_key(const Painter& p, const Picture& picture, ImVec2 at, float width, bool formats) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), end = at.x + width;
  float x = at.x + p.text(at, "height: bits of a number", t.muted, Type::small) + t.px(14);
  if (formats)
    for (const NumberFormat format : picture.formats) {
      const std::string_view name = models::number_label(format);
      const float half = small * static_cast<float>(bits_of(format)) / highest_bits / 2, y = at.y + small / 2,
                  wide = t.px(12) + widgets::text_size(name, Type::small).x;
      if (x + wide > end) return;
      p.rect({x, y - half}, {x + t.px(8), y + half}, colour_of_format(format), t.px(1));
      p.text({x + t.px(12), at.y}, name, t.text, Type::small);
      x += wide + t.px(12);
    }
  const float axis = widgets::text_size(picture.layers_text, Type::small).x;
  // What does not fit says at least what a square is.
  std::string_view squares = "squares: bits lost, filled exponent, hollow mantissa";
  if (x + widgets::text_size(squares, Type::small).x + t.px(14) > end - axis) squares = "squares: bits lost";
  if (x + axis > end) return;
  p.text({end, at.y}, picture.layers_text, t.muted, Type::small, Font::sans, Align::right);
  if (x + widgets::text_size(squares, Type::small).x + t.px(14) <= end - axis)
    p.text({x, at.y}, squares, t.muted, Type::small);
}

/// Shares the height among the two lanes, the bands between them and the bits that fall.
FlowLanes lanes_of(const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  FlowLanes l;
  l.words = t.type(Type::small) + t.px(5);
  const bool pair = picture.recipes.size() > 1;
  const float rest = std::max(t.px(40), size.y - l.words * (pair ? 3.0f : 2.0f) - t.px(4));
  const float now = std::min(rest * (pair ? 0.46f : 0.7f), t.px(280)),
              before = pair ? std::min(now * 0.6f, t.px(150)) : 0;
  l.fall = std::min(rest * 0.14f, t.px(60));
  const float bands = pair ? std::max(0.0f, std::min(rest - now - before - l.fall, t.px(150))) : 0;
  float y = at.y + (pair ? l.words : 0.0f);
  l.before = {{at.x, y}, {at.x + size.x, y + before}};
  y += before + bands + l.words;
  l.now = {{at.x, y}, {at.x + size.x, y + now}};
  double longest = 0;
  for (const RecipePicture& recipe : picture.recipes) longest = std::max(longest, recipe.time_s);
  l.px_a_s = longest > 0 ? size.x / static_cast<float>(longest) : 0;
  return l;
}

/// What a question gives: the recipe that is compared with, as wide as the picture, and under it the operations in
/// their order, all as wide, without a format.
void paint_given(const Picture& picture, FlowLanes l) {
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  const auto& t = widgets::theme();
  if (picture.recipes.size() > 1) {
    const RecipePicture& before = picture.recipes.front();
    l.px_a_s = before.time_s > 0 ? l.before.width() / static_cast<float>(before.time_s) : 0;
    for (const FlowBlock& b : before.blocks) {
      const Rect at = rect_of(l, l.before, b, b.computes);
      p.rect(at.min, {std::max(at.min.x + 1, at.max.x - t.px(1)), at.max.y},
             widgets::with_alpha(colour_of_format(b.computes), 0.4f), t.px(2));
    }
    name_blocks(p, before, l, l.before, true, name_recipe(p, before, l, l.before, t.muted));
  }
  const std::vector<FlowBlock>& blocks = picture.recipes.back().blocks;
  const float slot = l.now.width() / static_cast<float>(std::max<std::size_t>(blocks.size(), 1));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const float x = l.now.min.x + slot * static_cast<float>(i);
    p.frame({x, l.now.min.y}, {x + slot - t.px(3), l.now.max.y}, widgets::with_alpha(t.muted, 0.55f), t.px(1.3f),
            t.px(2));
    widgets::fit_text(p, {x + t.px(5), l.now.min.y + t.px(6)}, blocks[i].title, slot - t.px(11), t.muted, Type::small);
  }
}

/// A speed-up that was guessed: where the row would end.
void paint_guess(const Painter& p, const Picture& picture, const FlowLanes& l) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || picture.speedup_key.empty() || guess->output != picture.speedup_key || !(guess->value > 0)) return;
  const auto& t = widgets::theme();
  const double end_s = picture.recipes.front().time_s / guess->value;
  const float x = std::min(l.x(end_s), l.now.max.x);
  p.dashed_line({x, l.now.min.y - t.px(4)}, {x, l.now.max.y + t.px(8)}, t.accent, t.px(2), t.px(4));
  const widgets::Line words =
      widgets::guess_words(widgets::format(guess->value, widgets::times_unit).view(), l.x(end_s) > l.now.max.x + 1);
  const float wide = widgets::text_size(words.view(), Type::small).x;
  widgets::paint_guess_words(
      p, {std::clamp(x - wide / 2, l.now.min.x + t.px(4), l.now.max.x - wide - t.px(4)), l.now.max.y + t.px(10)},
      words.view());
}

void tip_of_block(const Picture& picture, const FlowLanes& l) {
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t i = 0; i < picture.recipes.size(); ++i) {
    const Rect lane = i + 1 == picture.recipes.size() ? l.now : l.before;
    for (const FlowBlock& b : picture.recipes[i].blocks) {
      if (!Rect{{l.x(b.from_s), lane.min.y}, {l.x(b.from_s + b.time_s), lane.max.y}}.contains(mouse)) continue;
      widgets::Line name, info;
      name.add(b.title).add(", ").add(b.formats_text);
      info.add(b.why).add(b.lost_text.empty() ? "" : "; ").add(b.lost_text);
      widgets::tip(name.view(), b.time, info.view());
      return;
    }
  }
}

}  // namespace

void draw_flow(const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  if (picture.recipes.empty()) return;
  const FlowLanes l = lanes_of(picture, at, size);
  const ImVec2 key{at.x, at.y + size.y - t.type(Type::small) - t.px(2)};
  if (widgets::veiled()) {
    paint_given(picture, l);
    const widgets::GivenMarks given;
    paint_key(Painter::window(), picture, key, size.x, false);
    return;
  }
  ImGui::SetCursorScreenPos(at);
  widgets::canvas("steps by time and bits", size, {1, 1});
  const bool hovered = ImGui::IsItemHovered();
  const RecipePicture& now = picture.recipes.back();
  if (picture.recipes.size() > 1) {
    paint_before(p, picture, l);
    paint_gain(p, picture, l);
    name_blocks(p, picture.recipes.front(), l, l.before, true,
                name_recipe(p, picture.recipes.front(), l, l.before, t.muted));
  }
  for (const FlowBlock& b : now.blocks) paint_block(p, picture, l, b);
  name_blocks(p, now, l, l.now, false, name_recipe(p, now, l, l.now, t.text));
  paint_guess(p, picture, l);
  paint_key(p, picture, key, size.x, true);
  widgets::drew("step in time and bits");
  if (hovered) tip_of_block(picture, l);
}

}  // namespace chapters::precision::mixed
