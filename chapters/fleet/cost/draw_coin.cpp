#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "chapters/fleet/cost/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"
#include "widgets/number/number.h"

/// The coin: its face is what the hour was spent on, its rim is who is paid.
namespace chapters::fleet::cost {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

constexpr double turn = 2 * std::numbers::pi;

/// A place on a circle, `share` of the way around from the top, clockwise.
ImVec2 on_circle(ImVec2 centre, float radius, double share) {
  const double angle = turn * share;
  return {centre.x + radius * static_cast<float>(std::sin(angle)),
          centre.y - radius * static_cast<float>(std::cos(angle))};
}

/// A piece of a ring from one share to another, in one polygon, so that no seam shows.
void paint_ring_piece(const Painter& p, ImVec2 centre, float inner, float outer, double from, double to, ImU32 fill) {
  constexpr int most = 96;
  std::array<ImVec2, 2 * (most + 1)> points;
  const int pieces = std::clamp(static_cast<int>(std::ceil((to - from) * most)), 1, most);
  for (int i = 0; i <= pieces; ++i) {
    const double at = from + (to - from) * i / pieces;
    points[static_cast<std::size_t>(i)] = on_circle(centre, outer, at);
    points[static_cast<std::size_t>(2 * pieces + 1 - i)] = on_circle(centre, inner, at);
  }
  p.polygon(std::span(points).first(static_cast<std::size_t>(2 * (pieces + 1))), fill);
}

struct CoinPlace {
  ImVec2 centre{};
  float radius = 0, rim = 0, hole = 0;
};

/// Names and figures of the wedges next to the coin, on the side where the middle of each lies.
void paint_names(const Painter& p, const Picture& picture, const CoinPlace& c, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  float lowest_left = corner.y, lowest_right = corner.y;
  const float line = t.type(Type::body) + t.px(2), small = t.type(Type::small) + t.px(8);
  // On the right names come down the coin in the wedges' order, on the left from its foot upwards.
  std::array<const Wedge*, 8> left{};
  std::array<double, 8> left_at{};
  std::size_t left_count = 0;
  const auto paint = [&](const Wedge& w, double middle, bool right, float& lowest) {
    const ImVec2 rim = on_circle(c.centre, c.rim + t.px(16), middle);
    float y = std::max(rim.y - line / 2, lowest);
    // On the left the words on the rim stand at the foot.
    y = std::min(y, corner.y + size.y - line - small - (right ? 0 : t.type(Type::small) + t.px(6)));
    // A name that was moved up or down lies clear of the rim at its new height.
    const float off = std::clamp(c.centre.y, y, y + line + small) - c.centre.y, clear = c.rim + t.px(8);
    const float half = std::sqrt(std::max(0.0f, clear * clear - off * off));
    const float x = right ? std::max(rim.x, c.centre.x + half) + t.px(6) : std::min(rim.x, c.centre.x - half) - t.px(6);
    const float room = right ? corner.x + size.x - x : x - corner.x;
    const Align align = right ? Align::left : Align::right;
    p.text_fit({x, y}, w.name, room, t.text, Type::body, Font::bold, align);
    p.text_fit({x, y + line}, w.more, room, t.muted, Type::small, Font::sans, align);
    lowest = y + line + small;
  };
  for (const Wedge& w : picture.wedges) {
    const double middle = (w.from + w.to) / 2;
    if (middle <= 0.5) {
      paint(w, middle, true, lowest_right);
    } else if (left_count < left.size()) {
      left[left_count] = &w;
      left_at[left_count++] = middle;
    }
  }
  while (left_count > 0) {
    --left_count;
    paint(*left[left_count], left_at[left_count], false, lowest_left);
  }
}

void paint_face(const Painter& p, const Picture& picture, const CoinPlace& c) {
  const auto& t = widgets::theme();
  for (const Wedge& w : picture.wedges) {
    const ImU32 fill = widgets::colour(w.tint, t);
    paint_ring_piece(p, c.centre, c.hole, c.radius, w.from, w.to, fill);
    if (widgets::output_lit(w.output))
      paint_ring_piece(p, c.centre, c.radius, c.radius + t.px(3), w.from, w.to, t.text);
    p.line(on_circle(c.centre, c.hole, w.from), on_circle(c.centre, c.radius, w.from), t.background, t.px(2));
    const ImVec2 middle = on_circle(c.centre, (c.hole + c.radius) / 2, (w.from + w.to) / 2);
    const ImVec2 words = widgets::text_size(w.dollars, Type::body, Font::mono);
    // A figure stands in its wedge where the arc there is as long as its words, and the ring as wide.
    if (c.radius - c.hole > words.x + t.px(14) &&
        static_cast<float>(turn * (w.to - w.from)) * (c.hole + c.radius) / 2 > words.x + t.px(6)) {
      const ImVec2 at{middle.x, middle.y - words.y / 2};
      p.rect({at.x - words.x / 2 - t.px(4), at.y - t.px(2)}, {at.x + words.x / 2 + t.px(4), at.y + words.y + t.px(2)},
             t.background, t.px(4));
      p.text(at, w.dollars, t.text, Type::body, Font::mono, Align::center);
    }
  }
  const ImVec2 total = widgets::text_size(picture.total, Type::title, Font::mono);
  p.text({c.centre.x, c.centre.y - total.y + t.px(2)}, picture.total, t.text, Type::title, Font::mono, Align::center);
  p.text({c.centre.x, c.centre.y + t.px(4)}, "a million", t.muted, Type::small, Font::sans, Align::center);
}

/// Who is paid: electricity, and everybody else.
void paint_rim(const Painter& p, const Picture& picture, const CoinPlace& c, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  const float inner = c.radius + t.px(6);
  // It begins opposite the top, where no name of a large wedge stands.
  const double from = 0.5 - picture.electricity_share / 2, to = 0.5 + picture.electricity_share / 2;
  paint_ring_piece(p, c.centre, inner, c.rim, to, from + 1, t.line);
  paint_ring_piece(p, c.centre, inner, c.rim, from, to, t.warning);
  // The words stand at the panel's foot, where no name of a wedge comes.
  const float line = t.type(Type::small), y = corner.y + size.y - line - t.px(4);
  p.rect({corner.x, y + t.px(2)}, {corner.x + line - t.px(2), y + line}, t.warning, t.px(2));
  p.text_fit({corner.x + line + t.px(4), y}, picture.electricity, size.x - line - t.px(4), t.text, Type::small);
}

/// The cut between empty and filled hours in the hand: work goes on as fast while it runs, so that the rate follows.
void drag_filled(Inputs& in, const Painter& p, const CoinPlace& c) {
  const auto& t = widgets::theme();
  const double empty = 1 - in.filled / 100;
  const ImVec2 at = on_circle(c.centre, c.radius, empty);
  const float reach = t.px(14);
  ImGui::SetCursorScreenPos({at.x - reach, at.y - reach});
  widgets::press_area("drag the cut", {2 * reach, 2 * reach});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool lit = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  double share = empty;
  if (held) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    double angle = std::atan2(static_cast<double>(mouse.x - c.centre.x), static_cast<double>(c.centre.y - mouse.y));
    // Left of the top is the end of the last turn; from a small share that means none at all.
    if (angle < 0) angle = empty < 0.25 && angle > -turn / 4 ? 0 : angle + turn;
    share = angle / turn;
  }
  if (ImGui::IsItemFocused()) share -= 0.01 * widgets::play_keys().steps;
  const double filled = std::clamp(std::round(100 * (1 - share)), 1.0, 100.0);
  if ((held || share != empty) && filled != in.filled) {
    in.output_tokens_per_s *= filled / in.filled;
    in.filled = filled;
  }
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  p.circle(at, t.px(lit ? 11.0f : 9.0f), widgets::with_alpha(t.accent, 0.25f));
  p.circle(at, t.px(6), t.accent);
  p.ring(at, t.px(6), t.text, t.px(1.5f));
  constexpr std::string_view words = "drag the cut";
  const ImVec2 say{at.x + (at.x > c.centre.x ? t.px(14) : -t.px(14)), at.y + t.px(6)};
  if (c.radius > t.px(110)) {
    const float wide = widgets::text_size(words, Type::small).x;
    p.plate({at.x > c.centre.x ? say.x : say.x - wide, say.y}, words, t.background, Type::small);
    p.text(say, words, t.accent, Type::small, Font::sans, at.x > c.centre.x ? Align::left : Align::right);
  }
}

}  // namespace

