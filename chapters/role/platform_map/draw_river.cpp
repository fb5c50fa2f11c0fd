#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/role/platform_map/lab.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

/// The river with its boxes, and the axis along which GPUs are dragged.
namespace chapters::role::platform_map {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

void draw_lanes(const Painter& p, const std::array<Lane, parts>& lanes, const Picture& picture,
                const std::array<bool, parts>& strong) {
  const auto& t = theme();
  for (std::size_t i = 0; i < parts; ++i) {
    if (lanes[i].outline.empty()) continue;
    const ImU32 hue = widgets::colour(picture.boxes[i].tint, t);
    p.polygon(lanes[i].outline, widgets::with_alpha(hue, strong[i] ? 0.85f : 0.45f));
  }
}

/// A total and what it is of, left of a band that starts at `rect`'s right.
void draw_head(const Painter& p, Rect rect, std::string_view total, std::string_view words) {
  const auto& t = theme();
  const float body = t.type(Type::body), small = t.type(Type::small), height = body + small + t.px(2);
  const float y = std::clamp((rect.min.y + rect.max.y - height) / 2, rect.min.y - t.px(2), rect.max.y);
  widgets::fit_text(p, {rect.max.x, y}, total, rect.width(), t.text, Type::body, Font::mono, Align::right);
  widgets::fit_text(p, {rect.max.x, y + body + t.px(2)}, words, rect.width(), t.muted, Type::small, Font::sans,
                    Align::right);
}

float line_height() { return theme().type(Type::small) + theme().px(3); }

/// Words in lines of at most `width` px, from `at` down to `foot`; returns where the next line would stand.
float draw_wrapped(const Painter& p, ImVec2 at, float foot, std::string_view words, float width, ImU32 colour) {
  const float left = foot - at.y - theme().type(Type::small);
  if (left < 0) return at.y;
  const int lines = 1 + static_cast<int>(left / line_height());
  return at.y + widgets::wrapped_text(p, at, words, width, colour, {.line_px = line_height(), .max_lines = lines});
}

/// How high `words` are in such lines.
float wrapped_height(std::string_view words, float width) {
  return widgets::wrapped_text(Painter::window(), {}, words, width, 0, {.line_px = line_height(), .paint = false});
}

/// The ground of a box: its colour on top, and a glow where it is the bottleneck.
void draw_plate(const Painter& p, Rect at, ImU32 hue, bool bottleneck, bool lit) {
  const auto& t = theme();
  if (bottleneck)
    for (const float grow : {9.0f, 6.0f, 3.0f}) {
      const float g = t.px(grow);
      p.rect({at.min.x - g, at.min.y - g}, {at.max.x + g, at.max.y + g}, widgets::with_alpha(t.warning, 0.16f),
             t.px(6) + g);
    }
  p.rect(at.min, at.max, t.card, t.px(6));
  p.rect({at.min.x + t.px(2), at.min.y + t.px(1)}, {at.max.x - t.px(2), at.min.y + t.px(5)}, hue, t.px(2));
  p.frame(at.min, at.max, bottleneck ? t.warning : lit ? t.accent : t.line, t.px(bottleneck ? 2.5f : 1.0f), t.px(6));
}

/// The lines of a box that its height has room for, the less needed ones going first.
void draw_box(const Painter& p, const Picture& picture, std::size_t i, Rect at, bool lit) {
  const auto& t = theme();
  const Box& box = picture.boxes[i];
  const bool bottleneck = picture.bottleneck[i];
  draw_plate(p, at, widgets::colour(box.tint, t), bottleneck, lit);
  const float pad = std::clamp(0.05f * at.width(), t.px(2), t.px(6)), width = at.width() - 2 * pad,
              small = t.type(Type::small), step = line_height();
  // Where only three lines fit, name, money and hours are those.
  const bool leads = !box.opens.empty() && at.height() >= t.px(14) + 4 * step + wrapped_height(box.opens, width);
  const float x = at.min.x + pad, link = leads ? wrapped_height(box.opens, width) : 0;
  const float foot = at.max.y - t.px(5) - link;
  float y = at.min.y + t.px(7);
  const auto line = [&](std::string_view words, ImU32 colour, Font font) {
    if (y + small > foot) return;
    widgets::fit_text(p, {x, y}, words, width, colour, Type::small, font);
    y += step;
  };
  // Money above hours, as the two rivers run; shares only where there is room for all of it.
  const bool roomy = foot - y >= 7 * step;
  const bool whole_name = widgets::text_size(box.name, Type::small, Font::bold).x <= width;
  line(whole_name ? box.name : box.brief, t.text, Font::bold);
  if (foot - y >= 2 * step) line(box.money, t.text, Font::mono);
  const auto fitting = [&](std::string_view words, std::string_view brief) {
    return widgets::text_size(words, Type::small).x <= width ? words : brief;
  };
  if (roomy) line(fitting(box.money_share, box.money_percent), t.muted, Font::sans);
  line(box.hours, bottleneck ? t.warning : t.text, Font::mono);
  if (roomy) line(fitting(box.hours_share, box.hours_percent), bottleneck ? t.warning : t.muted, Font::sans);
  if (bottleneck) line("the bottleneck", t.warning, Font::bold);
  if (y + small <= foot) y = draw_wrapped(p, {x, y}, foot, box.cause, width, t.muted);
  for (const Act& act : box.acts) {
    const float needs = wrapped_height(act.name, width) + wrapped_height(act.saves, width) + t.px(7);
    if (y + needs > foot) break;
    p.line({x, y + t.px(3)}, {x + width, y + t.px(3)}, t.line);
    y = draw_wrapped(p, {x, y + t.px(6)}, foot, act.name, width, t.text);
    y = draw_wrapped(p, {x, y}, foot, act.saves, width, t.muted);
  }
  if (leads) draw_wrapped(p, {x, foot + t.px(1)}, at.max.y + step, box.opens, width, t.accent);
}

/// In the middle of its piece, or of what the handle at `handle` leaves of it; the short name, or none, where there is
/// less room.
void draw_stretch_name(const Painter& p, const Stretch& s, Rect piece, float handle, ImU32 hue) {
  const auto& t = theme();
  Rect free = piece;
  const float clear = t.px(11);
  if (handle > piece.min.x - clear && handle < piece.max.x + clear) {
    if (handle - piece.min.x > piece.max.x - handle)
      free.max.x = std::min(free.max.x, handle - clear);
    else
      free.min.x = std::max(free.min.x, handle + clear);
  }
  for (const std::string_view words : {std::string_view(s.name), std::string_view(s.brief)}) {
    const ImVec2 size = widgets::text_size(words, Type::small);
    if (size.x + t.px(8) > free.width()) continue;
    const float middle = (piece.min.x + piece.max.x) / 2, half = size.x / 2 + t.px(4);
    const ImVec2 at{std::clamp(middle, free.min.x + half, free.max.x - half), (piece.min.y + piece.max.y - size.y) / 2};
    if (s.refused) p.rect({at.x - half + t.px(1), piece.min.y}, {at.x + half - t.px(1), piece.max.y}, t.card);
    p.text(at, words, s.refused ? t.muted : widgets::text_on(hue, t), Type::small, Font::sans, Align::center);
    return;
  }
}

void draw_axis(const Painter& p, const Picture& picture, Rect axis, const Inputs& in) {
  const auto& t = theme();
  const float small = t.type(Type::small), bar = t.px(16), top = axis.min.y + small + t.px(8);
  const auto x_of = [&](double n) {
    return axis.min.x + axis.width() * static_cast<float>(place_of_gpus(n, picture.axis_hi));
  };
  const float handle = x_of(static_cast<double>(in.setup.gpus));
  for (const Stretch& s : picture.stretches) {
    const Rect piece{{x_of(s.from), top}, {x_of(s.to), top + bar}};
    if (piece.width() < 1) continue;
    const ImU32 hue = widgets::colour(s.tint, t);
    p.rect(piece.min, piece.max, s.refused ? t.card : hue);
    if (s.refused) widgets::hatch(p, piece, t.muted, t.px(6));
    draw_stretch_name(p, s, piece, handle, hue);
  }
  for (double n = 1; n <= picture.axis_hi; n *= 8) {
    const float x = x_of(n);
    p.line({x, top + bar}, {x, top + bar + t.px(4)}, t.muted);
    p.text({x, top + bar + t.px(5)}, widgets::format(n, "").view(), t.muted, Type::small, Font::mono,
           x < axis.min.x + t.px(10)   ? Align::left
           : x > axis.max.x - t.px(20) ? Align::right
                                       : Align::center);
  }
  const float x = handle;
  const ImVec2 tag = widgets::text_size(picture.gpus_tag, Type::small, Font::bold);
  const float left =
      std::clamp(x - tag.x / 2 - t.px(6), axis.min.x, std::max(axis.min.x, axis.max.x - tag.x - t.px(12)));
  p.rect({left, axis.min.y}, {left + tag.x + t.px(12), axis.min.y + tag.y + t.px(2)}, t.accent, t.px(4));
  p.text({left + t.px(6), axis.min.y + t.px(1)}, picture.gpus_tag, widgets::text_on(t.accent, t), Type::small,
         Font::bold);
  p.line({x, axis.min.y + tag.y}, {x, top + bar}, t.accent, t.px(2));
  p.circle({x, top + bar / 2}, t.px(7), t.accent);
  p.ring({x, top + bar / 2}, t.px(7), IM_COL32_WHITE, t.px(2));
}

void keep_river(const Outputs& out, widgets::Record& record) {
  widgets::DataTable table{"Parts of the release", {"part", "time_s", "time_percent", "usd", "usd_percent"}, {}};
  for (std::size_t i = 0; i < parts; ++i)
    table.rows.push_back({std::string(models::platform::part_name(static_cast<models::platform::Part>(i))),
                          widgets::exact(out.release.parts[i].time_s), widgets::exact(out.time_share[i]),
                          widgets::exact(out.release.parts[i].usd), widgets::exact(out.usd_share[i])});
  record.tables.push_back(std::move(table));
}

}  // namespace

