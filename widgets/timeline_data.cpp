#include <algorithm>
#include <cmath>

#include "widgets/timeline.h"

namespace widgets {
namespace {

constexpr std::size_t small_lane = 4096;

void add_span(Fingerprint& f, const TimelineSpan& s) {
  f.add(static_cast<std::uint64_t>(s.start_ns));
  f.add(static_cast<std::uint64_t>(s.duration_ns));
  f.add((std::uint64_t{s.name} << 32) | (std::uint64_t{s.depth} << 16) | (std::uint64_t{s.tint.code} << 8) |
        static_cast<std::uint64_t>(s.mark));
}

std::size_t stride(std::size_t count) { return count <= small_lane ? 1 : count / 64; }

}  // namespace

std::uint64_t timeline_fingerprint(const TimelineData& data) {
  Fingerprint f;
  f.add(data.revision);
  f.add(static_cast<std::uint64_t>(data.origin_ns));
  f.add(std::uint64_t{data.links.size()});
  if (!data.links.empty()) f.add(std::uint64_t{data.links.front().from_span} * 31 + data.links.back().to_span);
  for (const TimelineLane& lane : data.lanes) {
    f.add(std::uint64_t{lane.spans.size()});
    for (std::size_t i = 0; i < lane.spans.size(); i += stride(lane.spans.size())) add_span(f, lane.spans[i]);
    for (const TimelineCounter& c : lane.counters) {
      f.add(std::uint64_t{c.points.size()});
      for (std::size_t i = 0; i < c.points.size(); i += stride(c.points.size())) {
        f.add(static_cast<std::uint64_t>(c.points[i].time_ns));
        f.add(c.points[i].value);
      }
    }
  }
  return f.value;
}

TimelineIndex index_timeline(const TimelineData& data) {
  TimelineIndex index;
  index.fingerprint = timeline_fingerprint(data);
  TimelineViewport clock;
  clock.origin_ns = data.origin_ns;
  bool any = false;
  const auto cover = [&](std::int64_t first_ns, std::int64_t last_ns) {
    const double a = clock.since_origin_s(first_ns), b = clock.since_origin_s(last_ns);
    index.first_s = any ? std::min(index.first_s, a) : a;
    index.last_s = any ? std::max(index.last_s, b) : b;
    any = true;
  };
  for (const TimelineLane& lane : data.lanes) {
    index.lanes.push_back(index_lane(lane.spans));
    if (!lane.spans.empty()) cover(index.lanes.back().first_ns, index.lanes.back().last_ns);
    for (const TimelineCounter& c : lane.counters)
      if (!c.points.empty()) cover(c.points.front().time_ns, c.points.back().time_ns);
    index.counters.emplace_back();
    for (const TimelineCounter& c : lane.counters) index.counters.back().push_back(index_counter(c.points));
    TimelineIndex::Scale scale{0, 0};
    for (const TimelineCounter& c : lane.counters)
      for (const TimelinePoint& p : c.points) {
        if (!std::isfinite(p.value)) continue;
        scale.low = std::min(scale.low, p.value);
        scale.high = std::max(scale.high, p.value);
      }
    if (!(scale.high > scale.low)) scale.high = scale.low + 1;
    index.scales.push_back(scale);
  }
  if (!(index.last_s > index.first_s)) index.last_s = index.first_s + 1;
  const auto span_of = [&](std::uint32_t lane, std::uint32_t span) -> const TimelineSpan* {
    return lane < data.lanes.size() && span < data.lanes[lane].spans.size() ? &data.lanes[lane].spans[span] : nullptr;
  };
  for (std::size_t i = 0; i < data.links.size(); ++i) {
    const TimelineLink& l = data.links[i];
    const TimelineSpan *from = span_of(l.from_lane, l.from_span), *to = span_of(l.to_lane, l.to_span);
    if (!from || !to) continue;
    const std::int64_t first = std::min(from->end_ns(), to->start_ns), last = std::max(from->end_ns(), to->start_ns);
    index.links.push_back({first, last, static_cast<std::uint32_t>(i)});
    std::int64_t length = 0;
    if (__builtin_sub_overflow(last, first, &length)) length = INT64_MAX;
    index.longest_link_ns = std::max(index.longest_link_ns, length);
  }
  std::sort(index.links.begin(), index.links.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return index;
}

bool advance_playback(TimelineView& view, double dt_s) {
  if (!view.playing) return false;
  const double rate = view.play_rate > 0 ? view.play_rate : (view.index.last_s - view.index.first_s) / 10.0;
  const double next = view.cursor_s + rate * (dt_s > 0 ? dt_s : 0.0);
  if (!(next < view.index.last_s)) {
    view.cursor_s = view.index.last_s;
    view.playing = false;
    return false;
  }
  view.cursor_s = std::max(next, view.index.first_s);
  return true;
}

}  // namespace widgets
