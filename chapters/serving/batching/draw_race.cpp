#include "chapters/serving/batching/draw_race.h"

#include <imgui.h>

#include <algorithm>

#include "chapters/serving/batching/draw_strips.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/tint.h"
#include "widgets/number/number.h"
#include "widgets/plot/axis.h"
#include "widgets/plot/plot_paint.h"

namespace chapters::serving::batching {
namespace {

using models::SlotUse, widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

constexpr float arrivals_px = 20, ruler_px = 24;

void row_label(const Painter& p, float right, float centre, std::string_view label) {
  const auto& t = widgets::theme();
  p.text({right, centre - t.type(Type::small) / 2}, label, t.muted, Type::small, Font::sans, Align::right);
}

void paint_span(const Painter& p, const models::SlotSpan& s, ImU32 colour, ImVec2 low, ImVec2 high, float alpha) {
  const auto& t = widgets::theme();
  if (s.use == SlotUse::held) {
    p.rect(low, high, widgets::with_alpha(colour, 0.22f * alpha));
    if (high.x - low.x > t.px(4)) widgets::hatch(p, {low, high}, widgets::with_alpha(colour, 0.55f * alpha), t.px(5));
    return;
  }
  p.rect(low, high, widgets::with_alpha(colour, alpha),
         high.x - low.x > t.px(6) && high.y - low.y > t.px(6) ? t.px(2) : 0);
  if (s.preempted) p.rect({std::max(low.x, high.x - t.px(3)), low.y}, high, widgets::with_alpha(t.text, alpha));
}

/// The request's number at the head of its span, where it fits.
void paint_number(const Painter& p, const models::SlotSpan& s, std::int64_t first, bool missed, ImVec2 low,
                  ImVec2 high) {
  const auto& t = widgets::theme();
  if (s.use != SlotUse::decode || high.y - low.y < 0.85f * t.type(Type::small)) return;
  widgets::Line number;
  number.add_integer(first + s.request + 1);
  const ImVec2 size = widgets::text_size(number.view(), Type::small, Font::mono);
  if (high.x - low.x < size.x + t.px(6)) return;
  p.text({low.x + t.px(3), (low.y + high.y - size.y) / 2}, number.view(),
         widgets::text_on(use_colour(s.use, missed), t), Type::small, Font::mono);
}

/// What is under the pointer, in words.
void span_tip(const models::SlotSpan& s, std::int64_t first, bool missed) {
  widgets::Line name;
  name.add("request ").add_integer(first + s.request + 1);
  if (missed) name.add(", SLO missed");
  static constexpr std::array<std::string_view, 3> uses{"its prompt is put through", "it is served, token by token",
                                                        "done; its slot waits for the batch"};
  widgets::tip(name.view(), widgets::format(s.end_s - s.start_s, "s"),
               s.preempted ? std::string_view("sent back: the blocks ran out") : uses[static_cast<std::size_t>(s.use)]);
}

void paint_lanes(const Painter& p, const PolicyPicture& r, const RaceScale& scale, float top, float lane,
                 std::int64_t& hot) {
  const auto& t = widgets::theme();
  const float gap = lane > t.px(5) ? t.px(2) : 0, now = scale.x(scale.now_s);
  for (std::int32_t i = 0; i < r.lanes; ++i) {
    const float y = top + lane * static_cast<float>(i);
    p.rect({scale.left, y}, {scale.right(), y + lane - gap}, t.card);
  }
  for (const models::SlotSpan& s : r.spans) {
    const float y = top + lane * static_cast<float>(s.lane), x0 = scale.x(s.start_s),
                x1 = std::max(scale.x(s.end_s), x0 + 1), split = std::clamp(now, x0, x1);
    const bool missed = r.missed_by(s.request), later = r.later(s.request);
    const float alpha = scale.alpha_of(s.request) * (later ? later_alpha : 1);
    const ImU32 colour = later ? t.muted : use_colour(s.use, missed);
    if (x0 < now) paint_span(p, s, colour, {x0, y}, {std::max(split, std::min(x1, x0 + 1)), y + lane - gap}, alpha);
    if (x1 > now) paint_span(p, s, colour, {split, y}, {x1, y + lane - gap}, alpha * future_alpha);
    if (later) continue;
    if (x0 < now && alpha >= 1) paint_number(p, s, scale.first, missed, {x0, y}, {split, y + lane - gap});
    if (scale.mouse.x >= x0 && scale.mouse.x < x1 && scale.mouse.y >= y && scale.mouse.y < y + lane) {
      hot = s.request;
      span_tip(s, scale.first, missed);
    }
  }
}

/// Frames around one request's spans: the same one in every policy.
void paint_followed(const Painter& p, const PolicyPicture& r, const RaceScale& scale, float top, float lane,
                    std::int64_t request) {
  const auto& t = widgets::theme();
  const float gap = lane > t.px(5) ? t.px(2) : 0;
  for (const models::SlotSpan& s : r.spans) {
    if (s.request != request) continue;
    const float y = top + lane * static_cast<float>(s.lane);
    p.frame({scale.x(s.start_s) - 1, y - 1},
            {std::max(scale.x(s.end_s), scale.x(s.start_s) + 1) + 1, y + lane - gap + 1}, t.text, t.px(1.5f), t.px(2));
  }
}

/// A figure at the right end of a strip, on a ground of its own.
void strip_figure(const Painter& p, float right, float top, float height, std::string_view s) {
  const auto& t = widgets::theme();
  const ImVec2 size = widgets::text_size(s, Type::small, Font::mono);
  const float y = top + std::max(0.0f, (height - size.y) / 2);
  p.rect({right - size.x - t.px(10), y}, {right - t.px(2), y + size.y}, widgets::with_alpha(t.background, 0.85f),
         t.px(3));
  p.text({right - t.px(6), y}, s, t.text, Type::small, Font::mono, Align::right);
}

double value_at(std::span<const models::ServingPoint> points, double now_s) {
  const auto after = std::upper_bound(points.begin(), points.end(), now_s,
                                      [](double t, const models::ServingPoint& p) { return t < p.time_s; });
  return after == points.begin() ? 0 : std::prev(after)->value;
}

/// Labels muted, values bright, from the right; the least important go first when there is no room.
void paint_headlines(const Painter& p, const PolicyPicture& r, float left, float right, float y) {
  const auto& t = widgets::theme();
  const auto width_of = [&](const Headline& h) {
    return widgets::text_size(h.label, Type::small).x + t.px(5) +
           widgets::text_size(h.value, Type::small, Font::mono).x;
  };
  const float between = t.px(16);
  std::size_t shown = 0;
  float room = right - left + between;
  while (shown < r.headlines.size() && width_of(r.headlines[shown]) + between <= room)
    room -= width_of(r.headlines[shown++]) + between;
  float x = left + room;
  for (std::size_t i = 0; i < shown; ++i) {
    x += p.text({x, y}, r.headlines[i].label, t.muted, Type::small) + t.px(5);
    x += p.text({x, y}, r.headlines[i].value, t.text, Type::small, Font::mono) + between;
  }
}

void paint_arrivals(const Painter& p, const Picture& picture, const RaceScale& scale, float centre, std::int64_t& hot) {
  const auto& t = widgets::theme();
  row_label(p, scale.left - t.px(8), centre, "arrivals");
  for (const double arrival_s : picture.later)
    p.circle({scale.x(arrival_s), centre}, t.px(2), widgets::with_alpha(t.muted, later_alpha));
  for (std::size_t i = 0; i < picture.dots.size(); ++i) {
    const Dot& d = picture.dots[i];
    const ImVec2 at{scale.x(d.arrival_s), centre};
    const float radius = t.px(2.5f) + t.px(4) * d.size,
                alpha = scale.alpha_of(static_cast<std::int64_t>(i)) * (d.arrival_s <= scale.now_s ? 1 : future_alpha);
    p.circle(at, radius, widgets::with_alpha(t.muted, alpha));
    const float dx = scale.mouse.x - at.x, dy = scale.mouse.y - at.y;
    if (dx * dx + dy * dy <= radius * radius) hot = static_cast<std::int64_t>(i);
  }
}

/// What a question gives of a policy: how many slots there are, and that there is a queue.
void paint_given(const PolicyPicture& r, const RaceScale& scale, float y, const RaceRows& rows) {
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  const auto& t = widgets::theme();
  const float slots = rows.lanes_of(r);
  row_label(p, scale.left - t.px(8), y + slots / 2, "slots");
  const std::int32_t lanes = rows.occupied > 0 ? 1 : r.lanes;
  const float lane = slots / static_cast<float>(std::max(1, lanes)), gap = lane > t.px(5) ? t.px(2) : 0;
  for (std::int32_t i = 0; i < lanes; ++i)
    p.frame({scale.left, y + lane * static_cast<float>(i)}, {scale.right(), y + lane * static_cast<float>(i + 1) - gap},
            t.muted, 1);
  if (rows.queue <= 0) return;
  row_label(p, scale.left - t.px(8), y + slots + rows.queue / 2, "queue");
  const float ground = y + slots + rows.queue - t.px(2);
  p.line({scale.left, ground}, {scale.right(), ground}, t.muted);
}

/// How long the learner said that a request waits, as a length in the queue.
void mark_guess(const Painter& p, const RaceScale& scale, float top, float height) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "mean_wait_s") return;
  const auto& t = widgets::theme();
  const float y = top + t.px(6), wanted = scale.x(guess->value), to = std::min(wanted, scale.right());
  for (const float x : {scale.left, to}) p.line({x, y - t.px(4)}, {x, y + t.px(4)}, t.accent, t.px(2));
  p.line({scale.left, y}, {to, y}, t.accent, t.px(2));
  if (height < t.type(Type::small) + t.px(16)) return;
  widgets::paint_guess_words(p, {scale.left + t.px(4), y + t.px(7)},
                             widgets::guess_words(widgets::format(guess->value, guess->unit), to < wanted).view());
}

