#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include "chapters/driving/budget/river.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// The river: widths are bytes per second left of the memory and pixels per second right of it; dashed banks are what
/// flowed as built.
namespace chapters::driving::budget {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

RiverPlace place_river(ImVec2 corner, ImVec2 size, std::size_t streams) {
  const auto& t = widgets::theme();
  RiverPlace r;
  const float line = t.type(Type::small), foot = 2 * (line + t.px(4)) + t.px(4);
  r.hints = size.y > t.px(300);
  const float head = line + t.px(8) + (r.hints ? line + t.px(6) : 0);
  r.all = {{corner.x, corner.y + head},
           {corner.x + size.x, std::max(corner.y + head + t.px(60), corner.y + size.y - foot)}};
  r.streams = streams;
  const bool roomy = size.x > t.px(460);
  r.names = roomy ? widgets::text_size("front right", Type::small).x + t.px(8) : 0;
  r.rates = roomy ? widgets::text_size("7.5", Type::small, Font::mono).x + t.px(6) : 0;
  r.from = corner.x + r.names + r.rates + t.px(16);
  r.sensor = r.from + t.px(roomy ? 34 : 18);
  const float heads = t.px(36);
  r.boxes_to = corner.x + size.x - heads;
  r.boxes = r.boxes_to - std::min(0.2f * size.x, t.px(130));
  const float between = r.boxes - r.sensor;
  r.memory = r.sensor + 0.4f * between;
  r.memory_to = r.memory + std::min(widgets::text_size("from cameras", Type::small).x + t.px(20), 0.36f * between);
  r.gap =
      std::min(t.px(5), 0.25f * (r.all.max.y - r.all.min.y) / static_cast<float>(std::max<std::size_t>(1, streams)));
  r.per_share = r.all.height() - r.gap * static_cast<float>(streams > 0 ? streams - 1 : 0);
  r.slot_gap = t.type(Type::small) + t.px(8);
  r.slot = (r.all.height() - 2 * r.slot_gap) / 3;
  r.per_read = r.slot;
  return r;
}

/// Points of a bank from (x0, y0) to (x1, y1), flat at both ends.
constexpr int bank_points = 24;
using Bank = std::array<ImVec2, bank_points>;
Bank bank(float x0, float y0, float x1, float y1) {
  Bank b;
  for (int i = 0; i < bank_points; ++i) {
    const float s = static_cast<float>(i) / (bank_points - 1), e = s * s * (3 - 2 * s);
    b[static_cast<std::size_t>(i)] = {x0 + (x1 - x0) * s, y0 + (y1 - y0) * e};
  }
  return b;
}

void ghost_bank(const Painter& p, const Bank& b) {
  const auto& t = widgets::theme();
  p.dashed_polyline(b, t.muted, t.px(1), t.px(4));
}

}  // namespace

float RiverPainter::stream_middle(std::size_t i) const {
  float y = r_.all.min.y;
  for (std::size_t k = 0; k <= i; ++k) {
    const Stream& s = picture_.streams[k];
    const float high = static_cast<float>(std::max(s.before, s.now)) * r_.per_share;
    if (k == i) return y + high / 2;
    y += high + r_.gap;
  }
  return y;
}

float RiverPainter::box_middle(const Box& box) const {
  float sum = 0, count = 0;
  for (std::size_t task = 0; task < task_count; ++task)
    if (box.tasks[task]) {
      sum += r_.slot_middle(task);
      count += 1;
    }
  return sum / std::max(1.0f, count);
}

void RiverPainter::handle(ImVec2 at, bool lit) const {
  p_.circle(at, t_.px(lit ? 9.0f : 7.0f), widgets::with_alpha(t_.accent, 0.25f));
  p_.circle(at, t_.px(4.5f), t_.accent);
  p_.ring(at, t_.px(4.5f), t_.text, t_.px(1));
}

/// What a question gives: the cameras by name and the tasks, and nothing that flows.
void RiverPainter::draw_given() const {
  const std::size_t count = static_cast<std::size_t>(in_.front_cameras + in_.side_cameras + in_.rear_cameras);
  for (std::size_t i = 0; i < count; ++i) {
    const float y = r_.all.min.y + r_.all.height() * (static_cast<float>(i) + 0.5f) / static_cast<float>(count);
    p_.ring({r_.from - t_.px(8), y}, t_.px(5), t_.muted, t_.px(1.5f));
    p_.dashed_line({r_.from, y}, {r_.memory, r_.middle()}, t_.line, t_.px(1), t_.px(4));
  }
  p_.frame({r_.memory, r_.all.min.y}, {r_.memory_to, r_.all.max.y}, t_.line, t_.px(1), t_.px(4));
  p_.text({(r_.memory + r_.memory_to) / 2, r_.middle() - small() / 2}, "DRAM", t_.muted, Type::small, Font::bold,
          Align::center);
  for (std::size_t task = 0; task < task_count; ++task) {
    const float y = r_.slot_middle(task);
    p_.frame({r_.boxes, y - r_.slot / 2}, {r_.boxes_to, y + r_.slot / 2}, t_.line, t_.px(1), t_.px(4));
    p_.text({(r_.boxes + r_.boxes_to) / 2, y - small() / 2}, task_names[task], t_.text, Type::small, Font::bold,
            Align::center);
  }
}

