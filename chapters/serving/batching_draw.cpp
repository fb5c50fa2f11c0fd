#include <imgui.h>

#include <algorithm>
#include <array>

#include "chapters/serving/batching.h"
#include "widgets/axis.h"
#include "widgets/painter.h"
#include "widgets/parts.h"
#include "widgets/plot.h"

namespace chapters::serving::batching {
namespace {

using models::SlotUse;
using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

constexpr float future_alpha = 0.2f, held_alpha = 0.3f;

/// Where time lies; shared by all rows of the race.
struct Scale {
  float left = 0, width = 0;
  double end_s = 1;
  float x(double time_s) const { return left + width * static_cast<float>(std::clamp(time_s / end_s, 0.0, 1.0)); }
};

ImU32 colour_of(std::int32_t request) { return widgets::theme().series_at(static_cast<std::size_t>(request)); }
ImU32 seen(ImU32 colour, bool past, float alpha = 1) { return past && alpha >= 1 ? colour : widgets::with_alpha(colour, past ? alpha : alpha * future_alpha); }

void row_label(const Painter& p, float right, float centre, std::string_view label) {
  const auto& t = widgets::theme();
  p.text({right, centre - t.type(Type::small) / 2}, label, t.muted, Type::small, Font::sans, Align::right);
}

void paint_span(const Painter& p, const models::SlotSpan& s, ImVec2 low, ImVec2 high, float alpha) {
  const auto& t = widgets::theme();
  const ImU32 colour = colour_of(s.request);
  if (s.use == SlotUse::held) {
    p.rect(low, high, widgets::with_alpha(colour, held_alpha * alpha));
    return;
  }
  p.rect(low, high, widgets::with_alpha(colour, alpha), high.x - low.x > t.px(6) && high.y - low.y > t.px(6) ? t.px(2) : 0);
  if (s.use == SlotUse::prefill) p.rect(low, {high.x, low.y + std::max(t.px(2), (high.y - low.y) * 0.3f)}, widgets::with_alpha(t.text, alpha));
  if (s.preempted) p.rect({std::max(low.x, high.x - t.px(3)), low.y}, high, widgets::with_alpha(t.bad, alpha));
}

/// What is under the pointer, in words.
void span_tip(const models::SlotSpan& s) {
  widgets::Line name;
  name.add("request ").add_integer(s.request + 1);
  static constexpr std::array<std::string_view, 3> uses{"its prompt is put through", "it is served, token by token", "done; its slot waits for the batch"};
  widgets::tip(name.view(), widgets::format(s.end_s - s.start_s, "s"), s.preempted ? std::string_view("sent back: the blocks ran out") : uses[static_cast<std::size_t>(s.use)]);
}

void paint_lanes(const Painter& p, const Racer& r, const Scale& scale, float top, float lane, double now_s, bool hovered) {
  const auto& t = widgets::theme();
  const float gap = lane > t.px(5) ? t.px(2) : 0;
  for (std::int32_t i = 0; i < r.lanes; ++i) {
    const float y = top + lane * static_cast<float>(i);
    p.rect({scale.left, y}, {scale.left + scale.width, y + lane - gap}, t.card);
  }
  const ImVec2 mouse = ImGui::GetMousePos();
  for (const models::SlotSpan& s : r.spans) {
    if (s.lane >= r.lanes) continue;
    const float y = top + lane * static_cast<float>(s.lane), x0 = scale.x(s.start_s), x1 = std::max(scale.x(s.end_s), x0 + 1);
    const float now = scale.x(now_s);
    if (x0 < now) paint_span(p, s, {x0, y}, {std::min(x1, std::max(now, x0 + 1)), y + lane - gap}, 1);
    if (x1 > now) paint_span(p, s, {std::max(x0, now), y}, {x1, y + lane - gap}, future_alpha);
    if (hovered && mouse.x >= x0 && mouse.x < x1 && mouse.y >= y && mouse.y < y + lane) span_tip(s);
  }
}

/// A quantity that holds its value until the next point, filled from below.
void paint_steps(const Painter& p, std::span<const models::ServingPoint> points, double most, const Scale& scale, float top, float height, double now_s, ImU32 colour) {
  const auto& t = widgets::theme();
  p.rect({scale.left, top}, {scale.left + scale.width, top + height}, t.card);
  const float bottom = top + height;
  for (std::size_t i = 0; i < points.size();) {
    const float x0 = scale.x(points[i].time_s);
    double value = points[i].value;
    for (++i; i < points.size() && scale.x(points[i].time_s) < x0 + 0.5f; ++i) value = std::max(value, points[i].value);  // a column shows its highest
    if (!(value > 0)) continue;
    const float x1 = std::max(i < points.size() ? scale.x(points[i].time_s) : scale.left + scale.width, x0 + 0.5f), now = std::clamp(scale.x(now_s), x0, x1);
    const float y = bottom - (height - t.px(2)) * static_cast<float>(std::min(1.0, value / most));
    if (now > x0) p.rect({x0, y}, {now, bottom}, seen(colour, true, 0.75f));
    if (now < x1) p.rect({now, y}, {x1, bottom}, seen(colour, false, 0.75f));
  }
}

/// A figure at the right end of a strip, on a ground of its own.
void strip_figure(const Painter& p, float right, float top, std::string_view s) {
  const auto& t = widgets::theme();
  const ImVec2 size = widgets::text_size(s, Type::small, Font::mono);
  p.rect({right - size.x - t.px(10), top + t.px(1)}, {right - t.px(2), top + size.y + t.px(3)}, widgets::with_alpha(t.background, 0.85f), t.px(3));
  p.text({right - t.px(6), top + t.px(2)}, s, t.text, Type::small, Font::mono, Align::right);
}

double value_at(std::span<const models::ServingPoint> points, double now_s) {
  const auto after = std::upper_bound(points.begin(), points.end(), now_s, [](double t, const models::ServingPoint& p) { return t < p.time_s; });
  return after == points.begin() ? 0 : std::prev(after)->value;
}

/// Heights in pixels of one policy's part of the race.
struct Rows {
  float heading, arrivals, lane, lanes, queue, blocks, gap;
  float total() const { return heading + arrivals + lanes + queue + blocks + gap; }
};
Rows rows_of(const Racer& r, bool model, std::size_t racers) {
  const auto& t = widgets::theme();
  const float room = racers <= 2 ? 118.0f : racers == 3 ? 84.0f : 64.0f;
  const float lane = t.px(std::clamp(room / static_cast<float>(r.lanes), 2.0f, 20.0f));
  return {t.type(Type::body) + t.px(6), t.px(18), lane, lane * static_cast<float>(r.lanes) + t.px(4), t.px(28), model ? t.px(24) : 0, t.px(12)};
}

void paint_racer(const Painter& p, const Outputs& out, const Racer& r, const Scale& scale, ImVec2 corner, const Rows& rows, double now_s, bool hovered) {
  const auto& t = widgets::theme();
  const float right = scale.left + scale.width;
  float y = corner.y;
  const float name = p.text({corner.x, y}, r.name, t.text, Type::body, Font::bold);
  widgets::fit_text(p, {right, y + t.px(2)}, r.figures, right - corner.x - name - t.px(12), t.muted, Type::small, Font::mono, Align::right);
  y += rows.heading;
  row_label(p, scale.left - t.px(8), y + rows.arrivals / 2, "arrivals");
  for (std::size_t i = 0; i < out.dots.size(); ++i)
    p.circle({scale.x(out.dots[i].arrival_s), y + rows.arrivals / 2}, t.px(2.5f) + t.px(4) * out.dots[i].size, seen(colour_of(static_cast<std::int32_t>(i)), out.dots[i].arrival_s <= now_s));
  y += rows.arrivals;
  row_label(p, scale.left - t.px(8), y + rows.lanes / 2, "slots");
  paint_lanes(p, r, scale, y, rows.lane, now_s, hovered);
  y += rows.lanes;
  const float strip = rows.queue - t.px(4);
  row_label(p, scale.left - t.px(8), y + strip / 2, "queue");
  paint_steps(p, r.waiting, r.peak_waiting, scale, y, strip, now_s, t.of(widgets::Meaning::memory_bound));
  widgets::Line waits;
  waits.add_integer(static_cast<std::int64_t>(value_at(r.waiting, now_s))).add(" of at most ").add_integer(static_cast<std::int64_t>(r.peak_waiting));
  strip_figure(p, right, y, waits.view());
  y += rows.queue;
  if (rows.blocks > 0) {
    const float height = rows.blocks - t.px(4);
    row_label(p, scale.left - t.px(8), y + height / 2, "KV blocks");
    const double most = static_cast<double>(std::max<std::int64_t>(out.kv_blocks, 1));
    // A pool that is nearly empty is drawn against its own peak, and the label says what the peak is of the whole.
    const double shown = std::min(most, std::max(1.0, 1.1 * most * r.kv_peak / 100));
    paint_steps(p, r.blocks, shown, scale, y, height, now_s, t.of(widgets::Meaning::kv_cache));
    widgets::Line taken;
    taken.add(widgets::format(value_at(r.blocks, now_s), "", 6)).add(" of ").add(widgets::format(most, "", 9)).add(", at most ").add(widgets::format(r.kv_peak, "%"));
    strip_figure(p, right, y, taken.view());
  }
}

void paint_ruler(const Painter& p, const Scale& scale, float top, float bottom) {
  const auto& t = widgets::theme();
  const widgets::AxisSpec spec{.kind = widgets::AxisKind::linear, .label = "time", .unit = "s"};
  const widgets::AxisMap map(spec.kind, {0, scale.end_s}, static_cast<double>(scale.left), static_cast<double>(scale.left + scale.width));
  widgets::AxisTicks ticks;
  widgets::layout_ticks(spec, {0, scale.end_s}, map, {[](std::string_view s) { return widgets::text_size(s, Type::small, Font::mono).x; }}, ticks);
  const float last = scale.left + scale.width;
  for (const widgets::Tick& tick : ticks.major()) {
    const float x = static_cast<float>(tick.pixel);
    p.line({x, top}, {x, bottom}, t.grid);
    widgets::Line label;
    label.add(tick.label.view()).add(" ").add(ticks.unit.view());
    const float half = widgets::text_size(label.view(), Type::small, Font::mono).x / 2;
    p.text({std::min(x, last - half), bottom + t.px(3)}, label.view(), t.muted, Type::small, Font::mono, Align::center);
  }
}

void playback(const Outputs& out, View& view) {
  const auto& t = widgets::theme();
  if (view.playing) {
    view.time = std::min(view.time, out.shown_s) + view.speed * static_cast<double>(ImGui::GetIO().DeltaTime);
    if (view.time >= out.shown_s) view.playing = false, view.time = out.shown_s;
  }
  if (ImGui::Button(view.playing ? "Pause##race" : "Play##race")) {
    view.playing = !view.playing;
    if (view.playing && view.time >= out.shown_s) view.time = 0;
  }
  ImGui::SameLine(0, t.px(6));
  if (ImGui::Button("Slower")) view.speed = std::max(0.01, view.speed / 2);
  ImGui::SameLine(0, t.px(6));
  if (ImGui::Button("Faster")) view.speed = std::min(100.0, view.speed * 2);
  ImGui::SameLine(0, t.px(12));
  widgets::Line at;
  at.add(widgets::format(std::min(view.time, out.shown_s), "s")).add(" of ").add(widgets::format(out.shown_s, "s")).add(" at ").add(widgets::format(view.speed, "")).add(" x.  ").add(out.caption);
  const ImVec2 here = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  widgets::fit_text(Painter::window(), {here.x, here.y + t.px(5)}, at.view(), width, t.muted, Type::small);
  ImGui::Dummy({width, ImGui::GetFrameHeight()});
}

void save_tables(const Painter& p, const Outputs& out) {
  if (!p.record()) return;
  widgets::DataTable spans{"slots", {"policy", "request", "slot", "use", "start_s", "end_s"}, {}}, queue{"queue", {"policy", "time_s", "waiting"}, {}};
  static constexpr std::array<const char*, 3> uses{"prompt", "output", "held"};
  for (const Racer& r : out.racers) {
    for (const auto& s : r.spans)
      spans.rows.push_back({r.name, std::to_string(s.request + 1), std::to_string(s.lane + 1), uses[static_cast<std::size_t>(s.use)], widgets::exact(s.start_s), widgets::exact(s.end_s)});
    for (const auto& w : r.waiting) queue.rows.push_back({r.name, widgets::exact(w.time_s), widgets::exact(w.value)});
  }
  p.record()->tables.push_back(std::move(spans));
  p.record()->tables.push_back(std::move(queue));
}

void draw_race(const Outputs& out, View& view, float width) {
  const auto& t = widgets::theme();
  const bool model = out.kv_blocks > 0;
  float height = t.px(24);
  for (const Racer& r : out.racers) height += rows_of(r, model, out.racers.size()).total();
  const widgets::Rect area = widgets::canvas("cursor", {width, height}, {t.px(200), t.px(60)});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  Scale scale{area.min.x + t.px(72), 0, out.shown_s};
  scale.width = area.max.x - scale.left - t.px(14);
  if (ImGui::IsItemActive() && scale.width > 1) {
    view.time = std::clamp(static_cast<double>((ImGui::GetMousePos().x - scale.left) / scale.width), 0.0, 1.0) * out.shown_s;
    view.playing = false;
  }
  const double now_s = std::min(view.time, out.shown_s);
  const float bottom = area.max.y - t.px(24);
  paint_ruler(p, scale, area.min.y + t.px(22), bottom);
  float y = area.min.y;
  for (const Racer& r : out.racers) {
    const Rows rows = rows_of(r, model, out.racers.size());
    paint_racer(p, out, r, scale, {area.min.x, y}, rows, now_s, hovered && !ImGui::IsItemActive());
    y += rows.total();
  }
  const float x = scale.x(now_s);
  p.line({x, area.min.y + t.px(22)}, {x, bottom}, t.accent, t.px(1.5f));
  const std::array<ImVec2, 3> handle{ImVec2{x - t.px(5), area.min.y + t.px(16)}, ImVec2{x + t.px(5), area.min.y + t.px(16)}, ImVec2{x, area.min.y + t.px(24)}};
  p.polygon(handle, t.accent);
  save_tables(p, out);
}

void draw_latencies(const Outputs& out, View& view, float width) {
  const auto& t = widgets::theme();
  static constexpr std::array<widgets::Marker, 4> markers{widgets::Marker::circle, widgets::Marker::square, widgets::Marker::triangle, widgets::Marker::diamond};
  widgets::Plot plot("latencies", view.latencies,
                     {.x = {.lo = 0, .hi = out.shown_s, .label = "time of departure", .unit = "s"}, .y = {.lo = 0, .hi = 1.1 * out.slowest_shown_s, .label = "latency", .unit = "s"}, .size = {width, t.px(210)}});
  for (std::size_t i = 0; i < out.racers.size(); ++i) {
    const Racer& r = out.racers[i];
    const auto n = static_cast<std::size_t>(std::upper_bound(r.done_s.begin(), r.done_s.end(), view.time) - r.done_s.begin());
    plot.scatter(r.name, {r.done_s.data(), n}, {r.latency_s.data(), n}, {.colour = t.series_at(i), .marker = markers[i % markers.size()], .radius = 4.5f, .info = "departure - arrival, one request each"});
  }
}

}  // namespace

void draw(Inputs&, const Outputs& out, View& view) {
  if (!out.reason.empty() || out.racers.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x;
  playback(out, view);
  draw_race(out, view, width);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  widgets::fit_text(Painter::window(), at, "A colour is a request. Capped: its prompt. Pale: done, but its slot is held. Red end: sent back to the queue.", width, t.muted, Type::small);
  ImGui::Dummy({width, t.type(Type::small) + t.px(8)});
  draw_latencies(out, view, width);
}

}  // namespace chapters::serving::batching