/// The policy's mark and name, which a question gives. Returns the width of the name.
float paint_name(const PolicyPicture& r, std::size_t place, ImVec2 at, float mark) {
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  widgets::paint_marker(p, {at.x + t.px(5), at.y + t.type(Type::body) / 2},
                        policy_markers[place % policy_markers.size()], t.px(4.5f),
                        widgets::colour(policy_tint(place), t));
  return p.text({at.x + mark, at.y}, r.name, t.text, Type::body, Font::bold);
}

void paint_policy(const Painter& p, const Picture& picture, const PolicyPicture& r, const RaceScale& scale,
                  ImVec2 corner, const RaceRows& rows, std::int64_t& hot) {
  const auto& t = widgets::theme();
  float y = corner.y + t.px(3);
  const auto place = static_cast<std::size_t>(&r - picture.policies.data());
  const float mark = t.px(14);
  const float name = mark + paint_name(r, place, {corner.x, y}, mark);
  paint_headlines(p, r, corner.x + name + t.px(16), scale.right() - t.px(6),
                  y + (t.type(Type::body) - t.type(Type::small)) / 2);
  y = corner.y + rows.heading;
  if (widgets::veiled()) return paint_given(r, scale, y, rows);
  row_label(p, scale.left - t.px(8), y + rows.lanes_of(r) / 2, "slots");
  if (rows.occupied > 0)
    paint_occupation(p, r, scale, y, rows.occupied);
  else
    paint_lanes(p, r, scale, y, rows.lane, hot);
  widgets::drew("slots");
  y += rows.lanes_of(r);
  const float top = t.px(2);
  if (rows.queue > 0) {
    const float height = rows.queue - t.px(4);
    row_label(p, scale.left - t.px(8), y + top + height / 2, "queue");
    paint_queue(p, r, queue_top(picture, r), scale, y + top, height, hot);
    if (r.name == picture.policies.front().name) mark_guess(p, scale, y + top, height);
    widgets::Line waits;
    const auto now = static_cast<std::int64_t>(value_at(r.waiting, scale.now_s)),
               most = static_cast<std::int64_t>(r.peak_waiting);
    if (scale.now_s < scale.end_s) waits.add_integer(now).add(" wait, ");
    strip_figure(p, scale.right(), y + top, height,
                 (most > 0 ? waits.add("at most ").add_integer(most) : waits.add("nobody waits")).view());
    y += rows.queue;
  }
  if (rows.blocks <= 0) return;
  const float height = rows.blocks - t.px(4);
  row_label(p, scale.left - t.px(8), y + top + height / 2, "KV blocks");
  // Against the whole pool: what is nearly empty looks nearly empty.
  paint_steps(p, r.blocks, static_cast<double>(picture.kv_blocks), scale, y + top, height,
              t.of(widgets::Meaning::kv_cache));
  p.dashed_line({scale.left, y + top}, {scale.right(), y + top}, t.of(widgets::Meaning::kv_cache), t.px(1), t.px(4));
  widgets::Line taken;
  if (scale.now_s < scale.end_s) taken.add(widgets::format(value_at(r.blocks, scale.now_s), "", 6)).add(" taken, ");
  taken.add("at most ")
      .add(widgets::format(100 * r.peak_blocks / static_cast<double>(picture.kv_blocks), "%"))
      .add(" of ")
      .add(widgets::format(static_cast<double>(picture.kv_blocks), "", 9));
  strip_figure(p, scale.right(), y + top, height, taken.view());
}

