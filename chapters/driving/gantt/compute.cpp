#include <algorithm>

#include "chapters/driving/gantt/lab.h"
#include "widgets/number/number.h"

namespace chapters::driving::gantt {
namespace {

using models::GraphSchedule;
using models::TaskGraph;
using widgets::format_text;
using widgets::Tint;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
std::uint32_t keep(Outputs& out, std::string name, std::string info) {
  out.names.push_back(std::move(name));
  out.infos.push_back(std::move(info));
  return static_cast<std::uint32_t>(out.names.size() - 1);
}

/// Frames with their slack or delay on top, then one lane a resource in use, one row a unit.
Lanes lanes_of(Outputs& out, const TaskGraph& graph, const GraphSchedule& s, std::int64_t deadline_ns,
               std::string_view when) {
  Lanes lanes;
  std::vector<widgets::TimelineSpan> frames;
  std::vector<std::int64_t> row_free;  // a frame's lane is taken until it has ended and its deadline has passed
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
                        keep(out, number + ": " + latency, "from arrival to plan"), depth, Tint::series(2),
                        widgets::TimelineMark::solid});
    if (frame.finish_ns > due)
      frames.push_back({due, frame.finish_ns - due,
                        keep(out, format_text(seconds(frame.finish_ns - due), "s") + " late", "after the deadline"),
                        depth, widgets::Meaning::memory_bound, widgets::TimelineMark::hatched});
    else if (frame.finish_ns < due)
      frames.push_back({frame.finish_ns, due - frame.finish_ns,
                        keep(out, std::string(widgets::format(seconds(due - frame.finish_ns), "s", 2).view()),
                             "slack: left for jitter"),
                        depth, Tint::series(2), widgets::TimelineMark::callout});
  }
  lanes.labels.emplace_back(when);
  lanes.sublabels.emplace_back("frames");
  lanes.spans.push_back(std::move(frames));

  std::vector<bool> critical(s.segments.size(), false);
  for (std::size_t f = 0; f < s.frames.size(); ++f)
    for (const std::size_t i : models::critical_chain(graph, s, f))
      if (s.segments[i].frame == f) critical[i] = true;
  const std::size_t n = graph.tasks.size();
  std::vector<std::uint32_t> plain(n), marked(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string took = graph.tasks[i].name + ": " + format_text(seconds(graph.tasks[i].duration_ns), "s");
    plain[i] = keep(out, graph.tasks[i].name, took + ", not on the critical path");
    marked[i] = keep(out, graph.tasks[i].name, took + ", on the critical path of its frame");
  }
  constexpr std::array<std::size_t, models::stack_resource_count> from_camera_to_plan{3, 1, 2, 0};
  for (const std::size_t r : from_camera_to_plan) {
    std::vector<widgets::TimelineSpan> spans;
    for (std::size_t i = 0; i < s.segments.size(); ++i) {
      const auto& g = s.segments[i];
      if (graph.tasks[g.task].resource != r || g.end_ns == g.start_ns) continue;
      spans.push_back({g.start_ns, g.end_ns - g.start_ns, critical[i] ? marked[g.task] : plain[g.task],
                       static_cast<std::uint16_t>(g.unit), Tint::series(g.task),
                       critical[i] ? widgets::TimelineMark::solid : widgets::TimelineMark::pale});
    }
    if (spans.empty()) continue;
    lanes.labels.push_back(graph.resources[r].name);
    lanes.sublabels.emplace_back();
    lanes.spans.push_back(std::move(spans));
  }
  return lanes;
}

std::string chain_text(const TaskGraph& graph, const GraphSchedule& s, const std::vector<std::size_t>& chain) {
  std::string out;
  std::size_t last = graph.tasks.size();
  for (const std::size_t i : chain) {
    const std::size_t task = s.segments[i].task;
    if (task == last) continue;  // went on after it was preempted
    last = task;
    out.append(out.empty() ? "" : ", ")
        .append(graph.tasks[task].name)
        .append(" ")
        .append(format_text(seconds(graph.tasks[task].duration_ns), "s"));
  }
  return out;
}

void fill_tables(const Inputs& in, const TaskGraph& found, const TaskGraph& graph, const GraphSchedule& s,
                 const std::vector<std::size_t>& chain, Outputs& out) {
  const std::size_t n = graph.tasks.size();
  const auto room = models::task_float_ns(graph, s, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& job = s.jobs[i];
    const bool critical =
        std::any_of(chain.begin(), chain.end(), [&](std::size_t c) { return s.segments[c].task == i; });
    out.tasks.push_back({graph.tasks[i].name, graph.resources[graph.tasks[i].resource].name,
                         i < found.tasks.size() ? seconds(found.tasks[i].duration_ns) : 0,
                         seconds(graph.tasks[i].duration_ns), seconds(job.start_ns), seconds(job.finish_ns),
                         seconds(room[i]), critical});
  }
  const auto work = models::work_per_unit_ns(graph);
  std::vector<double> busy_ns(work.size(), 0);
  for (const auto& g : s.segments) busy_ns[graph.tasks[g.task].resource] += static_cast<double>(g.end_ns - g.start_ns);
  for (std::size_t r = 0; r < work.size(); ++r) {
    const auto units = graph.resources[r].units;
    const double window = static_cast<double>(s.makespan_ns) * static_cast<double>(std::max<std::int64_t>(1, units));
    out.resources.push_back({graph.resources[r].name, units, work[r] * 1e-9, 100 * work[r] * 1e-9 * in.rate_hz,
                             window > 0 ? 100 * busy_ns[r] / window : 0});
  }
  const auto top = static_cast<std::size_t>(std::max_element(work.begin(), work.end()) - work.begin());
  out.busiest = graph.resources[top].name;
  out.busiest_s = work[top] * 1e-9;
  out.cpu_demand = out.resources[0].demand;
  out.gpu_demand = out.resources[1].demand;
  out.dla_demand = out.resources[2].demand;
  out.isp_demand = out.resources[3].demand;
}

