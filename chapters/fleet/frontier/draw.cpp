#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/frontier/lab.h"
#include "widgets/base/heading.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"
#include "widgets/number/number.h"

namespace chapters::fleet::frontier {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

constexpr std::array front_columns{DescribedColumn{.key = "quality_name"},
                                   DescribedColumn{.key = "winner_name", .priority = 1},
                                   DescribedColumn{.key = "across", .priority = 2, .digits = 3},
                                   DescribedColumn{.key = "up", .priority = 2, .digits = 3},
                                   DescribedColumn{.key = "times", .digits = 3},
                                   DescribedColumn{.key = "on_front", .priority = 3},
                                   DescribedColumn{.key = "points", .priority = 4}};

/// Where an exchange rate lies on the strip, 0 to 1.
float rate_place(const Picture& p, double rate) {
  const double at = std::log(rate / p.least_rate) / std::log(p.most_rate / p.least_rate);
  return static_cast<float>(std::clamp(at, 0.0, 1.0));
}

/// The strip of exchange rates and what stands on it.
struct ReignPlace {
  ImVec2 corner{}, size{};
  float line = 0, left = 0, wide = 0, top = 0, tall = 0;
  float at = 0;                      ///< the handle
  float hint_from = 0, hint_to = 0;  ///< what names under the strip leave of its width

  /// Where words of a width stand between `from` and `to` without the handle's line through them; 0: nowhere.
  float beside_handle(float from, float to, float width) const {
    const auto& t = widgets::theme();
    const float gap = t.px(6);
    const float ways[] = {from + gap, at + gap, at - gap - width};
    for (const float x : ways)
      if (x >= from + t.px(4) && x + width <= to - t.px(6) && (at < x - t.px(3) || at > x + width + t.px(3))) return x;
    return 0;
  }
};

ReignPlace place_reigns(const Outputs& out, const Picture& picture, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  ReignPlace l{.corner = corner, .size = size};
  l.line = t.type(Type::small) + t.px(4);
  l.left = corner.x + t.px(8);
  l.wide = size.x - t.px(16);
  l.top = corner.y + l.line + t.px(8);
  l.tall = std::clamp(size.y - 2 * l.line - t.px(20), t.px(24), t.px(64));
  l.at = l.left + l.wide * rate_place(picture, out.rate);
  l.hint_from = l.left;
  l.hint_to = l.left + l.wide;
  return l;
}

/// The box of a reign from `from` to `to`. A name that does not fit is left out, and the winner's stands under its box:
/// nothing is cut.
void paint_reign(const Painter& p, const Picture& picture, std::size_t i, bool wins, float from, float to,
                 ReignPlace& l) {
  const auto& t = widgets::theme();
  const float bottom = l.top + l.tall, middle = l.top + l.tall / 2;
  p.rect({from, l.top}, {to - t.px(2), bottom}, wins ? widgets::with_alpha(t.accent, 0.3f) : t.card, t.px(4));
  if (wins) p.frame({from, l.top}, {to - t.px(2), bottom}, t.accent, t.px(1.5f), t.px(4));
  const bool both = l.tall > 2 * l.line + t.px(4);
  const std::string_view name = picture.reign_names[i], rates = picture.reign_rates[i];
  const float width = widgets::text_size(name, Type::small, Font::bold).x;
  if (const float x = l.beside_handle(from, to, width); x > 0) {
    p.text({x, both ? middle - l.line : middle - l.line / 2}, name, t.text, Type::small, Font::bold);
  } else if (wins) {
    const float under = std::max(l.left, std::min(from, l.left + l.wide - width));
    p.text_fit({under, bottom + t.px(6)}, name, l.wide, t.accent, Type::small, Font::bold);
    const bool first = under < l.left + l.wide / 2;
    (first ? l.hint_from : l.hint_to) = first ? under + width + t.px(16) : under - t.px(16);
  }
  const float figures = widgets::text_size(rates, Type::small, Font::mono).x;
  if (const float x = l.beside_handle(from, to, std::max(figures, width)); both && x > 0)
    p.text({x, middle + t.px(2)}, rates, wins ? t.text : t.muted, Type::small, Font::mono);
}

/// The handle of the rate that is set, and a hand on it.
void draw_rate_handle(const Painter& p, Inputs& in, const Picture& picture, const ReignPlace& l) {
  const auto& t = widgets::theme();
  ImGui::SetCursorScreenPos({l.at - t.px(12), l.top - t.px(8)});
  widgets::press_area("drag the exchange rate", {t.px(24), l.tall + t.px(16)});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool lit = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (held) {
    const double share = static_cast<double>((ImGui::GetIO().MousePos.x - l.left) / std::max(l.wide, 1.0f));
    // The picture reaches beyond the last reign, and may so reach beyond what can be set.
    const double wanted =
        picture.least_rate * std::pow(picture.most_rate / picture.least_rate, std::clamp(share, 0.0, 1.0));
    if (picture.run->y.column->log)
      in.pays = std::clamp(std::round(wanted * 1000) / 1000, min_pays, max_pays);
    else
      in.pays_units = std::clamp(wanted, min_units, max_units);
  }
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  const ImVec2 knob{l.at, l.top - t.px(6)};
  p.line(knob, {l.at, l.top + l.tall + t.px(4)}, t.accent, t.px(2));
  p.circle(knob, t.px(lit ? 7.0f : 5.5f), t.accent);
  p.ring(knob, t.px(lit ? 7.0f : 5.5f), t.text, t.px(1.5f));
  const bool right = l.at < l.corner.x + l.size.x / 2;
  p.text({l.at + (right ? t.px(12) : -t.px(12)), l.corner.y}, picture.rate_words, t.accent, Type::small, Font::sans,
         right ? Align::left : Align::right);
}

}  // namespace

