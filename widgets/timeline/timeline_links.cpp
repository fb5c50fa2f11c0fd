#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "widgets/timeline/timeline_frame.h"

namespace widgets {
namespace {

bool touches(const TimelineLink& l, TimelineSelection at) {
  return at == TimelineSelection{l.from_lane, l.from_span} || at == TimelineSelection{l.to_lane, l.to_span};
}

/// `crowd`: 1 where arrows are few enough to follow, less where they are a texture.
void paint_link(const TimelineFrame& f, const Painter& painter, const TimelineLink& l, bool strong, float crowd) {
  const Theme& t = theme();
  const TimelineSpan from = f.data.lanes[l.from_lane].spans[l.from_span], to = f.data.lanes[l.to_lane].spans[l.to_span];
  if (f.view.scratch.lanes[l.from_lane].hidden || f.view.scratch.lanes[l.to_lane].hidden) return;
  const float from_y = f.row_top(l.from_lane, f.index.lanes[l.from_lane].row_of(from.depth));
  const float to_y = f.row_top(l.to_lane, f.index.lanes[l.to_lane].row_of(to.depth));
  // From edge to edge, so that an arrow lies between its spans and not on them; within a row, through the middle of
  // the gap.
  const float way = to_y > from_y ? 1.0f : to_y < from_y ? -1.0f : 0.0f, half = f.row_px / 2;
  const ImVec2 a{f.viewport.x_of(from.end_ns()), from_y + half + way * half},
      b{f.viewport.x_of(to.start_ns), to_y + half - way * half};
  if (std::max(a.x, b.x) < f.lanes.min.x || std::min(a.x, b.x) > f.lanes.max.x) return;
  if (std::abs(a.x - b.x) > 2e4f) return;
  const ImU32 ink = with_alpha(strong ? t.accent : t.muted, strong ? 1.0f : 0.75f * crowd);
  std::array<ImVec2, 13> curve;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    const float u = static_cast<float>(k) / static_cast<float>(curve.size() - 1), e = u * u * (3 - 2 * u);
    curve[k] = {a.x + (b.x - a.x) * e, a.y + (b.y - a.y) * u};
  }
  painter.polyline(curve, ink, strong ? t.px(2) : t.px(1));
  if (!strong && crowd < 0.5f) return;
  const float head = t.px(strong ? 6 : 5), sign = way != 0 ? way : b.x >= a.x ? 1.0f : -1.0f;
  const ImVec2 back = way != 0 ? ImVec2{b.x, b.y - sign * head} : ImVec2{b.x - sign * head, b.y};
  const ImVec2 side = way != 0 ? ImVec2{head * 0.6f, 0} : ImVec2{0, head * 0.6f};
  const ImVec2 arrow[] = {b, {back.x - side.x, back.y - side.y}, {back.x + side.x, back.y + side.y}};
  painter.polygon(arrow, ink);
}

double start_of_link_s(const TimelineFrame& f, std::size_t position) {
  const auto times = link_times(f.data, f.data.links[f.index.link_at(position)]);
  return times ? f.viewport.since_origin_s(times->first_ns) : 0.0;
}

void paint_all_links(const TimelineFrame& f, const Painter& painter) {
  const double first_s = f.viewport.start_s - static_cast<double>(f.index.longest_link_ns) * 1e-9;
  const double last_s = f.viewport.start_s + f.viewport.duration_s;
  const std::size_t begin =
      first_place(0, f.index.link_count, [&](std::size_t i) { return start_of_link_s(f, i) >= first_s; });
  const std::size_t end =
      first_place(begin, f.index.link_count, [&](std::size_t i) { return start_of_link_s(f, i) > last_s; });
  constexpr std::size_t most = 600;  // more arrows than this hide the spans
  const std::size_t stride = std::max<std::size_t>(1, (end - begin + most - 1) / most);
  // Many arrows are a texture behind the spans' names; few are meant to be followed.
  constexpr float easily_followed = 60;
  const float crowd = std::min(
      1.0f, std::max(0.2f, easily_followed / static_cast<float>(std::max<std::size_t>(1, (end - begin) / stride))));
  for (std::size_t i = begin; i < end; i += stride) {
    const TimelineLink l = f.data.links[f.index.link_at(i)];
    if (!touches(l, f.view.selected)) paint_link(f, painter, l, false, crowd);
  }
}

/// Whether the selection names a span that is drawn.
bool names_shown(const TimelineFrame& f, std::uint32_t lane, std::uint32_t span) {
  return lane < f.data.lanes.size() && span < f.data.lanes[lane].spans.size() && !f.view.scratch.lanes[lane].hidden;
}

}  // namespace

