#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/serving/capacity/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::serving::capacity {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Theme, widgets::Type;

constexpr std::size_t max_prices = 8;

/// Two scales of prices beside each other, logarithms both.
struct SlopeFrame {
  float hour_x = 0, million_x = 0, top = 0, bottom = 0;
  double hour_lo = 1, hour_hi = 2, million_lo = 1, million_hi = 2;
  float at(double value, double lo, double hi) const {
    return bottom - static_cast<float>(std::log(value / lo) / std::log(hi / lo)) * (bottom - top);
  }
  float hour(double value) const { return at(value, hour_lo, hour_hi); }
  float million(double value) const { return at(value, million_lo, million_hi); }
};

/// Labels that would touch are pushed apart, in their order from the top on.
void part_labels(std::array<float, max_prices>& y, const std::array<std::size_t, max_prices>& order, std::size_t count,
                 float least, float bottom) {
  for (std::size_t i = 1; i < count; ++i) y[order[i]] = std::max(y[order[i]], y[order[i - 1]] + least);
  if (count == 0) return;
  float limit = bottom;
  for (std::size_t i = count; i-- > 0;) {
    y[order[i]] = std::min(y[order[i]], limit);
    limit = y[order[i]] - least;
  }
}

void paint_labels(const Painter& p, const Picture& picture, const SlopeFrame& f, bool hours) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::body);
  std::array<float, max_prices> y{};
  std::array<std::size_t, max_prices> order{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(picture.plans.size(), max_prices); ++i) {
    const PlanPicture& plan = picture.plans[i];
    if (!((hours ? plan.price_per_hour : plan.dollars) > 0)) continue;
    y[i] = hours ? f.hour(plan.price_per_hour) : f.million(plan.dollars);
    order[count++] = i;
  }
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
            [&](std::size_t a, std::size_t b) { return y[a] < y[b]; });
  part_labels(y, order, count, small + t.px(2), f.bottom + small / 2);
  for (std::size_t i = 0; i < count; ++i) {
    const PlanPicture& plan = picture.plans[order[i]];
    const bool repeats = hours && i > 0 && plan.price == picture.plans[order[i - 1]].price;
    if (repeats) continue;
    const float x = hours ? f.hour_x - t.px(12) : f.million_x + t.px(12);
    p.text({x, y[order[i]] - small / 2}, hours ? plan.price : plan.tokens, plan.yours ? t.accent : t.text, Type::body,
           Font::mono, hours ? Align::right : Align::left);
  }
}

/// What yours costs at other clouds: a bar beside each scale.
void paint_bands(const Painter& p, const PlanPicture& plan, const SlopeFrame& f) {
  const Theme& t = widgets::theme();
  if (!plan.yours || !(plan.low > 0)) return;
  const ImU32 ink = widgets::with_alpha(t.accent, 0.45f);
  p.rect({f.hour_x - t.px(3), f.hour(plan.high)}, {f.hour_x + t.px(3), f.hour(plan.low)}, ink, t.px(2));
  p.rect({f.million_x - t.px(3), f.million(plan.dollars_high)}, {f.million_x + t.px(3), f.million(plan.dollars_low)},
         ink, t.px(2));
}

void paint_heads(const Painter& p, const SlopeFrame& f, ImVec2 at) {
  const Theme& t = widgets::theme();
  const float body = t.type(Type::body);
  p.text({f.hour_x, at.y}, "a chip-hour", t.text, Type::body, Font::bold, Align::center);
  p.text({f.hour_x, at.y + body + t.px(2)}, "what is rented", t.muted, Type::small, Font::sans, Align::center);
  p.text({f.million_x, at.y}, "a million tokens", t.text, Type::body, Font::bold, Align::center);
  p.text({f.million_x, at.y + body + t.px(2)}, "output, sold", t.muted, Type::small, Font::sans, Align::center);
  for (const float x : {f.hour_x, f.million_x})
    p.line({x, f.top - t.px(6)}, {x, f.bottom + t.px(6)}, t.line, t.px(1.5f));
}

void paint_plan(const Painter& p, const PlanPicture& plan, const SlopeFrame& f) {
  if (!(plan.dollars > 0)) return;
  const Theme& t = widgets::theme();
  paint_bands(p, plan, f);
  const ImU32 ink = widgets::colour(plan.tint, t);
  const ImVec2 a{f.hour_x, f.hour(plan.price_per_hour)}, b{f.million_x, f.million(plan.dollars)};
  p.line(a, b, ink, t.px(plan.yours ? 3.0f : 1.8f));
  for (const ImVec2 c : {a, b}) {
    p.circle(c, t.px(5), ink);
    if (plan.yours) p.ring(c, t.px(6.5f), t.text, t.px(1.5f));
  }
}

void hover_prices(const Picture& picture, const SlopeFrame& f) {
  const Theme& t = widgets::theme();
  const float side = t.px(16);
  for (std::size_t i = 0; i < picture.plans.size(); ++i) {
    const PlanPicture& plan = picture.plans[i];
    if (!(plan.dollars > 0)) continue;
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetCursorScreenPos({f.hour_x - side / 2, f.hour(plan.price_per_hour) - side / 2});
    widgets::press_area("hour", {side, side});
    if (ImGui::IsItemHovered()) widgets::tip(plan.name, plan.price, plan.hour_info);
    ImGui::SetCursorScreenPos({f.million_x - side / 2, f.million(plan.dollars) - side / 2});
    widgets::press_area("million", {side, side});
    if (ImGui::IsItemHovered()) widgets::tip(plan.name, plan.tokens, plan.million_info);
    ImGui::PopID();
  }
}

}  // namespace

void draw_slope(const Picture& picture, ImVec2 at, ImVec2 size) {
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), body = t.type(Type::body);
  SlopeFrame f;
  f.hour_x = at.x + std::max(t.px(56), 0.22f * size.x);
  f.million_x = at.x + size.x - std::max(t.px(56), 0.22f * size.x);
  f.top = at.y + body + small + t.px(20);
  f.bottom = at.y + size.y - t.px(16);
  f.hour_lo = picture.price_lo;
  f.hour_hi = picture.price_hi;
  f.million_lo = picture.dollars_lo;
  f.million_hi = picture.dollars_hi;
  if (f.bottom < f.top + t.px(40)) return;
  if (widgets::veiled()) {
    // Prices are given; what a million tokens cost on them is not.
    const widgets::GivenMarks given;
    paint_heads(p, f, at);
    for (const PlanPicture& plan : picture.plans)
      if (plan.price_per_hour > 0)
        p.circle({f.hour_x, f.hour(plan.price_per_hour)}, t.px(5), widgets::colour(plan.tint, t));
    paint_labels(p, picture, f, true);
    return;
  }
  paint_heads(p, f, at);
  for (const PlanPicture& plan : picture.plans) paint_plan(p, plan, f);
  paint_labels(p, picture, f, true);
  paint_labels(p, picture, f, false);
  hover_prices(picture, f);
}

}  // namespace chapters::serving::capacity