void paint_ruler(const Painter& p, const RaceScale& scale, float top, float bottom) {
  const auto& t = widgets::theme();
  const widgets::AxisSpec spec{.kind = widgets::AxisKind::linear, .label = "time", .unit = "s"};
  const widgets::AxisMap map(spec.kind, {0, scale.end_s}, static_cast<double>(scale.left),
                             static_cast<double>(scale.right()));
  widgets::AxisTicks ticks;
  widgets::layout_ticks(spec, {0, scale.end_s}, map, {[](std::string_view s) {
                          return widgets::text_size(s, Type::small, Font::mono).x +
                                 widgets::text_size(" ms", Type::small, Font::mono).x;
                        }},
                        ticks);
  for (const widgets::Tick& tick : ticks.major()) {
    const float x = static_cast<float>(tick.pixel);
    p.line({x, top}, {x, bottom}, t.grid);
    widgets::Line label;
    label.add(tick.label.view()).add(" ").add(ticks.unit.view());
    const float half = widgets::text_size(label.view(), Type::small, Font::mono).x / 2;
    p.text({std::min(x, scale.right() - half), bottom + t.px(3)}, label.view(), t.muted, Type::small, Font::mono,
           Align::center);
  }
}

/// A drag scrubs; a click on nobody does, too; a click on a request follows it, and on the same again lets it go. With
/// the keyboard on it, arrows step by a hundredth and Space plays.
void take_pointer(const Picture& picture, View& view, const RaceScale& scale, std::int64_t hot) {
  const ImGuiIO& io = ImGui::GetIO();
  const widgets::PlayKeys keys = widgets::play_keys();
  if (keys.play) widgets::start_or_stop(view.playback, picture.shown_s);
  if (keys.steps != 0) {
    view.playback.time_s = std::clamp(scale.now_s + keys.steps * picture.shown_s / 100, 0.0, picture.shown_s);
    view.playback.playing = false;
  }
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseReleased(ImGuiMouseButton_Left)) return;
  const bool dragged = io.MouseDragMaxDistanceSqr[0] >= io.MouseDragThreshold * io.MouseDragThreshold;
  if (ImGui::IsItemDeactivated() && hot >= 0 && !dragged) view.request = view.request == hot + 1 ? 0 : hot + 1;
  if (!ImGui::IsItemActive() || (hot >= 0 && !dragged)) return;
  view.playback.time_s =
      std::clamp(static_cast<double>((ImGui::GetMousePos().x - scale.left) / std::max(1.0f, scale.width)), 0.0, 1.0) *
      picture.shown_s;
  view.playback.playing = false;
}

}  // namespace

