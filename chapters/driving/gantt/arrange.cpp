#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/driving/gantt/lab.h"
#include "widgets/number/number.h"

namespace chapters::driving::gantt {
namespace {

using models::GraphSchedule, models::TaskGraph, widgets::format_text, widgets::Tint;

std::uint32_t add_name(Picture& picture, widgets::SpanName name) {
  picture.names.push_back(std::move(name));
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
    const auto add = [&](std::int64_t from, std::int64_t to, widgets::SpanName name, widgets::TimelineMark mark) {
      name.duration_ns = to - from;
      frames.push_back({from, to - from, add_name(picture, std::move(name)), depth, Tint(), mark});
    };
    if (in_time > frame.release_ns)
      add(frame.release_ns, in_time, {{number + ": " + latency, latency, number}, 0, "from arrival to its last result"},
          widgets::TimelineMark::solid);
    if (frame.finish_ns > due) {
      const std::string late = format_text(seconds(frame.finish_ns - due), "s");
      add(due, frame.finish_ns, {{late + " late", late, "late"}, 0, "after the deadline"},
          widgets::TimelineMark::hatched);
    } else if (frame.finish_ns < due) {
      const double slack_s = seconds(due - frame.finish_ns);
      add(frame.finish_ns, due,
          {{format_text(slack_s, "s") + " slack", std::string(widgets::format(slack_s, "s", 2).view()),
            std::string(widgets::format_parts(slack_s, "s", 2).number.view())},
           0,
           "slack: left for jitter"},
          widgets::TimelineMark::callout);
    }
  }
  return frames;
}

/// What a task of the graph is called: its whole name, or its short one where it has one; less would be a riddle. Its
/// first tasks are those of the inputs; copies of encoders follow them.
std::array<std::string, 4> names_of(const Inputs& in, const TaskGraph& graph, std::size_t task) {
  const std::string& name = graph.tasks[task].name;
  const bool shortened = task < in.tasks.size() && !in.tasks[task].short_name.empty();
  return {name, shortened ? in.tasks[task].short_name : ""};
}

/// One lane for each resource in use, from the camera to the plan, one row a unit.
/// `lanes_before`: those that stand above these in the picture.
void add_resource_lanes(const Inputs& in, Picture& picture, const ScheduledStack& stack, std::size_t lanes_before,
                        Lanes& lanes) {
  const TaskGraph& graph = stack.graph;
  const GraphSchedule& s = stack.schedule;
  std::vector<bool> critical(s.segments.size(), false);
  std::vector<widgets::TimelineStep> place_of(s.segments.size(), {UINT32_MAX, 0});
  for (std::size_t f = 0; f < stack.chains.size(); ++f)
    for (const std::size_t i : stack.chains[f])
      if (s.segments[i].frame == f) critical[i] = true;
  constexpr std::array<std::size_t, models::stack_resource_count> from_camera_to_plan{3, 1, 2, 0};
  for (const std::size_t r : from_camera_to_plan) {
    std::vector<widgets::TimelineSpan> spans;
    for (std::size_t i = 0; i < s.segments.size(); ++i) {
      const auto& g = s.segments[i];
      const models::GraphTask& task = graph.tasks[g.task];
      if (task.resource != r || g.end_ns == g.start_ns) continue;
      place_of[i] = {static_cast<std::uint32_t>(lanes_before + lanes.spans.size()),
                     static_cast<std::uint32_t>(spans.size())};
      widgets::SpanName name{names_of(in, graph, g.task), g.end_ns - g.start_ns,
                             task.name + ": " + format_text(seconds(task.duration_ns), "s") +
                                 (critical[i] ? ", on the critical path of its frame" : ", not on the critical path")};
      spans.push_back({g.start_ns, g.end_ns - g.start_ns, add_name(picture, std::move(name)),
                       static_cast<std::uint16_t>(g.unit), Tint::series(r),
                       critical[i] ? widgets::TimelineMark::solid : widgets::TimelineMark::pale});
    }
    if (spans.empty()) continue;
    lanes.labels.push_back(graph.resources[r].name);
    lanes.spans.push_back(std::move(spans));
  }
  if (stack.chains.empty()) return;
  for (const std::size_t i : stack.chains[0])
    if (place_of[i].lane != UINT32_MAX) lanes.thread.push_back(place_of[i]);
}

/// Frames with their slack or delay on top, then one lane a resource in use, one row a unit.
Lanes lanes_of(const Inputs& in, Picture& picture, const ScheduledStack& stack, std::int64_t deadline_ns,
               std::size_t lanes_before, std::string_view when) {
  Lanes lanes;
  lanes.labels.emplace_back(when);
  lanes.folded_label = std::string(when) + " \xE2\x80\xA6";
  lanes.spans.push_back(frame_spans(picture, stack.schedule, deadline_ns));
  add_resource_lanes(in, picture, stack, lanes_before, lanes);
  return lanes;
}

bool same_schedule(const ScheduledStack& a, const ScheduledStack& b) {
  const auto same = [](const models::GraphSegment& x, const models::GraphSegment& y) {
    return x.start_ns == y.start_ns && x.end_ns == y.end_ns && x.frame == y.frame && x.task == y.task &&
           x.unit == y.unit;
  };
  return std::equal(a.schedule.segments.begin(), a.schedule.segments.end(), b.schedule.segments.begin(),
                    b.schedule.segments.end(), same);
}

/// The change that saves most by `saving_s`, among those that `counts` admits; null where none saves.
template <class Saving, class Counts>
const ChangeRow* best_change(const Outputs& out, const Saving& saving_s, const Counts& counts) {
  const ChangeRow* best = nullptr;
  for (std::size_t i = 0; i < out.changes.size(); ++i) {
    const ChangeRow& row = out.changes[i];
    if (counts(static_cast<Change>(i), row.on) && saving_s(row) < (best ? saving_s(*best) : -1e-9)) best = &row;
  }
  return best;
}

/// Did a change that is on, other than those of the stack as found, make the frame sooner done, or later?
bool moved(const Outputs& out) { return std::abs(out.saved_s) > 1e-9; }

/// A task's name within a sentence, at most 30 bytes and whole letters of it.
std::string short_name(std::string name) {
  constexpr std::size_t longest = 30;
  if (name.size() <= longest) return name;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end) + "\xE2\x80\xA6";
}

