#include <algorithm>
#include <limits>

#include "chapters/driving/gantt/lab.h"
#include "widgets/number/number.h"

namespace chapters::driving::gantt {
namespace {

using models::GraphSchedule, models::TaskGraph, widgets::format_text;

/// As found: every change off. A shared backbone stays as it is set.
models::StackChanges none_of(models::StackChanges changes) {
  changes.engine = changes.tuned_code = changes.temporal_fusion = changes.sparse = changes.parallel_heads =
      changes.int8 = false;
  return changes;
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

/// Room and critical path are those of `s`, the schedule of a lone frame, whose critical chain is `chain`.
void fill_tasks(const TaskGraph& found, const TaskGraph& graph, const GraphSchedule& s,
                const std::vector<std::size_t>& chain, Outputs& out) {
  const auto room = models::task_float_ns(graph, s, 0);
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const auto& job = s.jobs[i];
    out.tasks.push_back({
        .name = graph.tasks[i].name,
        .resource = static_cast<models::StackResource>(graph.tasks[i].resource),
        .before_s = i < found.tasks.size() ? seconds(found.tasks[i].duration_ns) : 0,
        .now_s = seconds(graph.tasks[i].duration_ns),
        .start_s = seconds(job.start_ns),
        .finish_s = seconds(job.finish_ns),
        .float_s = seconds(room[i]),
        .critical = std::any_of(chain.begin(), chain.end(), [&](std::size_t c) { return s.segments[c].task == i; }),
    });
  }
}

/// Share of a resource's units that work until the schedule ends, %.
double busy_percent(const TaskGraph& graph, const GraphSchedule& s, std::size_t resource) {
  double busy_ns = 0;
  for (const auto& g : s.segments)
    if (graph.tasks[g.task].resource == resource) busy_ns += static_cast<double>(g.end_ns - g.start_ns);
  const std::int64_t units = std::max<std::int64_t>(1, graph.resources[resource].units);
  return 100 * busy_ns / static_cast<double>(s.makespan_ns * units);
}

void fill_resources(const Inputs& in, const TaskGraph& graph, const GraphSchedule& s, Outputs& out) {
  const auto work = models::work_per_unit_ns(graph);
  for (std::size_t r = 0; r < work.size(); ++r) {
    out.demand[r] = 100 * work[r] * 1e-9 * in.rate_hz;
    out.resources.push_back({
        .name = graph.resources[r].name,
        .units = graph.resources[r].units,
        .work_s = work[r] * 1e-9,
        .demand = out.demand[r],
        .busy = busy_percent(graph, s, r),
    });
  }
  const auto top = static_cast<std::size_t>(std::max_element(work.begin(), work.end()) - work.begin());
  out.busiest = graph.resources[top].name;
  out.busiest_s = work[top] * 1e-9;
}

void fill_frames(const GraphSchedule& s, std::int64_t period_ns, Outputs& out) {
  for (std::size_t f = 0; f < s.frames.size(); ++f) {
    const auto& frame = s.frames[f];
    const bool met = frame.latency_ns() <= period_ns;
    out.frames.push_back({
        .frame = static_cast<std::int64_t>(f + 1),
        .release_s = seconds(frame.release_ns),
        .finish_s = seconds(frame.finish_ns),
        .latency_s = seconds(frame.latency_ns()),
        .slack_s = seconds(period_ns - frame.latency_ns()),
        .met = met,
    });
    out.worst_latency_s = std::max(out.worst_latency_s, seconds(frame.latency_ns()));
    out.missed_frames += !met;
  }
  out.deadline_met = out.missed_frames == 0;
}

/// A switch of the lab: its name, and where it stands in the Inputs; in the order of Change.
struct Switch {
  std::string_view name;
  bool& (*of)(Inputs&);
};
constexpr std::array<Switch, change_count> switches{{
    {"Engine compilation", [](Inputs& in) -> bool& { return in.changes.engine; }},
    {"Tuned code", [](Inputs& in) -> bool& { return in.changes.tuned_code; }},
    {"Shared backbone", [](Inputs& in) -> bool& { return in.changes.shared_backbone; }},
    {"Parallel heads", [](Inputs& in) -> bool& { return in.changes.parallel_heads; }},
    {"Temporal fusion", [](Inputs& in) -> bool& { return in.changes.temporal_fusion; }},
    {"Sparse compute", [](Inputs& in) -> bool& { return in.changes.sparse; }},
    {"INT8", [](Inputs& in) -> bool& { return in.changes.int8; }},
    {"Pipelining", [](Inputs& in) -> bool& { return in.pipelining; }},
    {"Preemption", [](Inputs& in) -> bool& { return in.preemptive; }},
}};

/// Latency of a lone frame, s; NaN where there is no schedule.
double lone_latency_s(const Inputs& in) {
  const auto graph = models::stack_graph(in.tasks, {in.cpu, in.gpu, in.dla, in.isp}, in.changes);
  if (!graph) return std::numeric_limits<double>::quiet_NaN();
  const auto s = models::schedule_frames(
      *graph,
      {.frames = 1, .period_ns = period_ns_of(in.rate_hz), .pipelined = in.pipelining, .preemptive = in.preemptive});
  return s ? seconds(s->makespan_ns) : std::numeric_limits<double>::quiet_NaN();
}

/// What each switch saves, from the stack as found and on top of those that are on.
void fill_changes(const Inputs& in, Outputs& out) {
  Inputs found = in;
  found.changes = none_of(in.changes);
  found.pipelining = found.preemptive = false;
  for (const Switch& change : switches) {
    const auto effect_s = [&](Inputs state) {
      change.of(state) = false;
      const double without_s = lone_latency_s(state);
      change.of(state) = true;
      return lone_latency_s(state) - without_s;
    };
    Inputs now = in;
    out.changes.push_back({
        .name = std::string(change.name),
        .on = change.of(now),
        .alone_s = effect_s(found),
        .on_top_s = effect_s(in),
    });
  }
}

/// What the latency is measured to, and which other results, for which nobody waits, are ready before.
std::string ends_with(const TaskGraph& graph, const GraphSchedule& s) {
  std::vector<bool> awaited(graph.tasks.size(), false);
  std::size_t last = 0;
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    for (const std::size_t before : graph.tasks[i].after) awaited[before] = true;
    if (s.jobs[i].finish_ns > s.jobs[last].finish_ns) last = i;
  }
  std::string out = graph.tasks[last].name;
  for (std::size_t i = 0; i < graph.tasks.size(); ++i)
    if (!awaited[i] && s.jobs[i].finish_ns < s.jobs[last].finish_ns)
      out += "; " + graph.tasks[i].name + " is ready after " + format_text(seconds(s.jobs[i].finish_ns), "s");
  return out;
}

/// A lone frame as found, but for these changes.
double found_but_s(const Inputs& in, bool engine, bool tuned_code) {
  Inputs state = in;
  state.changes = none_of(in.changes);
  state.pipelining = state.preemptive = false;
  state.changes.engine = engine;
  state.changes.tuned_code = tuned_code;
  return lone_latency_s(state);
}

ScheduledStack scheduled(const TaskGraph& graph, const GraphSchedule& schedule) {
  ScheduledStack out{graph, schedule, {}};
  for (std::size_t f = 0; f < schedule.frames.size(); ++f)
    out.chains.push_back(models::critical_chain(graph, schedule, f));
  return out;
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  Outputs out;
  const std::array<std::int64_t, models::stack_resource_count> units{in.cpu, in.gpu, in.dla, in.isp};
  const models::StackChanges none = none_of(in.changes);
  const auto found = models::stack_graph(in.tasks, units, none),
             graph = models::stack_graph(in.tasks, units, in.changes);
  if (!found || !graph) return {{.reason = !found ? found.error : graph.error}};
  out.deadline_s = 1 / in.rate_hz;
  const std::int64_t period_ns = period_ns_of(in.rate_hz);
  const models::GraphOptions plain{.frames = in.frames, .period_ns = period_ns};
  const models::GraphOptions options{
      .frames = in.frames,
      .period_ns = period_ns,
      .pipelined = in.pipelining,
      .preemptive = in.preemptive,
  };
  const auto before = models::schedule_frames(*found, plain), now = models::schedule_frames(*graph, options);
  if (!before || !now) return {{.reason = !before ? before.error : now.error}};
  models::GraphOptions lone = options;
  lone.frames = 1;
  const auto first = models::schedule_frames(*graph, lone);
  const auto sustained = models::sustained_rate_hz(*graph, options),
             sustained_before = models::sustained_rate_hz(*found, plain);
  if (!first || !sustained || !sustained_before) return {{.reason = "The schedule could not be made."}};
  if (first->makespan_ns == 0 || before->makespan_ns == 0)
    return {{.reason = "All tasks together take no time: give one of them a time above 0."}};
  out.before_s = seconds(before->frames[0].latency_ns());
  out.latency_s = seconds(first->makespan_ns);
  out.saved_s = out.before_s - out.latency_s;
  out.engine_s = found_but_s(in, true, false);
  out.tuned_s = found_but_s(in, true, true);
  out.ends_with = ends_with(*graph, *first);
  out.speedup = out.before_s / out.latency_s;
  out.slack_s = out.deadline_s - out.latency_s;
  out.throughput_hz = *sustained;
  out.before_throughput_hz = *sustained_before;
  out.keeps_up = out.throughput_hz >= in.rate_hz * (1 - 1e-9);
  out.preemptions = now->preemptions;
  out.critical_path_s = seconds(models::critical_path_ns(*graph));
  fill_frames(*now, period_ns, out);
  const auto chain = models::critical_chain(*graph, *first, 0);
  out.critical_path = chain_text(*graph, *first, chain);
  fill_tasks(*found, *graph, *first, chain, out);
  fill_resources(in, *graph, *now, out);
  fill_changes(in, out);
  if (progress.facts_alone) return {std::move(out)};
  return {std::move(out), std::make_shared<const Run>(Run{scheduled(*found, *before), scheduled(*graph, *now)})};
}

}  // namespace chapters::driving::gantt
