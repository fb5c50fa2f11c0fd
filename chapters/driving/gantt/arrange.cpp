#include <algorithm>
#include <array>

#include "chapters/driving/gantt/lab.h"
#include "widgets/number/number.h"

namespace chapters::driving::gantt {
namespace {

using models::GraphSchedule;
using models::TaskGraph;
using widgets::format_text;
using widgets::Tint;

std::uint32_t add_name(Picture& picture, std::string name, std::string info) {
  picture.names.push_back(std::move(name));
  picture.infos.push_back(std::move(info));
  return static_cast<std::uint32_t>(picture.names.size() - 1);
}

/// Each frame until it ends or is due, then its delay or its slack. A frame's row is taken until it has ended and its
/// deadline has passed.
std::vector<widgets::TimelineSpan> frame_spans(Picture& picture, const GraphSchedule& s, std::int64_t deadline_ns) {
  std::vector<widgets::TimelineSpan> frames;
  std::vector<std::int64_t> row_free;
  for (std::size_t f = 0; f < s.frames.size(); ++f) {
    const auto& frame = s.frames[f];
    const std::int64_t due = frame.release_ns + deadline_ns, in_time = std::min(frame.finish_ns, due);
    std::size_t row = 0;
    while (row < row_free.size() && row_free[row] > frame.release_ns) ++row;
    if (row == row_free.size()) row_free.push_back(0);
    row_free[row] = std::max(frame.finish_ns, due);
    const auto depth = static_cast<std::uint16_t>(row);
    const std::string number = std::to_string(f + 1), latency = format_text(seconds(frame.latency_ns()), "s");
    if (in_time > frame.release_ns)
      frames.push_back({frame.release_ns, in_time - frame.release_ns,
                        add_name(picture, number + ": " + latency, "from arrival to plan"), depth, Tint::series(2),
                        widgets::TimelineMark::solid});
    if (frame.finish_ns > due)
      frames.push_back(
          {due, frame.finish_ns - due,
           add_name(picture, format_text(seconds(frame.finish_ns - due), "s") + " late", "after the deadline"), depth,
           widgets::Meaning::memory_bound, widgets::TimelineMark::hatched});
    else if (frame.finish_ns < due)
      frames.push_back({frame.finish_ns, due - frame.finish_ns,
                        add_name(picture, std::string(widgets::format(seconds(due - frame.finish_ns), "s", 2).view()),
                                 "slack: left for jitter"),
                        depth, Tint::series(2), widgets::TimelineMark::callout});
  }
  return frames;
}

/// One lane for each resource in use, from the camera to the plan, one row a unit.
/// `lanes_before`: those that stand above these in the picture.
void add_resource_lanes(Picture& picture, const ScheduledStack& stack, std::size_t lanes_before, Lanes& lanes) {
  const TaskGraph& graph = stack.graph;
  const GraphSchedule& s = stack.schedule;
  std::vector<bool> critical(s.segments.size(), false);
  std::vector<widgets::TimelineStep> place_of(s.segments.size(), {UINT32_MAX, 0});
  for (std::size_t f = 0; f < s.frames.size(); ++f)
    for (const std::size_t i : models::critical_chain(graph, s, f))
      if (s.segments[i].frame == f) critical[i] = true;
  const std::size_t n = graph.tasks.size();
  std::vector<std::uint32_t> plain(n), marked(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string took = graph.tasks[i].name + ": " + format_text(seconds(graph.tasks[i].duration_ns), "s");
    plain[i] = add_name(picture, graph.tasks[i].name, took + ", not on the critical path");
    marked[i] = add_name(picture, graph.tasks[i].name, took + ", on the critical path of its frame");
  }
  constexpr std::array<std::size_t, models::stack_resource_count> from_camera_to_plan{3, 1, 2, 0};
  for (const std::size_t r : from_camera_to_plan) {
    std::vector<widgets::TimelineSpan> spans;
    for (std::size_t i = 0; i < s.segments.size(); ++i) {
      const auto& g = s.segments[i];
      if (graph.tasks[g.task].resource != r || g.end_ns == g.start_ns) continue;
      place_of[i] = {static_cast<std::uint32_t>(lanes_before + lanes.spans.size()),
                     static_cast<std::uint32_t>(spans.size())};
      spans.push_back({g.start_ns, g.end_ns - g.start_ns, critical[i] ? marked[g.task] : plain[g.task],
                       static_cast<std::uint16_t>(g.unit), Tint::series(g.task),
                       critical[i] ? widgets::TimelineMark::solid : widgets::TimelineMark::pale});
    }
    if (spans.empty()) continue;
    lanes.labels.push_back(graph.resources[r].name);
    lanes.sublabels.emplace_back();
    lanes.spans.push_back(std::move(spans));
  }
  if (s.frames.empty()) return;
  for (const std::size_t i : models::critical_chain(graph, s, 0))
    if (place_of[i].lane != UINT32_MAX) lanes.thread.push_back(place_of[i]);
}

/// Frames with their slack or delay on top, then one lane a resource in use, one row a unit.
Lanes lanes_of(Picture& picture, const ScheduledStack& stack, std::int64_t deadline_ns, std::size_t lanes_before,
               std::string_view when) {
  Lanes lanes;
  lanes.labels.emplace_back(when);
  lanes.sublabels.emplace_back("frames");
  lanes.spans.push_back(frame_spans(picture, stack.schedule, deadline_ns));
  add_resource_lanes(picture, stack, lanes_before, lanes);
  return lanes;
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string latency = format_text(out.latency_s, "s"), before = format_text(out.before_s, "s"),
                    deadline = format_text(out.deadline_s, "s");
  return before + " as found, " + latency + " now; due in " + deadline +
         (out.deadline_met  ? ", met with " + format_text(out.slack_s, "s") + " to spare"
          : out.slack_s < 0 ? ", missed by " + format_text(-out.slack_s, "s")
                            : ", met by the first frame and missed by " + std::to_string(out.missed_frames) + " of " +
                                  std::to_string(in.frames));
}

std::string story_of(const Outputs& out) {
  return "At most " + format_text(out.throughput_hz, "Hz") + " (" + format_text(out.before_throughput_hz, "Hz") +
         " as found); the busiest resource is " + out.busiest + " with " + format_text(out.busiest_s, "s") +
         " a frame.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture picture;
  if (!out.reason.empty()) return picture;
  const std::int64_t period_ns = period_ns_of(in.rate_hz);
  picture.before = lanes_of(picture, out.found, period_ns, 0, "as found");
  picture.now = lanes_of(picture, out.changed, period_ns, picture.before.spans.size(), "now");
  for (const models::GraphFrame& frame : out.changed.schedule.frames)
    picture.deadlines_s.push_back(seconds(frame.release_ns + period_ns));
  picture.verdict = verdict_of(in, out);
  picture.story = story_of(out);
  return picture;
}

}  // namespace chapters::driving::gantt