/// The result that is ready before the frame ends, where there is one: "Planning is ready after `16 ms`".
std::string early_result(const Outputs& out, const TaskGraph& graph) {
  std::vector<bool> awaited(graph.tasks.size(), false);
  std::size_t last = 0, early = graph.tasks.size();
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    for (const std::size_t before : graph.tasks[i].after) awaited[before] = true;
    if (out.tasks[i].finish_s > out.tasks[last].finish_s) last = i;
  }
  for (std::size_t i = 0; i < graph.tasks.size(); ++i)
    if (!awaited[i] && i != last && (early == graph.tasks.size() || out.tasks[i].finish_s > out.tasks[early].finish_s))
      early = i;
  if (early == graph.tasks.size() || out.tasks[early].finish_s > out.tasks[last].finish_s - 1e-9) return {};
  return short_name(graph.tasks[early].name) + " is ready after " + widgets::figure(out.tasks[early].finish_s, "s") +
         ", and the frame ends with " + short_name(graph.tasks[last].name) + ".";
}

/// The first line: how long a frame takes, next to what it took and to when it is due.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string now = widgets::figure(out.latency_s, "s"), found = widgets::figure(out.before_s, "s"),
                    due = widgets::figure(out.deadline_s, "s");
  if (out.saved_s < -1e-9)
    return "With the changes switched on a frame takes longer, " + now + " instead of " + found + ", and is due in " +
           due + ".";
  if (out.slack_s < 0 && out.keeps_up)
    return std::string(in.pipelining ? "Pipelining" : "The stack") + " keeps up with the camera, but " +
           (out.worst_latency_s > out.latency_s + 1e-9
                ? "frames take " + now + " to " + widgets::figure(out.worst_latency_s, "s") + " and are due in "
                : "each frame takes " + now + " and is due in ") +
           due + ".";
  if (out.slack_s < 0)
    return "A frame takes " + now + " but one arrives every " + due + ", so each waits longer than the one before.";
  if (out.missed_frames > 0)
    return "A single frame takes " + now + " of " + due + ", but with others before it " +
           widgets::figure(static_cast<double>(out.missed_frames), "") + " of " +
           widgets::figure(static_cast<double>(in.frames), "") + (out.missed_frames == 1 ? " is late." : " are late.");
  if (!moved(out))
    return "A frame takes " + now + " as found and is ready " + widgets::figure(out.slack_s, "s") + " early.";
  return "With the changes switched on a frame takes " + now + ", not " + found + ", and is ready " +
         widgets::figure(out.slack_s, "s") + " early.";
}

