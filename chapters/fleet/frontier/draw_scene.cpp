#include <algorithm>
#include <cmath>

#include "chapters/fleet/frontier/scene.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// Axes and walls of the picture.
namespace chapters::fleet::frontier {
namespace {

using widgets::Align, widgets::AxisMap, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// Better is right and up, whichever way the numbers run.
AxisMap x_map(const Picture& picture, const Scene& s) {
  const bool high = picture.run->x.high;
  return {s.x.kind,
          {s.x.lo, s.x.hi},
          static_cast<double>(high ? s.area.min.x : s.area.max.x),
          static_cast<double>(high ? s.area.max.x : s.area.min.x)};
}
AxisMap y_map(const Picture& picture, const Scene& s) {
  const bool high = picture.run->y.high;
  return {s.y.kind,
          {s.y.lo, s.y.hi},
          static_cast<double>(high ? s.area.max.y : s.area.min.y),
          static_cast<double>(high ? s.area.min.y : s.area.max.y)};
}

float small_width(std::string_view words) { return widgets::text_size(words, Type::small, Font::mono).x; }

/// Three digits, as a limit is spoken of.
double round_wall(double value) {
  if (!(value > 0)) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
  return std::min(1e9, std::round(value / unit) * unit);
}

/// Pixel of a wall, at the edge of the worst where there is none.
float x_wall(const Picture& picture, const Scene& s) {
  const double wall = picture.run->x.wall;
  if (!(wall > 0)) return s.area.min.x;
  return std::clamp(static_cast<float>(x_map(picture, s).pixel(wall)), s.area.min.x, s.area.max.x);
}
float y_wall(const Picture& picture, const Scene& s) {
  const double wall = picture.run->y.wall;
  if (!(wall > 0)) return s.area.max.y;
  return std::clamp(static_cast<float>(y_map(picture, s).pixel(wall)), s.area.min.y, s.area.max.y);
}

}  // namespace

Ends ends_of(widgets::AxisKind kind, bool high, widgets::Range range) {
  const double lo = widgets::axis_forward(kind, range.lo), hi = widgets::axis_forward(kind, range.hi);
  return high ? Ends{lo, hi} : Ends{hi, lo};
}

ImVec2 Scene::along(double fall) const {
  const float down = static_cast<float>(std::clamp(fall, 0.0, 1e4)) * y_part / x_part * tall() / std::max(wide(), 1.0f);
  const float length = std::sqrt(1 + down * down);
  return {1 / length, down / length};
}

void Labels::take(Rect place) {
  if (count_ < taken_.size()) taken_[count_++] = place;
}

const ImVec2* Labels::place(std::span<const ImVec2> places, ImVec2 words, const Rect& inside) {
  for (const ImVec2& at : places) {
    const Rect r{at, {at.x + words.x, at.y + words.y}};
    if (r.min.x < inside.min.x || r.max.x > inside.max.x || r.min.y < inside.min.y || r.max.y > inside.max.y) continue;
    bool is_free = true;
    for (std::size_t i = 0; i < count_ && is_free; ++i)
      is_free = r.max.x <= taken_[i].min.x || r.min.x >= taken_[i].max.x || r.max.y <= taken_[i].min.y ||
                r.min.y >= taken_[i].max.y;
    if (!is_free) continue;
    take(r);
    return &at;
  }
  return nullptr;
}

Scene make_scene(const Picture& picture, const View& view, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small) + t.px(4);
  const float gutter = std::max(t.px(56), small_width(picture.winner_y) + t.px(16));
  Scene s;
  s.corner = corner;
  s.size = size;
  s.area = {{corner.x + gutter, corner.y + line + t.px(4)},
            {corner.x + size.x - t.px(8), corner.y + size.y - 3 * line - t.px(10)}};
  s.area.max.x = std::max(s.area.max.x, s.area.min.x + t.px(40));
  s.area.max.y = std::max(s.area.max.y, s.area.min.y + t.px(40));
  s.x = picture.x;
  s.y = picture.y;
  if (!view.wall_held) return s;
  const auto hold = [](widgets::AxisSpec& spec, widgets::Range held, bool high, float& from, float& part) {
    const Ends now = ends_of(spec.kind, high, {spec.lo, spec.hi}), drawn = ends_of(spec.kind, high, held);
    from = static_cast<float>((now.worst - drawn.worst) / (drawn.best - drawn.worst));
    part = static_cast<float>((now.best - now.worst) / (drawn.best - drawn.worst));
    spec.lo = held.lo;
    spec.hi = held.hi;
  };
  hold(s.x, view.held_x, picture.run->x.high, s.x_from, s.x_part);
  hold(s.y, view.held_y, picture.run->y.high, s.y_from, s.y_part);
  return s;
}