void draw_reigns(Inputs& in, const Outputs& out, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.version == 0 || out.reigns.empty() || picture.reign_names.size() < out.reigns.size()) {
    ImGui::Dummy(size);
    return;
  }
  const Painter p = Painter::window();
  ReignPlace l = place_reigns(out, picture, ImGui::GetCursorScreenPos(), size);
  const auto x_of = [&](double rate) { return l.left + l.wide * rate_place(picture, rate); };
  for (std::size_t i = 0; i < out.reigns.size(); ++i) {
    const ReignRow& row = out.reigns[i];
    const float from = row.rate_from > picture.least_rate ? x_of(row.rate_from) : l.left;
    const float to = std::isnan(row.rate_to) ? l.left + l.wide : x_of(row.rate_to);
    if (to - from > 1) paint_reign(p, picture, i, row.point_name == out.winner, from, to, l);
  }
  draw_rate_handle(p, in, picture, l);
  p.text_fit({l.hint_from, l.top + l.tall + t.px(6)}, "left: little is given for the horizontal axis; right: much",
             std::max(0.0f, l.hint_to - l.hint_from), t.muted, Type::small);
  ImGui::SetCursorScreenPos(l.corner);
  ImGui::Dummy(size);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "fronts", {.title = "The fronts", .least = {440, 380}, .answers = true, .marks = "the ruler"}, [&](ImVec2 size) {
        draw_over_doors(
            picture.doors, size, view.requests, [&](ImVec2 hero) { draw_fronts(in, picture, view, hero); }, 380);
        widgets::drew("the ruler");
      });
  stage.panel("reigns", {.title = "Who wins at which exchange rate", .least = {440, 100}, .ideal = {0, 120}},
              [&](ImVec2 size) { draw_reigns(in, out, picture, size); });
  if (picture.fronts.size() > 1)
    stage.panel("prices", {.title = "The price of quality", .least = {440, 140}, .ideal = {0, 330}, .scrolls = true},
                [&](ImVec2 size) { view.fronts.draw("prices", out.fronts, front_columns, size); });
}

}  // namespace chapters::fleet::frontier
