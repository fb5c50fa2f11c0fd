#include <algorithm>
#include <cmath>

#include "widgets/timeline/timeline.h"

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

/// Keeps numbers alone, since there may be millions: times are looked up again where they are needed.
void index_links(const TimelineData& data, TimelineIndex& index) {
  const std::size_t size = std::min<std::size_t>(data.links.size(), UINT32_MAX);
  bool sorted = true;
  std::int64_t before = INT64_MIN;
  for (std::size_t i = 0; i < size; ++i) {
    const auto times = link_times(data, data.links[i]);
    if (!times) continue;
    ++index.link_count;
    sorted = sorted && before <= times->first_ns;
    before = times->first_ns;
    std::int64_t length = 0;
    if (__builtin_sub_overflow(times->last_ns, times->first_ns, &length)) length = INT64_MAX;
    index.longest_link_ns = std::max(index.longest_link_ns, length);
  }
  if (sorted && index.link_count == size) return;
  struct Start {
    std::int64_t time_ns;
    std::uint32_t link;
  };
  std::vector<Start> starts;
  starts.reserve(index.link_count);
  for (std::size_t i = 0; i < size; ++i)
    if (const auto times = link_times(data, data.links[i]))
      starts.push_back({times->first_ns, static_cast<std::uint32_t>(i)});
  if (!sorted)
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Start& a, const Start& b) { return a.time_ns < b.time_ns; });
  index.link_order.reserve(starts.size());
  for (const Start& s : starts) index.link_order.push_back(s.link);
}

}  // namespace

std::optional<TimelineLinkTimes> link_times(const TimelineData& data, const TimelineLink& l) {
  const auto names = [&](std::uint32_t lane, std::uint32_t span) {
    return lane < data.lanes.size() && span < data.lanes[lane].spans.size();
  };
  if (!names(l.from_lane, l.from_span) || !names(l.to_lane, l.to_span)) return {};
  const std::int64_t from = data.lanes[l.from_lane].spans[l.from_span].end_ns(),
                     to = data.lanes[l.to_lane].spans[l.to_span].start_ns;
  return TimelineLinkTimes{std::min(from, to), std::max(from, to)};
}

std::uint64_t timeline_fingerprint(const TimelineData& data) {
  Fingerprint f;
  f.add(data.revision);
  f.add(static_cast<std::uint64_t>(data.origin_ns));
  f.add(std::uint64_t{data.links.size()});
  if (!data.links.empty())
    f.add(std::uint64_t{data.links[0].from_span} * 31 + data.links[data.links.size() - 1].to_span);
  for (const TimelineLane& lane : data.lanes) {
    f.add(std::uint64_t{lane.spans.size()});
    for (std::size_t i = 0; i < lane.spans.size(); i += stride(lane.spans.size())) add_span(f, lane.spans[i]);
    for (const TimelineCounter& c : lane.counters) {
      f.add(std::uint64_t{c.points.size()});
      f.add(c.capacity);
      f.add(c.scale_to);
      for (std::size_t i = 0; i < c.points.size(); i += stride(c.points.size())) {
        const TimelinePoint p = c.points[i];
        f.add(static_cast<std::uint64_t>(p.time_ns));
        f.add(p.value);
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
    for (std::size_t i = 0; i < index.tints.size(); ++i) index.tints[i] = index.tints[i] || index.lanes.back().tints[i];
    for (const TimelineCounter& c : lane.counters) index.tints[c.tint.code] = true;
    if (!lane.spans.empty()) cover(index.lanes.back().first_ns, index.lanes.back().last_ns);
    for (const TimelineCounter& c : lane.counters)
      if (!c.points.empty()) cover(c.points[0].time_ns, c.points[c.points.size() - 1].time_ns);
    index.counters.emplace_back();
    for (const TimelineCounter& c : lane.counters) index.counters.back().push_back(index_counter(c.points));
    TimelineIndex::Scale scale{0, 0};
    for (const auto& blocks : index.counters.back())
      for (const TimelineRange& block : blocks) {
        scale.low = std::min(scale.low, block.low);  // infinite the other way where nothing is finite
        scale.high = std::max(scale.high, block.high);
      }
    for (const TimelineCounter& c : lane.counters)
      for (const double reach : {c.capacity, c.scale_to})
        if (std::isfinite(reach)) scale.high = std::max(scale.high, reach);
    if (!(scale.high > scale.low)) scale.high = scale.low + 1;
    index.scales.push_back(scale);
  }
  if (!(index.last_s > index.first_s)) index.last_s = index.first_s + 1;
  index_links(data, index);
  return index;
}

bool advance_playback(TimelineView& view, const TimelineIndex& index, double dt_s) {
  if (!view.playing) return false;
  const double rate = view.play_rate > 0 ? view.play_rate : (index.last_s - index.first_s) / 10.0;
  const double next = view.cursor_s + rate * (dt_s > 0 ? dt_s : 0.0);
  if (!(next < index.last_s)) {
    view.cursor_s = index.last_s;
    view.playing = false;
    return false;
  }
  view.cursor_s = std::max(next, index.first_s);
  return true;
}

}  // namespace widgets