void RiverPainter::draw_streams() const {
  const float before = static_cast<float>(picture_.before) * r_.per_share;
  const float now = static_cast<float>(picture_.now) * r_.per_share;
  float entry_before = r_.middle() - before / 2, entry = r_.middle() - now / 2;
  for (std::size_t i = 0; i < picture_.streams.size(); ++i) {
    const Stream& s = picture_.streams[i];
    const float y = stream_middle(i), was = static_cast<float>(s.before) * r_.per_share,
                is = static_cast<float>(s.now) * r_.per_share;
    const bool less = is < was - 0.5f;
    if (less) {
      p_.frame({r_.from, y - was / 2}, {r_.sensor, y + was / 2}, t_.muted, t_.px(0.8f), t_.px(2));
      ghost_bank(p_, bank(r_.sensor, y - was / 2, r_.memory, entry_before));
      ghost_bank(p_, bank(r_.sensor, y + was / 2, r_.memory, entry_before + was));
    }
    const Bank upper = bank(r_.sensor, y - is / 2, r_.memory, entry),
               lower = bank(r_.sensor, y + is / 2, r_.memory, entry + is);
    p_.band(upper, lower, widgets::with_alpha(water(), 0.45f));
    p_.rect({r_.from, y - is / 2}, {r_.sensor, y + is / 2}, water(), t_.px(2));
    p_.line({r_.memory, entry}, {r_.memory, entry + is}, t_.background, t_.px(1));
    const ImVec2 rate = widgets::text_size(s.rate, Type::small, Font::mono);
    if (is >= rate.y && r_.sensor - r_.from > rate.x + t_.px(4))
      p_.text({(r_.from + r_.sensor) / 2, y - rate.y / 2}, s.rate, widgets::text_on(water(), t_), Type::small,
              Font::mono, Align::center);
    else if (r_.rates > 0 && std::max(was, is) + r_.gap >= small() * 0.9f)
      p_.text({r_.from - t_.px(16), y - rate.y / 2}, s.rate, t_.text, Type::small, Font::mono, Align::right);
    p_.ring({r_.from - t_.px(8), y}, t_.px(4.5f), less ? t_.muted : t_.text, t_.px(1.5f));
    p_.circle({r_.from - t_.px(8), y}, t_.px(2), less ? t_.muted : t_.text);
    if (r_.names > 0 && std::max(was, is) + r_.gap >= small() * 0.9f)
      p_.text_fit({r_.from - r_.rates - t_.px(18), y - small() / 2}, s.name, r_.names, less ? t_.muted : t_.text,
                  Type::small, Font::sans, Align::right);
    entry += is;
    entry_before += was;
  }
  widgets::drew("river");
}

void RiverPainter::draw_memory() const {
  const float before = static_cast<float>(picture_.before) * r_.per_share;
  const float now = static_cast<float>(picture_.now) * r_.per_share, x = (r_.memory + r_.memory_to) / 2;
  if (before > now + 1)
    p_.dashed_polyline(
        std::array{ImVec2{r_.memory, r_.middle() - before / 2}, ImVec2{r_.memory_to, r_.middle() - before / 2},
                   ImVec2{r_.memory_to, r_.middle() + before / 2}, ImVec2{r_.memory, r_.middle() + before / 2},
                   ImVec2{r_.memory, r_.middle() - before / 2}},
        t_.muted, t_.px(1), t_.px(4));
  const ImVec2 top{r_.memory, r_.middle() - now / 2}, low{r_.memory_to, r_.middle() + now / 2};
  p_.rect(top, low, water(), t_.px(3));
  if (widgets::output_lit("camera_bytes_per_s")) widgets::paint_light(p_, top, low);
  p_.text({x, r_.all.min.y - small() - t_.px(6)}, "DRAM", t_.text, Type::small, Font::bold, Align::center);
  constexpr std::string_view from = "from cameras";
  const ImVec2 words = widgets::text_size(picture_.memory, Type::small, Font::mono);
  const float wide = std::max(words.x, widgets::text_size(from, Type::small).x), line = small() + t_.px(2);
  const ImVec2 at{x - wide / 2, r_.middle() - line};
  p_.rect({at.x - t_.px(4), at.y - t_.px(2)}, {at.x + wide + t_.px(4), at.y + 2 * line + t_.px(2)}, t_.background,
          t_.px(3));
  p_.text({x, at.y}, picture_.memory, t_.text, Type::small, Font::mono, Align::center);
  p_.text({x, at.y + line}, from, t_.text, Type::small, Font::sans, Align::center);
}

