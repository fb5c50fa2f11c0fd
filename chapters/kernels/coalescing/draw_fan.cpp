#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "chapters/kernels/coalescing/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::kernels::coalescing {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

constexpr std::size_t fan_points = 25;
constexpr double max_moved = 4096;  // the end of both ranges

ImU32 fetched_hue() { return widgets::theme().of(Meaning::memory_bound); }

/// A lane's thread: it leaves its dot straight down and enters its element straight too.
void thread_of(ImVec2 from, ImVec2 to, std::array<ImVec2, fan_points>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float u = static_cast<float>(i) / static_cast<float>(points.size() - 1), s = u * u * (3 - 2 * u);
    points[i] = {from.x + (to.x - from.x) * s, from.y + (to.y - from.y) * u};
  }
}

void paint_lane(const Painter& p, const Picture& picture, const FanLayout& l, std::size_t i, bool lit) {
  const auto& t = widgets::theme();
  const bool off = picture.lanes[i].off;
  const ImVec2 at = l.dots[i];
  if (!off) {
    std::array<ImVec2, fan_points> points;
    thread_of({at.x, at.y + l.dot}, {l.landings[i].x, l.landings[i].y - t.px(1)}, points);
    p.polyline(points, lit ? t.text : widgets::with_alpha(t.accent, 0.75f), t.px(lit ? 2.5f : 1.4f));
  }
  p.circle(at, l.dot, t.card);
  p.ring(at, l.dot, off ? t.line : lit ? t.text : t.accent, t.px(1.2f));
  widgets::Line number;
  number.add_integer(static_cast<std::int64_t>(i));
  if (l.dot < 0.55f * t.type(Type::small)) return;
  p.text({at.x, at.y - t.type(Type::small) / 2}, number.view(), off ? t.muted : t.text, Type::small, Font::mono,
         Align::center);
}

/// Wanted bytes are filled, what comes with them is hatched.
void paint_box(const Painter& p, const BoxMark& box, const Rect& r, const Picture& picture) {
  const auto& t = widgets::theme();
  const float byte = r.width() / static_cast<float>(models::gpu::sector_bytes), inset = t.px(1.5f);
  const float cell = byte * static_cast<float>(picture.width_bytes), gap = cell > t.px(5) ? t.px(1) : 0;
  p.rect(r.min, r.max, t.card);
  if (!box.fetched) {
    p.frame(r.min, r.max, t.line);
    return;
  }
  widgets::hatch(p, r, widgets::with_alpha(fetched_hue(), 0.55f), t.px(5));
  const auto width = static_cast<int>(picture.width_bytes);
  for (int from = 0; from < 32; from += width) {
    if (!((box.cells >> from) & 1U)) continue;
    int to = from + width;
    // Neighbours too narrow for a gap between them are one rectangle.
    while (gap == 0 && to < 32 && ((box.cells >> to) & 1U)) to += width;
    p.rect({r.min.x + byte * static_cast<float>(from) + gap, r.min.y + inset},
           {r.min.x + byte * static_cast<float>(to) - gap, r.max.y - inset}, t.accent, gap);
    from = to - width;
  }
  p.frame(r.min, r.max, fetched_hue(), t.px(1.5f));
}

void paint_names(const Painter& p, const Picture& picture, const FanLayout& l) {
  const auto& t = widgets::theme();
  if (l.names.height() <= 0) return;
  float end = -1e9f;
  const bool whole = std::all_of(picture.box_names.begin(), picture.box_names.end(), [&](const std::string& name) {
    return widgets::text_size(name, Type::small).x + t.px(6) < l.boxes.front().width();
  });
  for (std::size_t i = 0; i < picture.boxes.size(); ++i) {
    const Rect& r = l.boxes[i];
    if (picture.boxes[i].gap_before) {
      const float x = r.min.x - t.px(5), y = (r.min.y + r.max.y) / 2;
      p.line({x - t.px(1), y + t.px(4)}, {x + t.px(2), y - t.px(4)}, t.muted, t.px(1.2f));
    }
    if (!picture.boxes[i].fetched) continue;
    const std::string& name = whole ? picture.box_names[i] : picture.box_numbers[i];
    const float half = widgets::text_size(name, Type::small).x / 2, x = (r.min.x + r.max.x) / 2;
    if (x - half < end || x + half > l.names.max.x || x - half < l.names.min.x) continue;
    p.text({x, l.names.min.y}, name, fetched_hue(), Type::small, Font::sans, Align::center);
    end = x + half + t.px(8);
  }
  end = -1e9f;
  for (const LineMark& m : picture.lines) {
    const Rect &a = l.boxes[static_cast<std::size_t>(m.first)], &b = l.boxes[static_cast<std::size_t>(m.last)];
    const float left = a.min.x + t.px(2), right = b.max.x - t.px(2), y = l.lines.min.y + t.px(2);
    p.line({left, y}, {right, y}, t.muted);
    p.line({left, y - t.px(3)}, {left, y}, t.muted);
    p.line({right, y - t.px(3)}, {right, y}, t.muted);
    const float room = right - left;
    const auto fits = [&](const std::string& w) { return widgets::text_size(w, Type::small).x <= room; };
    const std::string& words = fits(m.words) ? m.words : fits(m.name) ? m.name : m.brief;
    const float half = widgets::text_size(words, Type::small).x / 2, x = (left + right) / 2;
    if (2 * half > room + t.px(6) || x - half < end) continue;
    p.text({x, y + t.px(2)}, words, t.muted, Type::small, Font::sans, Align::center);
    end = x + half + t.px(4);
  }
}