void tell(const Inputs& in, Outputs& out) {
  const std::string latency = format_text(out.latency_s, "s"), before = format_text(out.before_s, "s"),
                    deadline = format_text(out.deadline_s, "s");
  out.verdict = before + " as found, " + latency + " now; due in " + deadline +
                (out.deadline_met  ? ", met with " + format_text(out.slack_s, "s") + " to spare"
                 : out.slack_s < 0 ? ", missed by " + format_text(-out.slack_s, "s")
                                   : ", met by the first frame and missed by " + std::to_string(out.missed_frames) +
                                         " of " + std::to_string(in.frames));
  out.story = "At most " + format_text(out.throughput_hz, "Hz") + " (" + format_text(out.before_throughput_hz, "Hz") +
              " as found); the busiest resource is " + out.busiest + " with " + format_text(out.busiest_s, "s") +
              " a frame.";
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const auto refuse = [&](const std::string& why) {
    Outputs bad;
    bad.reason = why;
    return bad;
  };
  const std::array<std::int64_t, models::stack_resource_count> units{in.cpu, in.gpu, in.dla, in.isp};
  const std::vector<models::StackTask> stack(in.tasks.begin(), in.tasks.end());
  models::StackChanges none = in.changes;
  none.engine = none.tuned_code = none.temporal_fusion = none.sparse = none.parallel_heads = none.int8 = false;
  const auto found = models::stack_graph(stack, units, none), graph = models::stack_graph(stack, units, in.changes);
  if (!found || !graph) return refuse(!found ? found.error : graph.error);
  out.deadline_s = 1 / in.rate_hz;
  const std::int64_t period_ns = static_cast<std::int64_t>(out.deadline_s * 1e9 + 0.5);
  const models::GraphOptions plain{.frames = in.frames, .period_ns = period_ns}, options{
                                                                                     .frames = in.frames,
                                                                                     .period_ns = period_ns,
                                                                                     .pipelined = in.pipelining,
                                                                                     .preemptive = in.preemptive,
                                                                                 };
  const auto before = models::schedule_frames(*found, plain), now = models::schedule_frames(*graph, options);
  if (!before || !now) return refuse(!before ? before.error : now.error);
  models::GraphOptions lone = options;
  lone.frames = 1;
  const auto first = models::schedule_frames(*graph, lone);
  const auto sustained = models::sustained_rate_hz(*graph, options),
             sustained_before = models::sustained_rate_hz(*found, plain);
  if (!first || !sustained || !sustained_before) return refuse("The schedule could not be made.");
  if (first->makespan_ns == 0 || before->makespan_ns == 0)
    return refuse("All tasks together take no time: give one of them a time above 0.");
  out.before_s = seconds(before->frames[0].latency_ns());
  out.latency_s = seconds(first->makespan_ns);
  out.saved_s = out.before_s - out.latency_s;
  out.speedup = out.before_s / out.latency_s;
  out.slack_s = out.deadline_s - out.latency_s;
  out.throughput_hz = *sustained;
  out.before_throughput_hz = *sustained_before;
  out.keeps_up = out.throughput_hz >= in.rate_hz * (1 - 1e-9);
  out.preemptions = now->preemptions;
  out.critical_path_s = seconds(models::critical_path_ns(*graph));
  for (std::size_t f = 0; f < now->frames.size(); ++f) {
    const auto& frame = now->frames[f];
    const bool met = frame.latency_ns() <= period_ns;
    out.frames.push_back({static_cast<std::int64_t>(f + 1), seconds(frame.release_ns), seconds(frame.finish_ns),
                          seconds(frame.latency_ns()), seconds(period_ns - frame.latency_ns()), met});
    out.worst_latency_s = std::max(out.worst_latency_s, seconds(frame.latency_ns()));
    out.missed_frames += !met;
    out.deadlines_s.push_back(seconds(frame.release_ns + period_ns));
  }
  out.deadline_met = out.missed_frames == 0;
  const auto chain = models::critical_chain(*graph, *first, 0);
  out.critical_path = chain_text(*graph, *first, chain);
  fill_tables(in, *found, *graph, *first, chain, out);
  for (std::size_t r = 0; r < out.resources.size(); ++r) {  // busy over all the frames shown, not over the lone one
    double busy_ns = 0;
    for (const auto& g : now->segments)
      busy_ns += graph->tasks[g.task].resource == r ? static_cast<double>(g.end_ns - g.start_ns) : 0;
    out.resources[r].busy =
        100 * busy_ns / static_cast<double>(now->makespan_ns * std::max<std::int64_t>(1, out.resources[r].units));
  }
  out.before = lanes_of(out, *found, *before, period_ns, "as found");
  out.now = lanes_of(out, *graph, *now, period_ns, "now");
  tell(in, out);
  widgets::Fingerprint mark;
  for (const auto& row : out.tasks)
    mark.add(row.name), mark.add(row.now_s), mark.add(row.start_s), mark.add(row.finish_s);
  for (const auto& row : out.resources) mark.add(row.demand), mark.add(row.busy);
  for (const auto& row : out.frames) mark.add(row.finish_s), mark.add(row.release_s);
  out.revision = mark.value;
  return out;
}

}  // namespace chapters::driving::gantt