void draw_platform(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (picture.total_hours.empty()) {
    ImGui::Dummy(size);
    return;
  }
  River& river = view.river;
  layout_river({at, {at.x + size.x, at.y + size.y}}, picture.usd_share, picture.time_share, t.scale, river);
  std::array<bool, parts> dearest{};
  dearest[picture.dearest] = true;
  draw_lanes(p, river.money, picture, dearest);
  draw_lanes(p, river.hours, picture, picture.bottleneck);
  draw_head(p, river.money_head, picture.total_money, picture.paid);
  draw_head(p, river.hours_head, picture.total_hours, "until out");
  for (std::size_t i = 0; i < parts; ++i) {
    const Rect& rect = river.boxes[i];
    ImGui::SetCursorScreenPos(rect.min);
    ImGui::PushID(static_cast<int>(i));
    const Box& box = picture.boxes[i];
    const bool pressed =
        widgets::press_area(box.name.data(), {rect.width(), rect.height()}, ImGuiButtonFlags_EnableNav);
    const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    ImGui::PopID();
    draw_box(p, picture, i, rect, lit);
    if (ImGui::IsItemHovered()) widgets::tip(box.name, box.hours, box.hint);
    if (pressed && !box.link.empty()) view.requests.open_link = box.link;
  }
  draw_axis(p, picture, river.axis, in);
  const float line = t.type(Type::small) + t.px(3), head = river.hours_head.max.x;
  for (const auto& [words, row] : {std::pair<std::string_view, float>{"drag", 1}, {"GPUs", 2}})
    widgets::fit_text(p, {head, river.axis.min.y + row * line - t.px(2)}, words, head - at.x, t.muted, Type::small,
                      Font::sans, Align::right);
  ImGui::SetCursorScreenPos(river.axis.min);
  widgets::press_area("GPUs that train", {river.axis.width(), river.axis.height()}, ImGuiButtonFlags_EnableNav);
  const auto moved = [&](double gpus) {
    return std::llround(std::clamp(gpus, picture.least_gpus, std::max(picture.least_gpus, picture.axis_hi)));
  };
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const double place = (ImGui::GetIO().MousePos.x - river.axis.min.x) / river.axis.width();
    in.setup.gpus = moved(gpus_at_place(place, picture.axis_hi));
  }
  // An arrow doubles or halves them.
  if (const int steps = widgets::play_keys().steps; steps != 0)
    in.setup.gpus = moved(std::round(static_cast<double>(in.setup.gpus) * std::exp2(steps)));
  if (ImGui::IsItemFocused()) p.frame(river.axis.min, river.axis.max, t.accent, t.px(1), t.px(4));
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (widgets::Record* record = p.record()) keep_river(out, *record);
}

}  // namespace chapters::role::platform_map
