#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/speculative/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::inference::speculative {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Type;

constexpr double max_cells = 16;  ///< how far a drag may guess

struct Frame {
  float left = 0, right = 0;
  double passes = 20;
  float x(double pass) const { return left + static_cast<float>(pass / passes) * (right - left); }
};

/// Where a lane stands: its columns above a strip of passes.
struct Place {
  float top = 0, strip = 0, bottom = 0;
  float cell = 0;  ///< px a token
};

/// One token: kept, the target's own, refused, or thrown away.
enum class Token : std::uint8_t { kept, own, refused, thrown };

void paint_token(const Painter& p, ImVec2 at, float side, Token kind, ImU32 colour) {
  const Theme& t = widgets::theme();
  const ImVec2 end{at.x + side, at.y + side};
  switch (kind) {
    case Token::kept:
      p.rect(at, end, colour, t.px(1.5f));
      break;
    case Token::own:
      p.rect(at, end, t.text, t.px(1.5f));
      break;
    case Token::refused:
      p.frame(at, end, t.bad, t.px(1.5f), t.px(1.5f));
      p.line(at, end, t.bad, t.px(1.2f));
      break;
    case Token::thrown:
      p.frame(at, end, t.muted, t.px(0.8f), t.px(1.5f));
      break;
  }
}

/// A round as a column: from the bottom what was kept, then the target's own; the rest was thrown away.
void paint_round(const Painter& p, const Frame& f, const Place& place, const SpecLane& lane,
                 const models::inference::SpeculativeRound& r) {
  const Theme& t = widgets::theme();
  const float middle = (f.x(r.start) + f.x(r.end)) / 2, room = f.x(r.end) - f.x(r.start);
  const float side = std::min(0.82f * place.cell, 0.45f * room);
  const ImU32 colour = widgets::colour(lane.tint, t);
  const auto drafted = static_cast<std::int32_t>(lane.length);
  const auto y = [&](std::int32_t i) { return place.strip - t.px(3) - place.cell * static_cast<float>(i + 1); };
  for (std::int32_t i = 0; i < drafted; ++i)
    paint_token(p, {middle - side / 2, y(i)}, side, i < r.kept ? Token::kept : Token::thrown, colour);
  if (r.rejected && room > 2.2f * side)
    paint_token(p, {middle + 0.62f * side, y(r.kept)}, side, Token::refused, colour);
  paint_token(p, {middle - side / 2, y(r.kept)}, side, Token::own, colour);
}

/// The strip under a column: slices of the draft, then the target's pass.
void paint_strip(const Painter& p, const Frame& f, const Place& place, const SpecLane& lane,
                 const models::inference::SpeculativeRound& r) {
  const Theme& t = widgets::theme();
  const ImU32 colour = widgets::colour(lane.tint, t), grey = widgets::colour(widgets::Tint(), t);
  const double draft = lane.length * lane.cost;
  const float x0 = f.x(r.start), x1 = f.x(r.start + draft), x2 = f.x(r.end);
  if (draft > 0) {
    p.rect({x0 + t.px(0.5f), place.strip}, {x1, place.bottom}, colour);
    if (x1 - x0 > t.px(3) * static_cast<float>(lane.length))
      for (double i = 1; i < lane.length; ++i) {
        const float x = x0 + (x1 - x0) * static_cast<float>(i / lane.length);
        p.line({x, place.strip}, {x, place.bottom}, t.panel, t.px(1));
      }
  }
  p.rect({x1 + t.px(0.5f), place.strip}, {x2 - t.px(0.5f), place.bottom}, grey);
}

void paint_names(const Painter& p, const Frame& f, const Place& place, const SpecLane& lane, float left, float right,
                 bool given) {
  const Theme& t = widgets::theme();
  const float body = t.type(Type::body), small = t.type(Type::small), room = f.left - left - t.px(8);
  const ImU32 ink = lane.tint == widgets::Tint::yours() ? t.accent : t.text;
  float y = std::max(place.top, place.bottom - body - small - t.px(6));
  if (place.bottom - place.top > body + 2 * small) y = place.top + t.px(2);
  widgets::fit_text(p, {left, y}, lane.name, room, ink, Type::body, Font::bold);
  widgets::fit_text(p, {left, y + body + t.px(2)}, lane.detail, room, t.muted, Type::small);
  if (given) return;
  widgets::fit_text(p, {right, y}, lane.tokens, t.px(86), ink, Type::body, Font::bold, Align::right);
  widgets::fit_text(p, {right, y + body + t.px(2)}, lane.rounds, t.px(86), t.muted, Type::small, Font::sans,
                    Align::right);
}

