#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/bits/lab.h"
#include "widgets/base/heading.h"
#include "widgets/base/painter.h"

namespace chapters::precision::bits {
namespace {

using models::Rounding;
using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

/// The line between two values: where its ends are on screen and what is written at them.
struct Line {
  float left = 0, right = 0, y = 0;
  float at(double share) const { return left + (right - left) * static_cast<float>(share); }
};

void end_mark(const Painter& p, float x, float y, bool chosen, std::string_view value, std::string_view code,
              std::string_view what, Align align) {
  const auto& t = widgets::theme();
  p.line({x, y - t.px(13)}, {x, y + t.px(13)}, chosen ? t.text : t.muted, t.px(chosen ? 2 : 1.2f));
  if (chosen)
    p.circle({x, y}, t.px(6.5f), t.accent);
  else
    p.circle({x, y}, t.px(5.5f), t.background);
  p.ring({x, y}, t.px(chosen ? 6.5f : 5.5f), chosen ? t.accent : t.muted, t.px(1.5f));
  p.text({x, y + t.px(17)}, value, chosen ? t.text : t.muted, Type::small, Font::mono, align);
  p.text({x, y + t.px(34)}, code, t.muted, Type::small, Font::mono, align);
  p.text({x, y - t.px(33)}, what, chosen ? t.accent : t.muted, Type::small, Font::sans, align);
}

/// The number itself, above the line; its label stays clear of the labels of the ends and of the midpoint.
void number_mark(const Painter& p, const Line& l, double position, std::string_view text) {
  const auto& t = widgets::theme();
  const float x = l.at(position);
  const ImVec2 tip{x, l.y - t.px(3)};
  const ImVec2 triangle[] = {tip, {tip.x - t.px(6), tip.y - t.px(11)}, {tip.x + t.px(6), tip.y - t.px(11)}};
  p.polygon(triangle, t.warning);
  const float half = widgets::text_size(text, Type::small, Font::mono).x / 2, reach = t.px(130);
  const float centre = std::clamp(x, l.left + reach + half, std::max(l.left + reach + half, l.right - reach - half));
  p.text({centre, l.y - t.px(33)}, text, t.warning, Type::small, Font::mono, Align::center);
  if (std::abs(centre - x) > half + t.px(8))
    p.line({centre + (x < centre ? -half - t.px(2) : half + t.px(2)), l.y - t.px(25)}, {x, l.y - t.px(15)},
           widgets::with_alpha(t.warning, 0.6f));
}

/// Which part of the way goes where, as coloured stretches.
void stretches(const Painter& p, const Line& l, const Inputs& in, const Outputs& out) {
  const auto& t = widgets::theme();
  const ImU32 down = widgets::with_alpha(t.series_at(0), 0.28f), up = widgets::with_alpha(t.series_at(1), 0.30f);
  const float top = l.y - t.px(8), bottom = l.y + t.px(8), middle = l.at(0.5);
  switch (in.rounding) {
    case Rounding::nearest_even:
      p.rect({l.left, top}, {middle, bottom}, down);
      p.rect({middle, top}, {l.right, bottom}, up);
      p.dashed_line({middle, l.y - t.px(14)}, {middle, l.y + t.px(16)}, t.muted, t.px(1.2f), t.px(3));
      p.text({middle, l.y + t.px(17)}, out.midpoint_text, t.muted, Type::small, Font::mono, Align::center);
      p.text({middle, l.y + t.px(34)}, "midpoint", t.muted, Type::small, Font::sans, Align::center);
      break;
    case Rounding::toward_zero: {
      const bool to_lower = out.study.lower >= 0;
      p.rect({l.left, top}, {l.right, bottom}, to_lower ? down : up);
      p.text({middle, l.y + t.px(17)}, to_lower ? "all of it goes down" : "all of it goes up", t.muted, Type::small,
             Font::sans, Align::center);
      break;
    }
    case Rounding::stochastic: {
      // The chance of going up grows from 0 to 1 along the way
      const ImVec2 falling[] = {{l.left, top}, {l.right, top}, {l.left, bottom}},
                   rising[] = {{l.right, top}, {l.right, bottom}, {l.left, bottom}};
      p.polygon(falling, down);
      p.polygon(rising, up);
      p.text({middle, l.y + t.px(17)}, out.chance_text, t.muted, Type::small, Font::sans, Align::center);
      break;
    }
  }
}

/// An exact value stands in the middle of its neighbours; shaded is what rounds to it.
void draw_exact(const Painter& p, const Line& l, const Inputs& in, const Outputs& out) {
  const auto& t = widgets::theme();
  const ImU32 fill = widgets::with_alpha(t.accent, 0.25f);
  const bool cut = in.rounding == Rounding::toward_zero, positive = out.sign == 0, zero = out.kind == "zero";
  const double from = cut && positive && !zero ? 0.5
                      : cut                    ? 0
                                               : 0.25,
               to = cut && !positive && !zero ? 0.5
                    : cut                     ? 1
                                              : 0.75;
  if (in.rounding == Rounding::stochastic) {
    const ImVec2 tent[] = {{l.left, l.y + t.px(8)}, {l.at(0.5), l.y - t.px(12)}, {l.right, l.y + t.px(8)}};
    p.polygon(tent, fill);
  } else {
    p.rect({l.at(from), l.y - t.px(8)}, {l.at(to), l.y + t.px(8)}, fill);
  }
  p.line({l.left, l.y}, {l.right, l.y}, t.muted, t.px(1.2f));
  if (out.down) end_mark(p, l.left, l.y, false, out.down_text, out.next_down_code, "next down", Align::left);
  if (out.up) end_mark(p, l.right, l.y, false, out.up_text, out.next_up_code, "next up", Align::right);
  end_mark(p, l.at(0.5), l.y, true, out.exact.size() > 26 ? out.typed_text : out.exact, out.code, "stored",
           Align::center);
}

}  // namespace

void draw_rounding(const Inputs& in, const Outputs& out, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  widgets::heading("The rounding, decided", out.decided, width, widgets::HeadingMore::beside);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Line l{at.x + t.px(8), at.x + width - t.px(8), at.y + t.px(42)};
  const bool drawable = std::isfinite(out.study.lower) && std::isfinite(out.study.upper);
  if (out.study.rule == models::RoundingRule::exact || !drawable) {
    draw_exact(p, l, in, out);
  } else {
    stretches(p, l, in, out);
    p.line({l.left, l.y}, {l.right, l.y}, t.muted, t.px(1.2f));
    const bool past_up = out.study.past_end && out.study.upper > 0 && out.typed > out.study.lower,
               past_down = out.study.past_end && !past_up;
    const bool low_chosen = out.study.value == out.study.lower, high_chosen = out.study.value == out.study.upper;
    end_mark(p, l.left, l.y, low_chosen, out.lower_text,
             past_down ? std::string_view("no code") : std::string_view(out.lower_code),
             low_chosen  ? "stored"
             : past_down ? "would be next"
                         : "lower",
             Align::left);
    end_mark(p, l.right, l.y, high_chosen, out.upper_text,
             past_up ? std::string_view("no code") : std::string_view(out.upper_code),
             high_chosen ? "stored"
             : past_up   ? "would be next"
                         : "upper",
             Align::right);
    number_mark(p, l, out.study.position, out.number_label);
  }
  ImGui::Dummy({width, t.px(102)});
}

namespace {

/// The bits of a row as small cells, coloured by part.
void mini_bits(const Painter& p, ImVec2 at, float width, float height, const Row& r) {
  const auto& t = widgets::theme();
  const float cell = std::min(width / static_cast<float>(r.format->bits), t.px(9));
  for (int i = 0; i < r.format->bits; ++i) {
    const int bit = r.format->bits - 1 - i;
    const ImU32 colour = colour_of(part_of_bit(*r.format, bit));
    const float x = at.x + cell * static_cast<float>(i);
    const bool set = (r.bits >> bit & 1) != 0;
    p.rect({x, at.y + (set ? 0 : height * 0.62f)}, {x + std::max(cell - t.px(1), 1.0f), at.y + height},
           set ? colour : widgets::with_alpha(colour, 0.4f));
  }
}

}  // namespace

void draw_formats(Inputs& in, const Outputs& out, float width) {
  if (out.formats.empty()) return;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  widgets::heading("The same number in other formats", "press one to edit it", width, widgets::HeadingMore::beside);
  const float row = t.px(27), name_w = t.px(92), bits_w = std::clamp(width * 0.3f, t.px(110), t.px(300)),
              code_w = t.px(width > t.px(700) ? 168 : 0), error_w = t.px(92);
  for (const Row& r : out.formats) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    widgets::Line label;
    label.add("edit ").add(r.id);
    if (ImGui::InvisibleButton(label.c_str(), {width, row - t.px(2)}, ImGuiButtonFlags_EnableNav) &&
        in.format != r.id) {
      in.format = r.id;
      if (!in.code.empty()) in.value = out.typed, in.code.clear();
    }
    const bool hovered = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible),
               current = r.format == out.format;
    p.rect(at, {at.x + width, at.y + row - t.px(2)}, current || hovered ? t.card : 0, t.px(5));
    if (current) p.rect(at, {at.x + t.px(3), at.y + row - t.px(2)}, t.accent, t.px(1));
    const float y = at.y + (row - t.px(2) - t.type(Type::small)) / 2 - t.px(1);
    float x = at.x + t.px(10);
    p.text({x, y}, r.name, t.text, Type::small, Font::bold);
    x += name_w;
    mini_bits(p, {x, at.y + t.px(5)}, bits_w - t.px(14), row - t.px(12), r);
    x += bits_w;
    if (code_w > 0) widgets::fit_text(p, {x, y}, r.code, code_w - t.px(8), t.muted, Type::small, Font::mono);
    x += code_w;
    widgets::fit_text(p, {x, y}, r.text, at.x + width - error_w - x, r.lost ? t.bad : t.text, Type::small, Font::mono);
    p.text({at.x + width - t.px(8), y}, r.outcome,
           r.lost                  ? t.bad
           : r.relative_error == 0 ? t.good
                                   : t.muted,
           Type::small, Font::mono, Align::right);
  }
}

}  // namespace chapters::precision::bits