void paint_axes(const Painter& p, const Picture& picture, const Scene& s) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small);
  widgets::AxisTicks ticks;
  const AxisMap x = x_map(picture, s), y = y_map(picture, s);
  const widgets::LabelMeasure across{.width_px = small_width, .line_px = line},
      upright{.width_px = small_width, .line_px = line, .vertical = true};
  widgets::layout_ticks(s.x, {s.x.lo, s.x.hi}, x, across, ticks);
  const ImVec2 tag = s.at(picture.winner);
  const bool shown = !widgets::veiled();
  for (const widgets::Tick& tick : ticks.major()) {
    const float at = static_cast<float>(tick.pixel);
    if (at < s.area.min.x || at > s.area.max.x) continue;
    p.line({at, s.area.min.y}, {at, s.area.max.y}, t.grid);
    const float wide = small_width(tick.label.view());
    if (shown && std::abs(at - tag.x) < (wide + small_width(picture.winner_x)) / 2 + t.px(10)) continue;
    p.text({at, s.area.max.y + t.px(5)}, tick.label.view(), t.muted, Type::small, Font::mono, Align::center);
  }
  widgets::layout_ticks(s.y, {s.y.lo, s.y.hi}, y, upright, ticks);
  for (const widgets::Tick& tick : ticks.major()) {
    const float at = static_cast<float>(tick.pixel);
    if (at < s.area.min.y || at > s.area.max.y) continue;
    p.line({s.area.min.x, at}, {s.area.max.x, at}, t.grid);
    if (shown && std::abs(at - tag.y) < line + t.px(4)) continue;
    p.text({s.area.min.x - t.px(7), at - line / 2}, tick.label.view(), t.muted, Type::small, Font::mono, Align::right);
  }
  p.frame(s.area.min, s.area.max, t.line);
  if (shown)
    p.text_fit({s.corner.x, s.corner.y + s.size.y - line - t.px(2)}, picture.note, s.size.x, t.muted, Type::small);
}

void paint_walls(const Painter& p, const Picture& picture, const Scene& s) {
  const auto& t = widgets::theme();
  const float x = x_wall(picture, s), y = y_wall(picture, s);
  const ImU32 shade = widgets::with_alpha(t.warning, 0.16f);
  if (x > s.area.min.x + 1) widgets::hatch(p, {s.area.min, {x, s.area.max.y}}, shade, t.px(9));
  if (y < s.area.max.y - 1) widgets::hatch(p, {{s.area.min.x, y}, s.area.max}, shade, t.px(9));
}

void drag_walls(Inputs& in, const Painter& p, const Picture& picture, const Scene& s, View& view, Labels& labels) {
  bool any_held = false;
  const auto& t = widgets::theme();
  const auto handle = [&](const char* id, bool across, float at, std::string_view words, double& wall,
                          const AxisMap& map) {
    const float reach = t.px(7), middle = across ? s.area.min.y + 0.86f * s.tall() : s.area.min.x + 0.9f * s.wide();
    const ImVec2 knob = across ? ImVec2{at, middle} : ImVec2{middle, at};
    ImGui::SetCursorScreenPos(across ? ImVec2{at - reach, s.area.min.y} : ImVec2{s.area.min.x, at - reach});
    widgets::press_area(id, across ? ImVec2{2 * reach, s.tall()} : ImVec2{s.wide(), 2 * reach});
    const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
    const bool lit = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
    any_held |= held;
    float to = at;
    if (held && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0))
      to = across ? ImGui::GetIO().MousePos.x : ImGui::GetIO().MousePos.y;
    if (ImGui::IsItemFocused())
      to += t.px(4) * static_cast<float>(across ? widgets::play_keys().steps : -widgets::play_keys().steps);
    if (to != at) {
      const bool none = across ? to < s.area.min.x + t.px(3) : to > s.area.max.y - t.px(3);
      wall = none ? 0 : round_wall(map.value(static_cast<double>(to)));
    }
    if (lit) ImGui::SetMouseCursor(across ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    const bool there = !words.empty();
    if (there || lit)
      p.line(across ? ImVec2{at, s.area.min.y} : ImVec2{s.area.min.x, at},
             across ? ImVec2{at, s.area.max.y} : ImVec2{s.area.max.x, at}, t.warning, t.px(lit ? 2.5f : 1.8f));
    p.rect({knob.x - t.px(across ? 3.5f : 9.0f), knob.y - t.px(across ? 9.0f : 3.5f)},
           {knob.x + t.px(across ? 3.5f : 9.0f), knob.y + t.px(across ? 9.0f : 3.5f)},
           there || lit ? t.warning : t.muted, t.px(3));
    if (!there) return;
    const ImVec2 room = widgets::text_size(words, Type::small, Font::bold);
    const std::array<ImVec2, 3> places{
        across ? ImVec2{at - room.x - t.px(9), knob.y - room.y / 2} : ImVec2{knob.x - room.x / 2, at + t.px(8)},
        across ? ImVec2{at + t.px(9), knob.y - room.y / 2} : ImVec2{knob.x - room.x / 2, at - room.y - t.px(8)},
        across ? ImVec2{at + t.px(9), s.area.min.y + t.px(6)} : ImVec2{s.area.min.x + t.px(6), at - room.y - t.px(6)}};
    if (const ImVec2* place = labels.place(places, room, s.area)) {
      p.plate(*place, words, t.panel, Type::small, Font::bold);
      p.text(*place, words, t.warning, Type::small, Font::bold);
    }
  };
  handle("drag the wall across", true, x_wall(picture, s), picture.wall_x_words, in.wall_x, x_map(picture, s));
  handle("drag the wall up", false, y_wall(picture, s), picture.wall_y_words, in.wall_y, y_map(picture, s));
  if (any_held && !view.wall_held) {
    view.held_x = {picture.x.lo, picture.x.hi};
    view.held_y = {picture.y.lo, picture.y.hi};
  }
  view.wall_held = any_held;
}

}  // namespace chapters::fleet::frontier
