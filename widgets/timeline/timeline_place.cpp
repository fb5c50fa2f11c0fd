#include <algorithm>
#include <cmath>

#include "widgets/number/number.h"
#include "widgets/timeline/timeline_frame.h"

namespace widgets {
namespace {

constexpr std::int64_t max_recorded_spans = 100'000;

std::string_view name_of(const TimelineData& data, std::uint32_t id) {
  return data.name ? data.name(data.context, id) : std::string_view{};
}

void tip_counters(const TimelineFrame& f, const TimelineLane& lane, double at_s) {
  if (!ImGui::BeginTooltip()) return;
  const NumberText at = format(at_s, "s", 4);
  ImGui::TextUnformatted(at.chars, at.chars + at.length);
  for (const TimelineCounter& c : lane.counters) {
    const std::size_t after = first_place(
        0, c.points.size(), [&](std::size_t i) { return f.viewport.since_origin_s(c.points[i].time_ns) > at_s; });
    if (after == 0) continue;
    Line line;
    line.add(c.label).add(": ").add(format(c.points[after - 1].value, c.unit));
    ImGui::TextUnformatted(line.c_str());
  }
  ImGui::EndTooltip();
}

}  // namespace

TimelineCaret timeline_caret(const TimelineData& data, const TimelineIndex& index, const TimelineOptions& options,
                             std::size_t lane) {
  if (lane + 1 < data.lanes.size() && data.lanes[lane + 1].indent > data.lanes[lane].indent)
    return TimelineCaret::group;
  const bool wraps = options.fold_wrappers && lane < index.lanes.size() && index.lanes[lane].wrappers > 1;
  return wraps ? TimelineCaret::wrappers : TimelineCaret::none;
}

float place_timeline_lanes(const TimelineData& data, const TimelineIndex& index, const TimelineOptions& options,
                           std::span<const std::uint8_t> folded, std::span<const std::uint32_t> order,
                           std::vector<TimelineScratch::PlacedLane>& placed) {
  const Theme& t = theme();
  const float row_step_px = t.px(options.row_px) + t.px(2);
  placed.resize(data.lanes.size());
  float top = t.px(4);
  std::uint32_t hidden_under = UINT32_MAX;  // lanes with more indent than this are folded away
  for (std::size_t k = 0; k < placed.size(); ++k) {
    const std::size_t i = order.empty() ? k : order[k];
    const TimelineLane& lane = data.lanes[i];
    auto& p = placed[i];
    p.top = top;
    p.hidden = lane.indent > hidden_under;
    p.height = 0;
    if (p.hidden) continue;
    hidden_under = UINT32_MAX;
    const bool turned = i < folded.size() && folded[i] != 0;
    const TimelineCaret caret = timeline_caret(data, index, options, i);
    if (caret == TimelineCaret::group && turned) hidden_under = lane.indent;
    const bool wraps = options.fold_wrappers && i < index.lanes.size() && index.lanes[i].wrappers > 1;
    p.wrappers = wraps && !(turned && caret == TimelineCaret::wrappers) ? index.lanes[i].wrappers - 1 : 0;
    const std::size_t rows = i < index.lanes.size() ? index.lanes[i].rows.size() - p.wrappers : 0;
    // Arrows and cursor labels pass between lanes, so there is a gap; a lane of counters alone has no row.
    const float rows_px = static_cast<float>(rows == 0 && lane.counters.empty() ? 1 : rows) * row_step_px;
    const float counters_px = lane.counters.empty() ? 0.0f : t.px(options.counter_px) + t.px(6);
    const float sublabel_px = lane.sublabel.empty() ? 0.0f : t.type(Type::small);
    const float label_px = t.type(label_type(options)) + sublabel_px + t.px(low_lanes(options) ? 1 : 3);
    p.rows = 0;
    p.counters = rows_px + (lane.counters.empty() ? 0.0f : t.px(3));
    p.height = std::max(rows_px + counters_px, label_px);
    top += p.height + t.px(low_lanes(options) ? 2 : 6);
  }
  return top;
}

void layout_timeline_blocks(TimelineFrame& f) {
  TimelineScratch& s = f.view.scratch;
  Fingerprint shown;
  shown.add(f.index.fingerprint);
  for (const double x : {f.viewport.start_s, f.viewport.duration_s}) shown.add(x);
  for (const float x :
       {f.lanes.min.x, f.lanes.min.y, f.lanes.max.x, f.lanes.max.y, f.view.scroll_px, f.row_px, f.counter_px})
    shown.add(static_cast<double>(x));
  shown.add(static_cast<double>(s.lanes_height));
  shown.add(s.order_of);
  for (const std::uint8_t turned : f.view.folded) shown.add(std::uint64_t{turned});
  if (s.layout_of == shown.value) return;
  s.layout_of = shown.value;
  s.blocks.clear();
  for (std::size_t i = 0; i < f.data.lanes.size(); ++i) {
    s.lanes[i].first_block = s.blocks.size();
    const auto& rows = f.index.lanes[i].rows;
    for (std::size_t r = s.lanes[i].wrappers; f.lane_shown(i) && r < rows.size(); ++r) {
      const float top = f.row_top(i, r);
      if (top < f.lanes.max.y && top + f.row_px > f.lanes.min.y)
        layout_timeline_row(f.data.lanes[i].spans, f.index.lanes[i], r, f.viewport, static_cast<std::uint32_t>(i),
                            s.blocks);
    }
    s.lanes[i].blocks = s.blocks.size() - s.lanes[i].first_block;
  }
}

void find_timeline_hover(TimelineFrame& f, ImVec2 mouse) {
  const TimelineScratch& s = f.view.scratch;
  for (std::size_t i = 0; i < s.lanes.size(); ++i) {
    if (!f.lane_shown(i) || mouse.y < f.lane_top(i) || mouse.y >= f.lane_top(i) + s.lanes[i].height) continue;
    f.events.hovered.lane = static_cast<std::int64_t>(i);
    const float row = std::floor((mouse.y - f.row_top(i, 0)) / f.row_step_px) + static_cast<float>(s.lanes[i].wrappers);
    const auto in_lane = std::span(s.blocks).subspan(s.lanes[i].first_block, s.lanes[i].blocks);
    const auto begin =
        std::find_if(in_lane.begin(), in_lane.end(), [&](const auto& b) { return static_cast<float>(b.row) >= row; });
    const auto end = std::find_if(begin, in_lane.end(), [&](const auto& b) { return static_cast<float>(b.row) > row; });
    if (const TimelineBlock* b = timeline_block_at({begin, end}, mouse.x)) {
      f.events.hovered.span = b->first;
      f.events.hovered_count = b->count;
    }
    return;
  }
}

void tip_timeline(const TimelineFrame& f, ImVec2 mouse) {
  if (f.events.hovered.lane < 0) return;
  const auto lane_index = static_cast<std::size_t>(f.events.hovered.lane);
  const TimelineLane& lane = f.data.lanes[lane_index];
  if (f.events.hovered.span < 0) {
    if (!lane.counters.empty() && mouse.y >= f.lane_top(lane_index) + f.view.scratch.lanes[lane_index].counters)
      tip_counters(f, lane, f.viewport.time_at(mouse.x));
    return;
  }
  const TimelineSpan s = lane.spans[static_cast<std::size_t>(f.events.hovered.span)];
  Line name, value;
  const std::uint32_t count = f.events.hovered_count;
  if (count > 1) {
    const auto& blocks = f.view.scratch.blocks;
    const auto block = std::find_if(blocks.begin(), blocks.end(), [&](const TimelineBlock& b) {
      return b.lane == lane_index && b.first == f.events.hovered.span && b.count == count;
    });
    if (block == blocks.end()) return;
    name.add(format(static_cast<double>(count), "")).add(" spans, first ").add(name_of(f.data, s.name));
    value.add("busy ").add(format(static_cast<double>(block->busy_ns - block->wait_ns) * 1e-9, "s", 4));
    if (block->wait_ns > 0)
      value.add(", waiting ").add(format(static_cast<double>(block->wait_ns) * 1e-9, "s", 4)).add(",");
    value.add(" from ");
    value.add(format(f.viewport.since_origin_s(block->start_ns), "s", 6)).add("; zoom in to see each");
    tip(name.view(), value.view());
    return;
  }
  value.add(format(static_cast<double>(s.length_ns()) * 1e-9, "s", 4))
      .add(" from ")
      .add(format(f.viewport.since_origin_s(s.start_ns), "s", 6));
  value.add(", ").add(lane.label);
  std::string_view more;
  if (f.options.note.span == f.events.hovered)
    more = f.options.note.text;
  else if (f.data.info)
    more = f.data.info(f.data.context, static_cast<std::uint32_t>(lane_index),
                       static_cast<std::uint32_t>(f.events.hovered.span));
  tip(name_of(f.data, s.name), value.view(), more);
}

void record_timeline(const TimelineFrame& f, Record& record) {
  DataTable spans{f.label, {"lane", "row", "name", "start (s)", "duration (s)"}, {}};
  std::int64_t left = max_recorded_spans;
  const double from = f.viewport.start_s, to = from + f.viewport.duration_s;
  for (const TimelineLane& lane : f.data.lanes)
    for (std::size_t i = 0; i < lane.spans.size(); ++i) {
      const TimelineSpan s = lane.spans[i];
      const double start = f.viewport.since_origin_s(s.start_ns), end = f.viewport.since_origin_s(s.end_ns());
      if (!(start <= to) || !(end >= from)) continue;
      if (left-- <= 0) break;
      spans.rows.push_back({std::string(lane.label), std::to_string(s.depth), std::string(name_of(f.data, s.name)),
                            exact(start), exact(static_cast<double>(s.length_ns()) * 1e-9)});
    }
  if (left < 0) spans.name += " (the first 100,000 spans in view)";
  record.tables.push_back(std::move(spans));
  for (const TimelineLane& lane : f.data.lanes)
    for (const TimelineCounter& c : lane.counters) {
      DataTable table{std::string(c.label), {"time (s)", std::string(c.unit)}, {}};
      for (std::size_t i = 0; i < std::min<std::size_t>(c.points.size(), max_recorded_spans); ++i)
        table.rows.push_back({exact(f.viewport.since_origin_s(c.points[i].time_ns)), exact(c.points[i].value)});
      record.tables.push_back(std::move(table));
    }
}

}  // namespace widgets