void draw_coin(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (picture.version == 0) {
    ImGui::Dummy(size);
    return;
  }
  const float foot = t.type(Type::small) + t.px(12);
  CoinPlace c;
  c.rim = std::max(t.px(40), std::min(0.3f * size.x, (size.y - foot) / 2 - t.px(6)));
  c.radius = c.rim - t.px(16);
  c.hole = 0.38f * c.radius;
  c.centre = {corner.x + size.x / 2, corner.y + (size.y - foot) / 2};
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    p.ring(c.centre, c.rim, t.line, t.px(2));
    ImGui::Dummy(size);
    return;
  }
  paint_rim(p, picture, c, corner, size);
  paint_face(p, picture, c);
  paint_names(p, picture, c, corner, size);
  drag_filled(in, p, c);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

void draw_coins(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(4), foot = 2 * line;
  const float largest = std::max(t.px(10), std::min((size.y - foot - line) / 2, size.x / 8));
  float wide = 0;
  for (const Coin& c : picture.coins) wide += 2 * std::max(t.px(26), c.radius * largest);
  const float gap = std::max(t.px(8), (size.x - wide) / static_cast<float>(picture.coins.size() + 1));
  float x = corner.x + gap / 2;
  const float middle = corner.y + line + largest;
  for (const Coin& c : picture.coins) {
    const float radius = std::max(t.px(3), c.radius * largest), half = std::max(t.px(26), radius);
    const ImU32 fill = c.here ? t.accent : t.muted;
    p.circle({x + half, middle}, radius, widgets::with_alpha(fill, c.here ? 0.9f : 0.35f));
    p.ring({x + half, middle}, radius, fill, t.px(1.5f));
    p.text({x + half, middle - radius - line}, c.dollars, c.here ? t.accent : t.text, Type::small, Font::mono,
           Align::center);
    p.text({x + half, corner.y + size.y - foot}, c.users, c.here ? t.accent : t.text, Type::small, Font::mono,
           Align::center);
    x += 2 * half + gap;
  }
  p.text({corner.x + size.x / 2, corner.y + size.y - line}, "users at once; the area is dollars per million tokens",
         t.muted, Type::small, Font::sans, Align::center);
  ImGui::Dummy(size);
}

}  // namespace chapters::fleet::cost
