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

}  // namespace

void draw_reigns(Inputs& in, const Outputs& out, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (picture.version == 0 || out.reigns.empty() || picture.reign_names.size() < out.reigns.size()) {
    ImGui::Dummy(size);
    return;
  }
  const float line = t.type(Type::small) + t.px(4), left = corner.x + t.px(8), wide = size.x - t.px(16);
  const float top = corner.y + line + t.px(8), tall = std::clamp(size.y - 2 * line - t.px(20), t.px(24), t.px(64));
  float hint_from = left, hint_to = left + wide;
  const auto x_of = [&](double rate) { return left + wide * rate_place(picture, rate); };
  const float at = x_of(out.rate);
  // Where words of a width stand between `from` and `to` without the handle's line through them; 0: nowhere.
  const auto beside_handle = [&](float from, float to, float width) {
    const float gap = t.px(6);
    const float ways[] = {from + gap, at + gap, at - gap - width};
    for (const float x : ways)
      if (x >= from + t.px(4) && x + width <= to - t.px(6) && (at < x - t.px(3) || at > x + width + t.px(3))) return x;
    return 0.0f;
  };
  for (std::size_t i = 0; i < out.reigns.size(); ++i) {
    const ReignRow& row = out.reigns[i];
    const float from = row.rate_from > picture.least_rate ? x_of(row.rate_from) : left;
    const float to = std::isnan(row.rate_to) ? left + wide : x_of(row.rate_to);
    if (!(to - from > 1)) continue;
    const bool wins = row.point_name == out.winner;
    p.rect({from, top}, {to - t.px(2), top + tall}, wins ? widgets::with_alpha(t.accent, 0.3f) : t.card, t.px(4));
    if (wins) p.frame({from, top}, {to - t.px(2), top + tall}, t.accent, t.px(1.5f), t.px(4));
    const float middle = top + tall / 2;
    const bool both = tall > 2 * line + t.px(4);
    // A name that does not fit is left out, and the winner's stands under its box: nothing is cut.
    const float width = widgets::text_size(picture.reign_names[i], Type::small, Font::bold).x;
    if (const float x = beside_handle(from, to, width); x > 0)
      p.text({x, both ? middle - line : middle - line / 2}, picture.reign_names[i], t.text, Type::small, Font::bold);
    else if (wins) {
      const float under = std::max(left, std::min(from, left + wide - width));
      p.text_fit({under, top + tall + t.px(6)}, picture.reign_names[i], wide, t.accent, Type::small, Font::bold);
      const bool first = under < left + wide / 2;
      (first ? hint_from : hint_to) = first ? under + width + t.px(16) : under - t.px(16);
    }
    const float rates = widgets::text_size(picture.reign_rates[i], Type::small, Font::mono).x;
    if (const float x = beside_handle(from, to, std::max(rates, width)); both && x > 0)
      p.text({x, middle + t.px(2)}, picture.reign_rates[i], wins ? t.text : t.muted, Type::small, Font::mono);
  }
  ImGui::SetCursorScreenPos({at - t.px(12), top - t.px(8)});
  widgets::press_area("drag the exchange rate", {t.px(24), tall + t.px(16)});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool lit = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (held) {
    const bool log = picture.run->y.column->log;
    const double share = static_cast<double>((ImGui::GetIO().MousePos.x - left) / std::max(wide, 1.0f));
    // The picture reaches beyond the last reign, and may so reach beyond what can be set.
    const double wanted =
        picture.least_rate * std::pow(picture.most_rate / picture.least_rate, std::clamp(share, 0.0, 1.0));
    if (log)
      in.pays = std::clamp(std::round(wanted * 1000) / 1000, least_pays, most_pays);
    else
      in.pays_units = std::clamp(wanted, least_units, most_units);
  }
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  p.line({at, top - t.px(6)}, {at, top + tall + t.px(4)}, t.accent, t.px(2));
  p.circle({at, top - t.px(6)}, t.px(lit ? 7.0f : 5.5f), t.accent);
  p.ring({at, top - t.px(6)}, t.px(lit ? 7.0f : 5.5f), t.text, t.px(1.5f));
  const bool right = at < corner.x + size.x / 2;
  p.text({at + (right ? t.px(12) : -t.px(12)), corner.y}, picture.rate_words, t.accent, Type::small, Font::sans,
         right ? Align::left : Align::right);
  p.text_fit({hint_from, top + tall + t.px(6)}, "left: little is given for the horizontal axis; right: much",
             std::max(0.0f, hint_to - hint_from), t.muted, Type::small);
  ImGui::SetCursorScreenPos(corner);
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