/// The index, and what fills and hatching mean.
void paint_head(const Painter& p, const Picture& picture, const FanLayout& l, bool legend) {
  const auto& t = widgets::theme();
  const float y = l.head.min.y + t.px(2), sample = t.px(11), small = t.type(Type::small);
  float right = l.head.max.x;
  static constexpr std::array<std::string_view, 3> names{"not touched", "fetched, not wanted", "wanted"};
  for (std::size_t i = 0; i < names.size() && legend; ++i) {
    const float wide = widgets::text_size(names[i], Type::small).x;
    if (right - wide - sample - t.px(12) < l.head.min.x + 0.45f * l.head.width()) break;
    p.text({right, y}, names[i], t.muted, Type::small, Font::sans, Align::right);
    const Rect box{{right - wide - sample - t.px(6), y + (small - sample) / 2},
                   {right - wide - t.px(6), y + (small + sample) / 2}};
    p.rect(box.min, box.max, i == 2 ? t.accent : t.card);
    if (i == 1) widgets::hatch(p, box, widgets::with_alpha(fetched_hue(), 0.7f), t.px(4));
    if (i < 2) p.frame(box.min, box.max, i == 1 ? fetched_hue() : t.line);
    right = box.min.x - t.px(16);
  }
  const float room = right - l.head.min.x - t.px(8);
  const float wide = std::min(room, widgets::text_size(picture.expression, Type::body, Font::mono).x);
  widgets::fit_text(p, {l.head.min.x, y - t.px(2)}, picture.expression, room, t.text, Type::body, Font::mono);
  if (room - wide > t.px(160))
    widgets::fit_text(p, {l.head.min.x + wide + t.px(18), y}, picture.expression_hint, room - wide - t.px(18), t.muted,
                      Type::small);
}

/// A round handle with its word; the word keeps within the picture.
void paint_handle(const Painter& p, ImVec2 at, std::string_view word, bool leftward, const Rect& room, bool lit) {
  const auto& t = widgets::theme();
  p.circle(at, t.px(lit ? 8 : 6), t.accent);
  p.ring(at, t.px(lit ? 8 : 6), t.background, t.px(1.5f));
  const float wide = widgets::text_size(word, Type::small).x, y = at.y - t.type(Type::small) - t.px(9);
  float x = leftward ? at.x - wide - t.px(10) : at.x + t.px(10);
  x = std::clamp(x, room.min.x, std::max(room.min.x, room.max.x - wide));
  p.plate({x, y}, word, t.background, Type::small);
  p.text({x, y}, word, t.accent, Type::small);
}

int first_active(const Picture& picture) {
  for (std::size_t i = 0; i < picture.lanes.size(); ++i)
    if (!picture.lanes[i].off) return static_cast<int>(i);
  return -1;
}
int last_active(const Picture& picture) {
  for (std::size_t i = picture.lanes.size(); i-- > 0;)
    if (!picture.lanes[i].off) return static_cast<int>(i);
  return -1;
}

/// What a drag or the arrow keys make of `value`; `px` is the way of one.
void pull(std::int64_t& value, View& view, float px) {
  const float x = ImGui::GetMousePos().x;
  if (ImGui::IsItemActivated()) {
    view.held_from = static_cast<double>(value);
    view.held_x = x;
  }
  double to = static_cast<double>(value);
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left))
    to = std::round(view.held_from + static_cast<double>((x - view.held_x) / px));
  if (const int steps = widgets::play_keys().steps; steps != 0) to += steps;
  value = static_cast<std::int64_t>(std::clamp(to, 0.0, max_moved));
}

void show_tip(const Picture& picture, const FanLayout& l, int lane) {
  widgets::Line name, value;
  if (lane >= 0) {
    const LaneMark& m = picture.lanes[static_cast<std::size_t>(lane)];
    name.add("lane ").add_integer(lane);
    if (m.off)
      value.add("off");
    else
      value.add("byte ").add_integer(m.address).add(", sector ").add_integer(m.address / models::gpu::sector_bytes);
    return widgets::tip(name.view(), value.view());
  }
  for (std::size_t i = 0; i < l.boxes.size(); ++i) {
    if (!l.boxes[i].contains(ImGui::GetMousePos())) continue;
    const BoxMark& b = picture.boxes[i];
    name.add(picture.box_names[i]);
    value.add_integer(std::popcount(b.cells)).add(" of 32 B wanted");
    return widgets::tip(name.view(), b.fetched ? value.view() : "not touched", "push the fan, or stretch it");
  }
}