/// A change's name within a sentence: "parallel heads", "INT8".
std::string within_sentence(std::string name) {
  if (name.size() > 1 && name[1] >= 'a' && name[0] <= 'Z') name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return name;
}

/// The second line: the change that saves most, or that would, or the result that is ready before the frame ends.
std::string reason_of(const Outputs& out, const TaskGraph& graph) {
  if (out.saved_s < -1e-9)
    return std::all_of(out.tasks.begin(), out.tasks.end(), [](const TaskRow& r) { return r.now_s <= r.before_s; })
               ? "No task takes longer than before: they only start in another order."
               : "Some tasks take longer with the changes than without.";
  const auto alone = [](const ChangeRow& r) { return r.alone_s; };
  const auto on_top = [](const ChangeRow& r) { return r.on_top_s; };
  // The stack as found has its shared backbone already, so that it is no part of what was saved since.
  const ChangeRow* most =
      best_change(out, alone, [](Change change, bool on) { return on && change != Change::shared_backbone; });
  const ChangeRow* next = best_change(out, on_top, [](Change, bool on) { return !on; });
  if (out.slack_s >= 0 && out.missed_frames == 0 && moved(out)) {
    if (const std::string early = early_result(out, graph); !early.empty()) return early;
    if (most)
      return "Largest saving: " + within_sentence(most->name) + ", " + widgets::figure(-most->alone_s, "s") +
             " by itself.";
  }
  if (!next) return "None of the changes that are off would save time.";
  return "Largest saving left: " + within_sentence(next->name) + ", " + widgets::figure(-next->on_top_s, "s") + ".";
}

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  return verdict_of(in, out) + "\n" + reason_of(out, run.changed.graph);
}

void arrange_changes(const Outputs& out, Picture& picture) {
  for (const ChangeRow& row : out.changes) picture.change_names.push_back(row.name + (row.on ? " (on)" : ""));
  const auto span = [](double change_s) {
    if (!std::isfinite(change_s)) return widgets::TornadoSpan{};
    return widgets::TornadoSpan{std::min(0.0, change_s), std::max(0.0, change_s)};
  };
  for (std::size_t i = 0; i < out.changes.size(); ++i)
    picture.changes.push_back({
        .label = picture.change_names[i],
        .alone = span(out.changes[i].alone_s),
        .on_top = span(out.changes[i].on_top_s),
        .info = static_cast<Change>(i) == Change::pipelining ? "raises the rate; no frame is sooner done"
                                                             : "latency of a frame that finds the machine empty",
    });
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (!out.reason.empty()) return picture;
  const std::int64_t period_ns = period_ns_of(in.rate_hz);
  picture.changed = !same_schedule(run.found, run.changed);
  if (picture.changed) picture.before = lanes_of(in, picture, run.found, period_ns, 0, "as found");
  picture.now =
      lanes_of(in, picture, run.changed, period_ns, picture.before.spans.size(), picture.changed ? "now" : "as found");
  for (const models::GraphFrame& frame : run.changed.schedule.frames)
    picture.deadlines_s.push_back(seconds(frame.release_ns + period_ns));
  picture.doors = doors_of(in, out);
  picture.answer = answer_of(in, out, run);
  arrange_changes(out, picture);
  return picture;
}

}  // namespace chapters::driving::gantt
