#include <algorithm>
#include <cmath>

#include "widgets/plot/plot_reference.h"
#include "widgets/timeline/timeline_frame.h"

namespace widgets {
namespace {

using Ends = std::vector<PlotReference::LaneEnd>;

const Ends* shown_ends(const char* label) {
  const PlotReference* const shown = reference_in_sight();
  if (!shown) return nullptr;
  const auto at = shown->timelines.find(reference_key(label));
  return at == shown->timelines.end() ? nullptr : &at->second;
}

/// The other scenario's lane of this name: the one in the same place, else the first.
const PlotReference::LaneEnd* end_of(const Ends& ends, std::size_t lane, std::string_view label) {
  const std::uint64_t name = reference_key(label);
  if (lane < ends.size() && ends[lane].name == name) return &ends[lane];
  const auto at = std::find_if(ends.begin(), ends.end(), [&](const auto& e) { return e.name == name; });
  return at == ends.end() ? nullptr : &*at;
}

double lane_last_s(const TimelineFrame& f, std::size_t lane) {
  return f.viewport.since_origin_s(f.index.lanes[lane].last_ns);
}

}  // namespace

void leave_timeline(const TimelineFrame& f) {
  PlotReference* const into = reference_gathered();
  if (!into) return;
  Ends ends;
  for (std::size_t i = 0; i < f.data.lanes.size(); ++i)
    ends.push_back(
        {reference_key(f.data.lanes[i].label), f.data.lanes[i].spans.empty() ? std::nan("") : lane_last_s(f, i)});
  if (!into->timelines.emplace(reference_key(f.label), std::move(ends)).second) ++into->clashes;
}

double reference_last_s(const char* label) {
  double last = -HUGE_VAL;
  if (const Ends* ends = shown_ends(label))
    for (const auto& e : *ends)
      if (std::isfinite(e.last_s)) last = std::max(last, e.last_s);
  return last;
}

void paint_timeline_reference(const TimelineFrame& f, const Painter& painter) {
  const Ends* const ends = shown_ends(f.label);
  if (!ends) return;
  const Theme& t = theme();
  for (std::size_t i = 0; i < f.data.lanes.size(); ++i) {
    const TimelineLane& lane = f.data.lanes[i];
    if (!f.lane_shown(i) || lane.spans.empty()) continue;
    const PlotReference::LaneEnd* const theirs = end_of(*ends, i, lane.label);
    if (!theirs || !std::isfinite(theirs->last_s)) continue;
    const double ours = lane_last_s(f, i);
    if (std::abs(ours - theirs->last_s) <= 1e-9 * std::max(std::abs(ours), std::abs(theirs->last_s))) continue;
    const float x = f.viewport.x_of_s(theirs->last_s);
    if (!(x >= f.lanes.min.x) || !(x <= f.lanes.max.x)) continue;
    const std::size_t rows = f.index.lanes[i].rows.size(), folded = f.view.scratch.lanes[i].wrappers;
    const float top = f.row_top(i, folded), height = f.row_step_px * static_cast<float>(rows - folded);
    painter.dashed_line({x, top}, {x, top + height}, t.accent, t.px(2), t.px(3));
    const float width = text_size("A", Type::small, Font::bold).x, out = t.px(4);
    const bool left = x + 2 * out + width > f.lanes.max.x;
    const ImVec2 at{left ? x - out - width : x + out, top + (f.row_px - t.type(Type::small)) / 2};
    painter.rect({at.x - t.px(2), at.y - t.px(1)}, {at.x + width + t.px(2), at.y + t.type(Type::small) + t.px(1)},
                 t.panel, t.px(2));
    painter.text(at, "A", t.accent, Type::small, Font::bold);
  }
}

}  // namespace widgets