void paint_guess(const Painter& p, const FanLayout& l) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "sectors") return;
  const widgets::Line said = widgets::guess_words(widgets::format(guess->value, "").view(), false);
  const auto& t = widgets::theme();
  widgets::paint_guess_words(p, {l.fan.max.x - widgets::text_size(said.view(), Type::small).x - t.px(6), l.fan.min.y},
                             said.view());
}

/// What a question gives: the lanes, the index, and memory in which nothing is marked.
void paint_given(const Painter& p, const Picture& picture, const FanLayout& l) {
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  paint_head(p, picture, l, false);
  for (std::size_t i = 0; i < l.dots.size(); ++i) {
    p.circle(l.dots[i], l.dot, t.card);
    p.ring(l.dots[i], l.dot, t.line);
  }
  p.rect(l.memory.min, l.memory.max, t.card);
  p.frame(l.memory.min, l.memory.max, t.line);
  widgets::fit_text(
      p, {(l.memory.min.x + l.memory.max.x) / 2, (l.memory.min.y + l.memory.max.y - t.type(Type::small)) / 2},
      "memory, in sectors of 32 B and lines of 128 B", l.memory.width(), t.text, Type::small, Font::sans,
      Align::center);
}

void record_fan(const Painter& p, const Picture& picture) {
  if (!p.record()) return;
  widgets::DataTable table{"lanes", {"lane", "byte", "sector"}, {}};
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const LaneMark& m = picture.lanes[i];
    table.rows.push_back({std::to_string(i), m.off ? "off" : std::to_string(m.address),
                          m.off ? "" : std::to_string(m.address / models::gpu::sector_bytes)});
  }
  p.record()->tables.push_back(std::move(table));
}

}  // namespace

void draw_fan(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (picture.boxes.empty() && !out.reason.empty()) return;
  const float bars = size.y > t.px(330) ? std::floor(0.42f * size.y) : 0;
  const Rect area{at, {at.x + size.x, at.y + size.y - bars - (bars > 0 ? t.px(14) : 0)}};
  layout_fan(picture, area, t.scale, view.fan);
  const FanLayout& l = view.fan;
  const Painter p = Painter::window();
  if (widgets::veiled()) {
    paint_given(p, picture, l);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(size);
    return;
  }
  const int first = first_active(picture), last = last_active(picture);
  ImGui::SetCursorScreenPos(l.lanes.min);
  ImGui::SetNextItemAllowOverlap();
  widgets::press_area("push", {l.lanes.width(), l.memory.max.y - l.lanes.min.y});
  const bool pushed = ImGui::IsItemActive() || ImGui::IsItemFocused(), hovered = ImGui::IsItemHovered();
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  const float element = l.px_per_byte * static_cast<float>(picture.element_bytes);
  pull(in.offset, view, std::max(element, t.px(8)));
  bool stretched = false;
  if (picture.stretches && last >= 0) {
    const ImVec2 handle = l.landings[static_cast<std::size_t>(last)];
    const float left = std::clamp(handle.x - t.px(14), area.min.x, std::max(area.min.x, area.max.x - t.px(28)));
    ImGui::SetCursorScreenPos({left, handle.y - t.px(28)});
    widgets::press_area("stretch", {t.px(28), t.px(42)});
    stretched = ImGui::IsItemActive() || ImGui::IsItemFocused() || ImGui::IsItemHovered();
    if (stretched) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    pull(in.stride, view, t.px(36));
  }
  const ImVec2 mouse = ImGui::GetMousePos();
  int lit = -1;
  if (hovered && mouse.y < l.lanes.max.y) lit = static_cast<int>((mouse.x - l.lanes.min.x) / l.lanes.width() * 32);
  lit = std::clamp(lit, -1, 31);
  paint_head(p, picture, l, true);
  for (std::size_t i = 0; i < picture.boxes.size(); ++i) paint_box(p, picture.boxes[i], l.boxes[i], picture);
  if (widgets::output_lit("sectors") || widgets::output_lit("fetched_bytes"))
    widgets::paint_light(p, l.memory.min, l.memory.max);
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) paint_lane(p, picture, l, i, static_cast<int>(i) == lit);
  paint_names(p, picture, l);
  if (first >= 0) paint_handle(p, l.landings[static_cast<std::size_t>(first)], "push", true, l.fan, pushed);
  if (picture.stretches && last > first)
    paint_handle(p, l.landings[static_cast<std::size_t>(last)], "stretch", false, l.fan, stretched);
  paint_guess(p, l);
  widgets::drew("fan");
  record_fan(p, picture);
  if (hovered && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) show_tip(picture, l, lit);
  if (bars > 0) {
    ImGui::SetCursorScreenPos({at.x, at.y + size.y - bars});
    draw_bars(in, picture, {size.x, bars});
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::kernels::coalescing