RaceRows fit_race(const Picture& picture, float room) {
  const auto& t = widgets::theme();
  RaceRows rows{.heading = t.type(Type::body) + t.px(10)};
  std::int32_t lanes = 0, most_lanes = 0;
  for (const PolicyPicture& r : picture.policies) {
    lanes += r.lanes;
    most_lanes = std::max(most_lanes, r.lanes);
  }
  const auto n = static_cast<float>(picture.policies.size());
  const float each = (room - t.px(arrivals_px + ruler_px)) / n - rows.heading,
              least_strip = t.type(Type::small) + t.px(5), least_slots = t.px(22);
  // In little room the cache goes first, then the queue.
  const bool queue = each >= least_slots + least_strip,
             blocks = picture.kv_blocks > 0 && each >= least_slots + 2 * least_strip;
  rows.gap = std::clamp(each * 0.05f, t.px(1), t.px(10));
  rows.blocks = blocks ? std::clamp(each * 0.13f, least_strip, t.px(34)) : 0;
  rows.queue = queue ? std::clamp(each * 0.34f, least_strip, t.px(120)) : 0;
  const float slots = each - rows.blocks - rows.queue - rows.gap;
  rows.lane = std::min(t.px(most_lanes <= 2 ? 96 : 30), slots * n / static_cast<float>(std::max(1, lanes)));
  if (most_lanes > max_lanes || rows.lane < t.px(5)) rows.occupied = std::max(t.px(10), std::min(t.px(280), slots));
  // What few lanes leave goes to those that wait.
  const float left = slots - (rows.occupied > 0 ? rows.occupied : rows.lane * static_cast<float>(most_lanes));
  // How many wait at once is part of the answer.
  const auto waiting = static_cast<float>(widgets::veiled() ? 8 : picture.peak_waiting);
  if (queue && left > 0)
    rows.queue = std::min(rows.queue + left, std::max(rows.queue, t.px(max_queue_row_px) * waiting + t.px(8)));
  return rows;
}