void find_touched_links(TimelineFrame& f) {
  TimelineScratch& s = f.view.scratch;
  const TimelineSelection hovered = f.events.hovered_count <= 1 ? f.events.hovered : TimelineSelection{};
  Fingerprint key;
  key.add(f.index.fingerprint);
  for (const TimelineSelection at : {f.view.selected, hovered}) {
    key.add(static_cast<std::uint64_t>(at.lane));
    key.add(static_cast<std::uint64_t>(at.span));
  }
  if (key.value == s.touched_of) return;
  s.touched_of = key.value;
  s.touched.clear();
  if (f.options.arrows == TimelineArrows::none || f.index.link_count == 0) return;
  constexpr std::size_t max_read = 20'000, max_kept = 64;  // of recordings with millions, those close by in time
  const double longest_s = static_cast<double>(f.index.longest_link_ns) * 1e-9 + 1e-9;
  for (const TimelineSelection at : {f.view.selected, hovered}) {
    if (at.lane < 0 || at.span < 0 ||
        !names_shown(f, static_cast<std::uint32_t>(at.lane), static_cast<std::uint32_t>(at.span)))
      continue;
    const TimelineSpan span = f.data.lanes[static_cast<std::size_t>(at.lane)].spans[static_cast<std::size_t>(at.span)];
    const double begin_s = f.viewport.since_origin_s(span.start_ns) - longest_s;
    const double end_s = f.viewport.since_origin_s(span.end_ns()) + 1e-9;
    const std::size_t end =
        first_place(0, f.index.link_count, [&](std::size_t i) { return start_of_link_s(f, i) > end_s; });
    for (std::size_t i = end, read = 0; i-- > 0 && read < max_read && s.touched.size() < max_kept; ++read) {
      const TimelineLink l = f.data.links[f.index.link_at(i)];
      if (touches(l, at)) s.touched.push_back(l);
      if ((read & 255) == 255 && start_of_link_s(f, i) < begin_s) break;
    }
  }
}

void paint_timeline_links(const TimelineFrame& f, const Painter& painter) {
  if (f.options.arrows == TimelineArrows::all) paint_all_links(f, painter);
  for (const TimelineLink& l : f.view.scratch.touched) paint_link(f, painter, l, true, 1.0f);
}

/// A bracket over the width of the gap, on the side of its cause, and a line from its middle to the cause.
void paint_timeline_causes(const TimelineFrame& f, const Painter& painter) {
  const Theme& t = theme();
  constexpr std::size_t max_causes = 64;
  for (std::size_t i = 0; i < std::min(max_causes, f.data.causes.size()); ++i) {
    const TimelineLink l = f.data.causes[i];
    if (!names_shown(f, l.from_lane, l.from_span) || !names_shown(f, l.to_lane, l.to_span)) continue;
    const TimelineSpan cause = f.data.lanes[l.from_lane].spans[l.from_span],
                       gap = f.data.lanes[l.to_lane].spans[l.to_span];
    const float x0 = std::max(f.viewport.x_of(gap.start_ns), f.lanes.min.x),
                x1 = std::min(f.viewport.x_of(gap.end_ns()), f.lanes.max.x);
    if (x1 - x0 < t.px(10)) continue;
    const float gap_y = f.row_top(l.to_lane, f.index.lanes[l.to_lane].row_of(gap.depth)),
                cause_y = f.row_top(l.from_lane, f.index.lanes[l.from_lane].row_of(cause.depth));
    const bool above = cause_y < gap_y;
    const float edge = above ? gap_y - t.px(1) : gap_y + f.row_px + t.px(1), out = above ? -t.px(3) : t.px(3);
    const ImU32 ink = t.text;
    const ImVec2 bracket[] = {{x0 + 1, edge - out}, {x0 + 1, edge + out}, {x1 - 1, edge + out}, {x1 - 1, edge - out}};
    painter.polyline(bracket, ink, t.px(1.5f));
    // Where both are at the same time the line is upright; else it leans to the nearer end of the cause.
    const float from = f.viewport.x_of(cause.start_ns), to = f.viewport.x_of(cause.end_ns());
    const float low = std::max(from, x0), high = std::min(to, x1);
    const float x = low <= high ? (low + high) / 2 : (x0 + x1) / 2, end_x = std::clamp(x, from, to);
    const ImVec2 end{end_x, above ? cause_y + f.row_px : cause_y};
    if (end.x < f.lanes.min.x - t.px(2) || end.x > f.lanes.max.x + t.px(2)) continue;
    painter.line({std::clamp(x, x0, x1), edge + out}, end, ink, t.px(1.5f));
    painter.circle(end, t.px(3), ink);
  }
}

/// Along the lower edge of its spans, in the air between rows, so that no name is struck through. It goes on in time: a
/// span that began before the path came to it, as a wait does, has no line under what lies before.
void paint_timeline_thread(const TimelineFrame& f, const Painter& painter) {
  const Theme& t = theme();
  std::vector<ImVec2>& points = f.view.scratch.points;
  points.clear();
  constexpr std::size_t max_points = 4096;
  float reached = -std::numeric_limits<float>::infinity();
  for (const TimelineStep& step : f.data.thread) {
    if (!names_shown(f, step.lane, step.span) || points.size() >= max_points) continue;
    const TimelineSpan s = f.data.lanes[step.lane].spans[step.span];
    const float x0 = std::max(f.viewport.x_of(s.start_ns), reached),
                x1 = std::max(f.viewport.x_of(s.end_ns()), reached);
    reached = x1;
    if (x1 < f.lanes.min.x - 2e3f || x0 > f.lanes.max.x + 2e3f) continue;
    const float y = f.row_top(step.lane, f.index.lanes[step.lane].row_of(s.depth)) + f.row_px + t.px(1);
    const ImVec2 from{std::max(x0, f.lanes.min.x - 1e4f), y}, to{std::min(x1, f.lanes.max.x + 1e4f), y};
    // A joint of two points at one place would be drawn as a spike.
    const bool joined = !points.empty() && points.back().y == y && std::abs(points.back().x - from.x) < 2.0f;
    if (!joined) points.push_back(from);
    if (joined)
      points.back() = to;
    else if (to.x - from.x > 1.0f)
      points.push_back(to);
  }
  if (points.size() < 2) return;
  painter.polyline(points, t.panel, t.px(5.5f));
  painter.polyline(points, t.text, t.px(3));
}

}  // namespace widgets
