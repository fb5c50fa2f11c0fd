#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/capstone/perception/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"

namespace chapters::capstone::perception {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// Lanes, frames and road below each other, on the axis of the board above; pixels.
struct RoundPlan {
  float left = 0, right = 0, names = 0;
  float lanes = 0, lane = 0, tail = 0, tail_high = 0, road = 0, road_high = 0, bottom = 0;
  double axis_s = 1;
  float x(double s) const { return left + static_cast<float>(std::clamp(s / axis_s, 0.0, 1.0)) * (right - left); }
};

RoundPlan plan_round(const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  const BoardAxis axis = rows_axis(picture.board, size.x);
  RoundPlan plan{.left = at.x + axis.left, .right = at.x + axis.right, .names = at.x, .axis_s = picture.axis_s};
  plan.lanes = at.y + small + t.px(12);
  plan.bottom = at.y + size.y;
  const float room = plan.bottom - plan.lanes,
              lanes = static_cast<float>(std::max<std::size_t>(1, picture.lanes.names.size()));
  plan.road_high = room > t.px(165) ? t.px(30) + small : 0;
  plan.tail_high = std::clamp(0.3f * room, t.px(36), t.px(90));
  plan.lane = std::clamp((room - plan.road_high - plan.tail_high - small - t.px(30)) / lanes, t.px(12), t.px(44));
  plan.tail = plan.lanes + lanes * plan.lane + t.px(6) + plan.tail_high;
  plan.road = plan.tail + small + t.px(14);
  return plan;
}

ImU32 stage_colour(Stage stage) { return widgets::theme().series_at(static_cast<std::size_t>(stage)); }

void paint_axis(const Painter& p, const Picture& picture, const RoundPlan& plan, float top) {
  const auto& t = widgets::theme();
  for (std::size_t i = 0; i < picture.ticks_s.size(); ++i) {
    const float x = plan.x(picture.ticks_s[i]);
    p.line({x, plan.lanes - t.px(4)}, {x, plan.tail}, t.grid, t.px(1));
    const float half = widgets::text_size(picture.deadline_words, Type::small, Font::mono).x;
    if (std::abs(x - plan.x(picture.deadline_s)) < half) continue;  // the tag of the deadline stands there
    p.text({x, top}, picture.tick_words[i], t.muted, Type::small, Font::mono, Align::center);
  }
}

void paint_due(const Painter& p, const Picture& picture, const RoundPlan& plan, float top) {
  const auto& t = widgets::theme();
  const float x = plan.x(picture.deadline_s), small = t.type(Type::small),
              half = widgets::text_size(picture.deadline_words, Type::small, Font::mono).x / 2;
  p.line({x, plan.lanes - t.px(4)}, {x, plan.tail}, t.warning, t.px(1.5f));
  p.rect({x - half - t.px(5), top - t.px(2)}, {x + half + t.px(5), top + small + t.px(3)}, t.warning, t.px(3));
  p.text({x, top}, picture.deadline_words, widgets::text_on(t.warning, t), Type::small, Font::mono, Align::center);
}

void paint_span(const Painter& p, const RoundPlan& plan, const LaneSpan& s) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), y0 = plan.lanes + static_cast<float>(s.lane) * plan.lane + t.px(2),
              y1 = y0 + plan.lane - t.px(4), x0 = plan.x(s.from_s), x1 = plan.x(s.to_s);
  const ImU32 fill = stage_colour(s.stage);
  p.rect({x0, y0}, {std::max(x0 + 1, x1 - 1), y1}, fill, t.px(2));
  if (y1 - y0 >= small + t.px(2)) {
    const float room = x1 - x0 - t.px(6);
    const bool whole = widgets::text_size(s.name, Type::small).x <= room;
    widgets::fit_text(p, {(x0 + x1) / 2, (y0 + y1 - small) / 2 - t.px(1)}, whole ? s.name : s.short_name, room,
                      widgets::text_on(fill, t), Type::small, Font::sans, Align::center);
  }
  if (!(s.slack_s > 1e-4)) return;
  const float x2 = plan.x(s.to_s + s.slack_s);
  widgets::hatch(p, {{x1, y0}, {x2, y1}}, widgets::with_alpha(t.muted, 0.5f), t.px(6));
  const std::array<ImVec2, 5> frame{{{x1, y0}, {x2, y0}, {x2, y1}, {x1, y1}, {x1, y0}}};
  p.dashed_polyline(frame, t.muted, t.px(1));
  const std::string_view words = "slack";
  if (x2 - x1 < widgets::text_size(words, Type::small).x + t.px(10) || y1 - y0 < small + t.px(2)) return;
  const ImVec2 place{(x1 + x2) / 2 - widgets::text_size(words, Type::small).x / 2, (y0 + y1 - small) / 2 - t.px(1)};
  p.plate(place, words, t.panel, Type::small);
  p.text(place, words, t.text, Type::small);
}

/// The critical path: one bold line under its spans, from lane to lane.
void paint_thread(const Painter& p, const Picture& picture, const RoundPlan& plan) {
  const auto& t = widgets::theme();
  ImVec2 last{};
  bool first = true;
  for (const std::size_t i : picture.lanes.thread) {
    const LaneSpan& s = picture.lanes.spans[i];
    const float y = plan.lanes + static_cast<float>(s.lane + 1) * plan.lane - t.px(2);
    const ImVec2 from{plan.x(s.from_s), y}, to{plan.x(s.to_s), y};
    if (!first) p.line(last, from, t.text, t.px(2));
    p.line(from, to, t.text, t.px(2.5f));
    last = to;
    first = false;
  }
}