void RiverPainter::draw_box(const Box& box, ImVec2 moved) const {
  const float is = read_px(), y = box_middle(box) + moved.y;
  std::size_t first = 0;
  while (first + 1 < task_count && !box.tasks[first]) ++first;
  // Words need room even where the flow is thin.
  const float high = std::max(is, std::min(r_.slot, 2 * small() + t_.px(8)));
  const ImVec2 from{r_.boxes + moved.x, y - high / 2}, to{r_.boxes_to + moved.x, y + high / 2};
  p_.rect(from, to, t_.card, t_.px(4));
  p_.rect({from.x, y - is / 2}, {to.x, y + is / 2}, widgets::with_alpha(hue(first), 0.25f), t_.px(4));
  p_.frame(from, to, hue(first), t_.px(1.5f), t_.px(4));
  const float x = (from.x + to.x) / 2;
  const bool two = high >= 2 * small() + t_.px(6);
  const float line = small() + t_.px(2), top = y - (two ? line : line / 2);
  p_.text_fit({x, top}, box.flops, to.x - from.x - t_.px(6), t_.text, Type::small, Font::mono, Align::center);
  if (two)
    p_.text_fit({x, top + line}, box.more, to.x - from.x - t_.px(6), t_.text, Type::small, Font::sans, Align::center);
}

void RiverPainter::draw_boxes() const {
  const float was = static_cast<float>(picture_.read_before) * r_.per_read, is = read_px();
  const float before = static_cast<float>(picture_.before) * r_.per_share;
  const float now = static_cast<float>(picture_.now) * r_.per_share;
  for (std::size_t task = 0; task < task_count; ++task) {
    const float y = r_.slot_middle(task), share = static_cast<float>(task) / task_count;
    p_.text_fit({(r_.boxes + r_.boxes_to) / 2, y - r_.slot / 2 - small() - t_.px(3)}, task_names[task],
                r_.boxes_to - r_.boxes, t_.text, Type::small, Font::bold, Align::center);
    const float leaves = r_.middle() - before / 2 + before * share;
    ghost_bank(p_, bank(r_.memory_to, leaves, r_.boxes, y - was / 2));
    ghost_bank(p_, bank(r_.memory_to, leaves + before / task_count, r_.boxes, y + was / 2));
    p_.dashed_polyline(
        std::array{ImVec2{r_.boxes, y - was / 2}, ImVec2{r_.boxes_to, y - was / 2}, ImVec2{r_.boxes_to, y + was / 2},
                   ImVec2{r_.boxes, y + was / 2}, ImVec2{r_.boxes, y - was / 2}},
        t_.muted, t_.px(1), t_.px(4));
  }
  const float each = now / static_cast<float>(std::max<std::size_t>(1, picture_.boxes.size()));
  float leaves = r_.middle() - now / 2;
  for (const Box& box : picture_.boxes) {
    std::size_t first = 0;
    while (first + 1 < task_count && !box.tasks[first]) ++first;
    const float y = box_middle(box);
    p_.band(bank(r_.memory_to, leaves, r_.boxes, y - is / 2), bank(r_.memory_to, leaves + each, r_.boxes, y + is / 2),
            widgets::with_alpha(hue(first), 0.45f));
    leaves += each;
    const float end = r_.boxes_to + t_.px(26);
    for (std::size_t task = 0; task < task_count; ++task) {
      if (!box.tasks[task]) continue;
      p_.polyline(bank(r_.boxes_to, y, end, r_.slot_middle(task)), hue(task), t_.px(2));
      p_.circle({end, r_.slot_middle(task)}, t_.px(4), hue(task));
    }
  }
}

void RiverPainter::draw_words(ImVec2 corner, ImVec2 size) const {
  const float line = small() + t_.px(4), y = corner.y + size.y - 2 * line;
  p_.text_fit({corner.x, y}, picture_.scale_note, size.x, t_.muted, Type::small);
  p_.dashed_line({corner.x, y + line + small() / 2}, {corner.x + t_.px(24), y + line + small() / 2}, t_.muted, t_.px(1),
                 t_.px(4));
  float x = corner.x + t_.px(30);
  x += p_.text_fit({x, y + line}, "as built", size.x, t_.muted, Type::small) + t_.px(16);
  p_.text_fit({x, y + line}, picture_.others, std::max(t_.px(1), corner.x + size.x - x), t_.muted, Type::small);
  if (!r_.hints) return;
  p_.text_fit({corner.x, corner.y}, "pinch a stream", 0.45f * size.x, t_.accent, Type::small);
  p_.text_fit({corner.x + size.x, corner.y}, "drag one encoder onto another", 0.5f * size.x, t_.accent, Type::small,
              Font::sans, Align::right);
}

namespace {

void draw_flow(Inputs& in, const Picture& picture, ImVec2 size) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool made = picture.version != 0;
  const RiverPlace place = place_river(corner, size, made ? picture.streams.size() : 0);
  RiverPainter painter(in, picture, place);
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    painter.draw_given();
  } else if (made) {
    painter.draw_streams();
    painter.draw_memory();
    painter.draw_boxes();
    painter.draw_words(corner, size);
    painter.drag_boxes();
    painter.pinch_streams();
    painter.drag_kept();
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace

void draw_river(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  draw_over_doors(picture.doors, size, view.requests, [&](ImVec2 room) { draw_flow(in, picture, room); });
}

}  // namespace chapters::driving::budget
