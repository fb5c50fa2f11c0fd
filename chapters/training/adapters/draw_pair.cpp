#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/training/adapters/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

namespace chapters::training::adapters {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// The frozen matrix and the pair around it: A as tall as W has inputs, B as wide as it has outputs.
struct PairPlace {
  ImVec2 min{}, max{};  ///< W
  float side = 1;       ///< pixels of the smaller side of W
  float thick = 0, gap = 0;
};

PairPlace place_pair(const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  PairPlace p;
  p.gap = t.px(6);
  // Room is kept for the largest rank, so that W stays where it is while a hand widens the pair.
  const float wide_over_tall = static_cast<float>(picture.outputs / picture.inputs);
  const float room_x = std::max(1.0f, size.x - t.px(36)),
              room_y = std::max(1.0f, size.y - t.px(6) - t.type(Type::small));
  const float share = static_cast<float>(picture.most_share);
  const float most_x = std::max(1.0f, room_x - p.gap), most_y = std::max(1.0f, room_y - p.gap);
  // W is w by h, and the thickness is a share of the smaller of both.
  const float ratio = std::clamp(wide_over_tall, 0.4f, 2.5f);
  const float small_over_tall = std::min(1.0f, ratio);
  const float tall = std::min(most_y / (1 + share * small_over_tall), most_x / (ratio + share * small_over_tall));
  p.side = tall * small_over_tall;
  p.thick = std::max(t.px(2), static_cast<float>(picture.share) * p.side);
  const float reserved = share * p.side + p.gap;
  p.min = {at.x + reserved + t.px(14), at.y + reserved + t.px(2)};
  p.max = {p.min.x + tall * ratio, p.min.y + tall};
  return p;
}

void paint_wide(const Painter& p, const Picture& picture, const PairPlace& w) {
  const auto& t = widgets::theme();
  const bool trained = !picture.pair;
  const ImU32 hue = trained ? t.of(widgets::Meaning::weight_gradient) : t.muted;
  p.rect(w.min, w.max, widgets::with_alpha(hue, trained ? 0.5f : 0.2f), t.px(3));
  if (!trained) widgets::hatch(p, {w.min, w.max}, widgets::with_alpha(t.muted, 0.35f), t.px(9));
  p.frame(w.min, w.max, hue, t.px(1.5f), t.px(3));
  const float room = w.max.x - w.min.x - t.px(10), x = (w.min.x + w.max.x) / 2;
  const float body = t.type(Type::body), small = t.type(Type::small);
  const float y = (w.min.y + w.max.y) / 2 - (body + small + t.px(4)) / 2;
  const auto words = [&](std::string_view s, float top, Type type, Font font, ImU32 colour) {
    const ImVec2 extent = widgets::text_size(s, type, font);
    const float half = std::min(extent.x, room) / 2 + t.px(4);
    p.rect({x - half, top - t.px(1)}, {x + half, top + extent.y + t.px(1)}, t.background, t.px(3));
    p.text_fit({x, top}, s, room, colour, type, font, Align::center);
  };
  // Sizes that have no room are left out.
  const bool whole = widgets::text_size(picture.wide_words, Type::body, Font::bold).x <= room;
  words(whole ? std::string_view(picture.wide_words) : "W", y, Type::body, Font::bold, t.text);
  if (widgets::text_size(picture.wide_note, Type::small).x > room) return;
  words(picture.wide_note, y + body + t.px(5), Type::small, Font::sans, t.muted);
}

void paint_thin(const Painter& p, ImVec2 min, ImVec2 max) {
  const auto& t = widgets::theme();
  p.rect(min, max, t.of(widgets::Meaning::weight_gradient), t.px(2));
}

/// The hand on the outer edge of A.
void drag_thickness(Inputs& in, const Picture& picture, const Painter& p, const PairPlace& w, float right) {
  const auto& t = widgets::theme();
  const float x = right - w.thick, y = (w.min.y + w.max.y) / 2;
  ImGui::SetCursorScreenPos({x - t.px(12), w.min.y});
  widgets::press_area("drag the rank of the pair", {t.px(24), w.max.y - w.min.y});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool hot = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  const double side = std::min(picture.inputs, picture.outputs);
  if (held && std::abs(ImGui::GetIO().MousePos.x - x) > t.px(1))
    in.rank = std::min(rank_at(static_cast<double>((right - ImGui::GetIO().MousePos.x) / w.side), side),
                       std::max<std::int64_t>(1, static_cast<std::int64_t>(side)));
  if (ImGui::IsItemFocused()) {
    const int steps = widgets::play_keys().steps;
    if (steps > 0) in.rank = std::clamp<std::int64_t>(in.rank * 2, 1, max_rank);
    if (steps < 0) in.rank = std::max<std::int64_t>(1, in.rank / 2);
  }
  if (hot) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    p.circle({x, y}, t.px(10), widgets::with_alpha(t.accent, 0.25f));
  }
  p.circle({x, y}, t.px(6), t.accent);
  p.ring({x, y}, t.px(6), t.text, t.px(1.5f));
  for (const float way : {-1.0f, 1.0f}) {
    const std::array<ImVec2, 3> points{
        {{x + way * t.px(9), y - t.px(4)}, {x + way * t.px(13), y}, {x + way * t.px(9), y + t.px(4)}}};
    p.polyline(points, t.accent, t.px(1.5f));
  }
}

}  // namespace

void draw_given_matrix(const Picture& picture, ImVec2 at, ImVec2 size) {
  if (!(picture.inputs > 0)) return;
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  const PairPlace w = place_pair(picture, at, size);
  p.frame(w.min, w.max, t.text, t.px(1.5f), t.px(3));
  p.text_fit({(w.min.x + w.max.x) / 2, (w.min.y + w.max.y - t.type(Type::body)) / 2}, picture.wide_words,
             w.max.x - w.min.x - t.px(8), t.text, Type::body, Font::bold, Align::center);
}

void draw_pair(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (!(picture.inputs > 0)) return;
  const float line = t.type(Type::small) + t.px(4);
  const float head = picture.pair ? t.type(Type::body) + t.px(4) + line : 0;
  if (picture.pair) {
    p.text_fit(at, picture.pair_words, size.x, t.text, Type::body, Font::bold);
    p.text_fit({at.x, at.y + t.type(Type::body) + t.px(4)}, picture.pair_note, size.x, t.muted, Type::small);
  }
  const ImVec2 from{at.x, at.y + head + t.px(4)};
  const PairPlace w = place_pair(picture, from, {size.x, size.y - head - t.px(6)});
  paint_wide(p, picture, w);
  if (picture.pair) {
    const float right = w.min.x - w.gap, bottom = w.min.y - w.gap;
    paint_thin(p, {right - w.thick, w.min.y}, {right, w.max.y});
    paint_thin(p, {w.min.x, bottom - w.thick}, {w.max.x, bottom});
    p.text({right - w.thick / 2, w.max.y + t.px(3)}, picture.a_words, t.text, Type::small, Font::bold, Align::center);
    p.text({w.max.x + t.px(6), bottom - w.thick / 2 - t.type(Type::small) / 2}, picture.b_words, t.text, Type::small,
           Font::bold);
    drag_thickness(in, picture, p, w, right);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::training::adapters