float least_race_height(const Picture& picture) {
  const auto& t = widgets::theme();
  return t.px(arrivals_px + ruler_px) +
         static_cast<float>(picture.policies.size()) * (t.type(Type::body) + t.px(10 + 14));
}

float race_height(const Picture& picture, const RaceRows& rows) {
  float height = widgets::theme().px(arrivals_px + ruler_px);
  for (const PolicyPicture& r : picture.policies) height += rows.total(r);
  return height;
}

std::int64_t draw_race(const Picture& picture, View& view, float width, const RaceRows& rows) {
  const auto& t = widgets::theme();
  const widgets::Rect area = widgets::canvas("cursor", {width, race_height(picture, rows)}, {t.px(200), t.px(60)});
  const Painter p = Painter::window();
  RaceScale scale{
      .left = area.min.x + t.px(72),
      .end_s = picture.shown_s,
      .now_s = std::min(view.playback.time_s, picture.shown_s),
      .followed = view.request - 1,
      .first = picture.first,
  };
  scale.width = area.max.x - scale.left - t.px(14);
  if (scale.followed >= static_cast<std::int64_t>(picture.dots.size())) scale.followed = -1;
  if (ImGui::IsItemHovered()) scale.mouse = ImGui::GetMousePos();
  const float arrivals = t.px(arrivals_px), bottom = area.max.y - t.px(ruler_px), top = area.min.y + arrivals;
  std::int64_t hot = -1;
  paint_ruler(p, scale, top, bottom);
  float y = top;
  for (const PolicyPicture& r : picture.policies) {
    paint_policy(p, picture, r, scale, {area.min.x, y}, rows, hot);
    y += rows.total(r);
  }
  paint_arrivals(p, picture, scale, area.min.y + arrivals / 2, hot);
  take_pointer(picture, view, scale, hot);
  const std::int64_t shown = hot >= 0 ? hot : scale.followed;
  y = top;
  for (const PolicyPicture& r : picture.policies) {
    if (shown >= 0 && rows.occupied <= 0) paint_followed(p, r, scale, y + rows.heading, rows.lane, shown);
    y += rows.total(r);
  }
  if (shown >= 0) {
    const Dot& d = picture.dots[static_cast<std::size_t>(shown)];
    p.ring({scale.x(d.arrival_s), area.min.y + arrivals / 2}, t.px(4) + t.px(4) * d.size, t.text, t.px(1.5f));
  }
  // The cursor's line passes behind the headings.
  const float x = scale.x(scale.now_s);
  p.line({x, area.min.y + t.px(4)}, {x, top}, t.accent, t.px(1.5f));
  y = top;
  for (const PolicyPicture& r : picture.policies) {
    p.line({x, y + rows.heading}, {x, y + rows.total(r)}, t.accent, t.px(1.5f));
    y += rows.total(r);
  }
  const std::array<ImVec2, 3> handle{ImVec2{x - t.px(5), area.min.y - t.px(2)},
                                     ImVec2{x + t.px(5), area.min.y - t.px(2)}, ImVec2{x, area.min.y + t.px(6)}};
  p.polygon(handle, t.accent);
  return shown;
}

}  // namespace chapters::serving::batching