/// The lanes' places: a plain one is low, the others share what is left, none higher than its columns and its name.
void place_lanes(const Picture& picture, ImVec2 at, ImVec2 size, std::array<Place, 4>& places) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), head = small + t.px(10), foot = small + t.px(10), strip = t.px(9),
              gap = t.px(10);
  const std::size_t n = picture.lanes.size();
  const float low = std::max(t.px(34), t.type(Type::body) + small + t.px(6));
  const float each = n > 1 ? (size.y - head - foot - low - gap * static_cast<float>(n)) / static_cast<float>(n - 1) : 0;
  float y = at.y + head;
  for (std::size_t i = 0; i < n; ++i) {
    const double cells = i == 0 ? 1 : picture.lanes[i].length + 1;
    const float most = std::max(low, t.px(20) * static_cast<float>(cells) + strip + t.px(10));
    const float high = std::max(strip + t.px(4), i == 0 ? low : std::min(each, most));
    Place& place = places[i];
    place.top = y;
    place.bottom = y + high;
    place.strip = place.bottom - strip;
    place.cell = std::min(t.px(i == 0 ? 11 : 20), (place.strip - place.top - t.px(4)) / static_cast<float>(cells));
    y = place.bottom + gap;
  }
}

void paint_key(const Painter& p, ImVec2 at, float width, const Picture& picture, View& view) {
  const std::array<widgets::LegendEntry, 4> legend{
      {{"drafted and kept", picture.lanes.size() > 1 ? picture.lanes[1].tint : widgets::Tint::yours()},
       {"the target's own", widgets::Tint::strong()},
       {"refused", widgets::Tint::bad()},
       {"a pass of the target", widgets::Tint()}}};
  widgets::layout_legend(legend, width, widgets::legend_row_px(), widgets::measure_text, view.legend);
  widgets::paint_legend(p, at, width, legend, view.legend);
}

/// The top of your columns is dragged for the draft's length.
void take_drag(Inputs& in, const Frame& f, const Place& place, const SpecLane& lane) {
  const Theme& t = widgets::theme();
  const auto cells = static_cast<float>(lane.length);
  const float y = std::max(place.top, place.strip - t.px(3) - place.cell * (cells + 1));
  ImGui::SetCursorScreenPos({f.left, y - t.px(4)});
  widgets::press_area("drag the draft's length", {f.right - f.left, t.px(9)});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    widgets::tip("Drafted in a round", widgets::format(lane.length, "tokens"), "Drag it up to guess further.");
  }
  if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(ImGuiMouseButton_Left)) return;
  const float up = place.strip - ImGui::GetMousePos().y;
  const double length = static_cast<double>(up / std::max(t.px(6), place.cell)) - 1;
  in.draft_length = std::clamp<std::int64_t>(std::llround(length), 0, static_cast<std::int64_t>(max_cells));
}

}  // namespace

void draw_clock(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  if (picture.lanes.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const Theme& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), right = at.x + size.x - t.px(4);
  const Frame f{.left = at.x + t.px(126), .right = right - t.px(94), .passes = picture.passes};
  std::array<Place, 4> places;
  place_lanes(picture, at, size, places);
  widgets::drew("rounds");
  const bool given = widgets::veiled();
  if (given) {
    const widgets::GivenMarks marks;
    for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
      paint_names(p, f, places[i], picture.lanes[i], at.x, right, true);
      p.line({f.left, places[i].bottom}, {f.right, places[i].bottom}, t.muted, t.px(1));
    }
    ImGui::Dummy(size);
    return;
  }
  paint_key(p, at, size.x, picture, view);
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const SpecLane& lane = picture.lanes[i];
    for (const models::inference::SpeculativeRound& r : lane.shown) {
      paint_round(p, f, places[i], lane, r);
      paint_strip(p, f, places[i], lane, r);
    }
    p.line({f.left, places[i].bottom}, {f.right, places[i].bottom}, t.line, t.px(1));
    paint_names(p, f, places[i], lane, at.x, right, false);
  }
  const float foot = std::min(places[picture.lanes.size() - 1].bottom + t.px(10), at.y + size.y - small - t.px(2));
  p.text({f.left, foot}, "0", t.muted, Type::small, Font::mono);
  p.text({(f.left + f.right) / 2, foot}, "one clock for all: passes of the target", t.muted, Type::small, Font::sans,
         Align::center);
  p.text({f.right, foot}, widgets::format(picture.passes, ""), t.muted, Type::small, Font::mono, Align::right);
  if (picture.lanes.size() > 1 && size.y >= t.px(200)) take_drag(in, f, places[1], picture.lanes[1]);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::speculative