void paint_lanes(const Painter& p, const Picture& picture, const RoundPlan& plan) {
  const auto& t = widgets::theme();
  const float body = t.type(Type::body);
  for (std::size_t i = 0; i < picture.lanes.names.size(); ++i) {
    const float y = plan.lanes + static_cast<float>(i) * plan.lane;
    p.rect({plan.left, y + t.px(2)}, {plan.right, y + plan.lane - t.px(2)}, widgets::with_alpha(t.muted, 0.08f),
           t.px(2));
    p.text({plan.left - t.px(10), y + (plan.lane - body) / 2 - t.px(1)}, picture.lanes.names[i], t.text, Type::body,
           Font::bold, Align::right);
  }
  for (const LaneSpan& s : picture.lanes.spans) paint_span(p, plan, s);
  paint_thread(p, picture, plan);
}

/// Frames by the time of their plan: those in time, those late, and the round before as a line.
void paint_tail(const Painter& p, const Picture& picture, const RoundPlan& plan) {
  const auto& t = widgets::theme();
  for (std::size_t i = 0; i < picture.bins.size(); ++i) {
    const double from = static_cast<double>(i) * picture.bin_s;
    if (picture.bins[i] <= 0 || from >= plan.axis_s) continue;
    const float high = std::max(t.px(1.5f), picture.bins[i] * plan.tail_high);
    const bool late = from + 0.5 * picture.bin_s > picture.deadline_s;
    p.rect({plan.x(from), plan.tail - high}, {plan.x(from + picture.bin_s), plan.tail}, late ? t.bad : t.good);
  }
  ImVec2 last{plan.left, plan.tail};
  for (std::size_t i = 0; i < picture.bins_before.size(); ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * picture.bin_s;
    if (middle > plan.axis_s) break;
    const ImVec2 next{plan.x(middle), plan.tail - picture.bins_before[i] * plan.tail_high};
    if (next.y < plan.tail - 0.5f || last.y < plan.tail - 0.5f) p.line(last, next, t.muted, t.px(1));
    last = next;
  }
  p.line({plan.left, plan.tail}, {plan.right, plan.tail}, t.line, t.px(1));
  const float x = plan.x(picture.p99_s), wide = widgets::text_size(picture.p99_words, Type::small).x;
  p.line({x, plan.tail - plan.tail_high}, {x, plan.tail + t.px(3)}, t.text, t.px(2));
  const float place = std::min(x + t.px(6), plan.right - wide);
  const ImVec2 at{place < x + t.px(6) ? x - t.px(6) - wide : place, plan.tail - plan.tail_high - t.px(2)};
  p.plate(at, picture.p99_words, t.panel, Type::small);
  p.text(at, picture.p99_words, t.text, Type::small);
  widgets::fit_text(p, {plan.left, plan.tail + t.px(3)}, picture.tail_words, plan.right - plan.left, t.muted,
                    Type::small);
}

void paint_car(const Painter& p, float x, float y, float high, ImU32 colour) {
  const auto& t = widgets::theme();
  const float wide = 2 * high;
  p.rect({x - wide, y}, {x, y + high}, colour, t.px(3));
  p.rect({x - 0.62f * wide, y + t.px(2)}, {x - 0.3f * wide, y + high - t.px(2)}, t.background, t.px(2));
}

void paint_road(const Painter& p, const Picture& picture, const RoundPlan& plan) {
  if (plan.road_high <= 0 || plan.road + plan.road_high > plan.bottom + 1) return;
  const auto& t = widgets::theme();
  const float y0 = plan.road, y1 = y0 + t.px(22), middle = (y0 + y1) / 2;
  p.rect({plan.left, y0}, {plan.right, y1}, widgets::with_alpha(t.muted, 0.12f), t.px(3));
  for (float x = plan.left + t.px(8); x < plan.right - t.px(20); x += t.px(44))
    p.line({x, middle}, {x + t.px(14), middle}, widgets::with_alpha(t.muted, 0.6f), t.px(2));
  p.text({plan.left - t.px(10), middle - t.type(Type::body) / 2 - t.px(1)}, "the road", t.text, Type::body, Font::bold,
         Align::right);
  const auto metres = [&](double m) { return plan.x(m / picture.axis_m * plan.axis_s); };
  const float now = metres(picture.now_m), start = metres(picture.start_m), due = metres(picture.due_m);
  paint_car(p, start, y0 + t.px(5), t.px(12), t.muted);
  paint_car(p, now, y0 + t.px(5), t.px(12), picture.p99_s > picture.deadline_s ? t.bad : t.good);
  p.line({due, y0}, {due, y1}, t.warning, t.px(1.5f));
  const float wide = widgets::text_size(picture.road_now, Type::small).x;
  const float at = std::clamp(now - wide, plan.left, plan.right - wide);
  p.text({at, y1 + t.px(3)}, picture.road_now, t.text, Type::small);
  const float other = widgets::text_size(picture.road_start, Type::small).x,
              from = std::min(start - t.px(24), plan.right - other);
  if (from > at + wide + t.px(12)) p.text({from, y1 + t.px(3)}, picture.road_start, t.muted, Type::small);
}

}  // namespace

void draw_round(const Picture& picture, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const RoundPlan plan = plan_round(picture, at, size);
  paint_axis(p, picture, plan, at.y);
  paint_lanes(p, picture, plan);
  paint_tail(p, picture, plan);
  paint_due(p, picture, plan, at.y);
  paint_road(p, picture, plan);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::capstone::perception
