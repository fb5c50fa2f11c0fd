#include <algorithm>
#include <cmath>

#include "chapters/framework/launch/lab.h"
#include "widgets/number/number.h"

namespace chapters::framework::launch {
namespace {

using models::LaunchEvent, widgets::figure, widgets::format_text, widgets::Meaning, widgets::TimelineMark,
    widgets::Tint;

Tint tint_of_group(models::OperationGroup group) {
  switch (group) {
    case models::OperationGroup::norm:
    case models::OperationGroup::residual:
      return Tint::series(1);
    case models::OperationGroup::attention:
      return Tint::series(3);
    default:
      return Meaning::forward;
  }
}

std::uint32_t name_of(Picture& p, std::int64_t duration_ns, std::string said, std::string brief, std::string info) {
  p.names.push_back({{std::move(said), std::move(brief)}, duration_ns, std::move(info)});
  return static_cast<std::uint32_t>(p.names.size() - 1);
}

/// Gaps of the device up to this time get a box; those between two kernels that were both there are too short for it.
void add_gap(Picture& p, Conveyors& c, std::int64_t from_ns, std::int64_t to_ns, std::int64_t between_ns) {
  if (to_ns - from_ns <= between_ns) return;
  const std::string took = format_text(static_cast<double>(to_ns - from_ns) * 1e-9, "s");
  c.device.push_back({from_ns, to_ns - from_ns,
                      name_of(p, to_ns - from_ns, took, std::to_string((to_ns - from_ns + 500) / 1000),
                              "idle: the next kernel had not been launched"),
                      0, Meaning::launch_bound, TimelineMark::hatched});
}

/// What the launches are for, over them: neighbours of one group are one span.
void add_group(Picture& p, Conveyors& c, std::int64_t from_ns, std::int64_t to_ns, models::OperationGroup group) {
  const std::string_view name = models::group_name(group);
  if (!c.groups.empty() && c.groups.back().end_ns() >= from_ns && p.names[c.groups.back().name].said[0] == name) {
    c.groups.back().duration_ns = to_ns - c.groups.back().start_ns;
    p.names[c.groups.back().name].duration_ns = c.groups.back().duration_ns;
    return;
  }
  c.groups.push_back({from_ns, to_ns - from_ns, name_of(p, to_ns - from_ns, std::string(name), "", "their launches"), 0,
                      Tint(), TimelineMark::callout});
}

/// The sums of the waits, and where each layer ends.
void add_sums(Picture& p, Conveyors& c, const ModeRun& m, const models::LaunchHost& host, models::LaunchMode mode,
              std::int64_t window_ns) {
  const std::int64_t zero = std::min(m.run.events.front().called_ns, m.run.origin_ns);
  std::int64_t idle_ns = 0;  // the waiting alone, not the kernels between
  for (const models::DryStretch& d : models::dry_stretches(m.list, m.run, host, mode, 1)) {
    const std::int64_t from = d.begin_ns - zero, took = d.end_ns - d.begin_ns;
    if (d.end_ns - zero > window_ns) break;
    idle_ns += d.idle_ns;
    const std::string idle = format_text(static_cast<double>(d.idle_ns) * 1e-9, "s"),
                      all = format_text(static_cast<double>(took) * 1e-9, "s");
    c.dry.push_back({from, took,
                     name_of(p, took, "idle " + idle + " of " + all, "idle " + idle,
                             format_text(static_cast<double>(d.kernels), "") +
                                 " kernels begin only when their launch arrives: of " + all + " the GPU idles " + idle),
                     0, Meaning::launch_bound, TimelineMark::callout});
  }
  if (20 * idle_ns < window_ns) c.dry.clear();  // too little to be a lane of its own
  c.is_dry = 2 * idle_ns >= window_ns;
  if (c.is_dry)
    c.pool_words = "empty: each kernel starts only when its launch arrives";
  else if (m.run.most_queued > 1)
    c.pool_words = "up to " + format_text(static_cast<double>(m.run.most_queued), "") + " kernels wait for the GPU";
  for (const std::int64_t end : models::layer_ends(m.list, m.run))
    if (end - zero <= window_ns) c.layer_ends_ns.push_back(end - zero);
  if (!c.layer_ends_ns.empty())
    c.dry_words = "layer 1 done at " + format_text(static_cast<double>(c.layer_ends_ns.front()) * 1e-9, "s");
}

/// The host's launch, named after what it launches.
void add_launch(Picture& p, Conveyors& c, const models::LaunchOperation& op, std::int64_t called, std::int64_t returned,
                std::int64_t window_ns, bool graph) {
  if (!graph) add_group(p, c, called, std::min(returned, window_ns), op.group);
  c.host.push_back({called, std::min(returned, window_ns) - called,
                    graph ? name_of(p, returned - called, "one launch of the graph", "graph", "all kernels of the step")
                          : name_of(p, returned - called, op.name, "", "a launch"),
                    0, Tint(), TimelineMark::solid});
}

/// How many wait, from the moments at which one comes or goes.
std::vector<widgets::TimelinePoint> queue_of(std::vector<std::pair<std::int64_t, int>> changes,
                                             std::int64_t window_ns) {
  std::vector<widgets::TimelinePoint> queue{{0, 0}};
  std::sort(changes.begin(), changes.end());
  double level = 0;
  for (const auto& [at, by] : changes) {
    level += by;
    if (at > window_ns) break;
    if (queue.back().time_ns == at)
      queue.back().value = level;
    else
      queue.push_back({at, level});
  }
  queue.push_back({window_ns, queue.back().value});
  return queue;
}

Conveyors conveyors_of(Picture& p, const ModeRun& m, std::int64_t window_ns, std::int64_t between_ns, bool graph) {
  Conveyors c;
  c.host_words = graph ? "one launch" : format_text(static_cast<double>(m.run.launches), "") + " launches";
  c.queue_words = "at most " + format_text(static_cast<double>(m.run.most_queued), "") + " wait";
  c.device_words = "idle " + format_text(m.figures.idle, "%");
  const auto& events = m.run.events;
  const std::int64_t zero = std::min(events.front().called_ns, m.run.origin_ns);
  if (m.run.origin_ns > zero)
    c.device.push_back({0, m.run.origin_ns - zero,
                        name_of(p, m.run.origin_ns - zero, "the step before", "before", "it is still at work"), 0,
                        Tint(), TimelineMark::pale});
  std::int64_t device_ns = m.run.origin_ns - zero, host_ns = -1;
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const LaunchEvent& e : events) {
    const auto& op =
        m.list.operations[static_cast<std::size_t>(m.list.kernels[static_cast<std::size_t>(e.kernel)].operation)];
    const std::int64_t called = e.called_ns - zero, returned = e.returned_ns - zero, start = e.start_ns - zero,
                       end = e.end_ns - zero;
    if (called < window_ns && called != host_ns) add_launch(p, c, op, called, returned, window_ns, graph);
    host_ns = called;
    if (returned < window_ns) {
      changes.emplace_back(returned, 1);
      changes.emplace_back(start, -1);
    }
    if (start < window_ns) {
      add_gap(p, c, device_ns, start, between_ns);
      const std::string took = format_text(static_cast<double>(end - start) * 1e-9, "s");
      c.device.push_back({start, std::min(end, window_ns) - start,
                          name_of(p, end - start, op.name, op.name.substr(0, op.name.find(' ')),
                                  took + ", " + std::string(models::group_name(op.group))),
                          0, tint_of_group(op.group), TimelineMark::solid});
    }
    device_ns = end;
    if (start >= window_ns && called >= window_ns) break;
  }
  c.queue = queue_of(std::move(changes), window_ns);
  return c;
}

/// The device of a GPU that is twice as fast, paler than the one that is asked for.
Conveyors faster_of(Picture& p, const ModeRun& m, const Outputs& out, std::int64_t window_ns, std::int64_t between_ns,
                    bool graph) {
  Conveyors c = conveyors_of(p, m, window_ns, between_ns, graph);
  c.host.clear();
  c.queue.clear();
  c.groups.clear();
  for (widgets::TimelineSpan& span : c.device)
    if (span.mark == TimelineMark::solid) span.mark = TimelineMark::pale;
  c.label = c.lane = "GPU twice as fast";
  c.device_words = "the step: " + format_text(out.twice, widgets::times_unit, 3);
  return c;
}

/// When the first layer is done, and a little more.
std::int64_t first_layer_ns(const ModeRun& m) {
  const std::int64_t zero = std::min(m.run.events.front().called_ns, m.run.origin_ns);
  std::int64_t end = m.run.events.back().end_ns;
  for (const LaunchEvent& e : m.run.events)
    if (m.list.kernels[static_cast<std::size_t>(e.kernel)].layer > 1) {
      end = e.start_ns;
      break;
    }
  return (end - zero) + (end - zero) / 20;
}

/// Names of a pair of conveyors; where the host waits is said where that differs.
void name_conveyors(Conveyors& c, const Inputs& in, models::LaunchMode mode, models::LaunchSync sync, bool hip) {
  constexpr std::array<std::string_view, models::launch_sync_count> waits{"never waits", "waits each step",
                                                                          "waits each layer"};
  c.label = c.lane = mode_name(mode, hip);
  if (in.sync == in.beside_sync) return;
  c.host_words = waits[static_cast<std::size_t>(sync)];
  c.label += ", " + c.host_words;
}

/// How the lower conveyors run, as the end of "a step takes 5 ms ...".
std::string other_way(const Inputs& in, bool hip) {
  std::string way;
  if (in.mode != in.beside) switch (in.beside) {
      case models::LaunchMode::eager:
        way = "in eager mode";
        break;
      case models::LaunchMode::compiled:
        way = "compiled";
        break;
      case models::LaunchMode::graph:
        way = hip ? "with a HIP graph" : "with a CUDA graph";
        break;
      case models::LaunchMode::compiled_graph:
        way = "compiled, with a graph";
        break;
    }
  if (in.sync == in.beside_sync) return way;
  constexpr std::array<std::string_view, models::launch_sync_count> waits{
      "if the host never waits", "if the host waits once", "if the host waits each layer"};
  return way + (way.empty() ? "" : ", ") + std::string(waits[static_cast<std::size_t>(in.beside_sync)]);
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const bool graph = in.mode == models::LaunchMode::graph || in.mode == models::LaunchMode::compiled_graph;
  const std::string step = figure(out.now.step_s, "s") + " step";
  const std::string idles = "; the GPU idles " + figure(out.now.idle, "%") + ".";
  if (out.host_bound && graph)
    return "The host sets the pace: one launch of the graph takes " + figure(out.now.host_s, "s") + " of the " + step +
           idles;
  if (out.host_bound)
    return "The host sets the pace: " + figure(static_cast<double>(out.now.launches), "") +
           (out.now.launches == 1 ? " launch takes " : " launches take ") + figure(out.now.host_s, "s") + " of the " +
           step + idles;
  return std::string("The GPU sets the pace: ") +
         (graph ? "one launch brings all kernels, which take " : "its kernels take ") + figure(out.kernels_s, "s") +
         " of the " + step + "; it idles " + figure(out.now.idle, "%") + ".";
}

/// What would help: a faster GPU, the other mode; and what is assumed.
std::string answer_of(const Inputs& in, const Outputs& out, bool hip) {
  std::string why;
  if (!one_mode(in)) why = figure(out.beside.step_s, "s") + " " + other_way(in, hip);
  if (in.sync == models::LaunchSync::layer && why.empty())
    why = figure(out.sync_layer_s, "s") + " more than when the host never waits";
  const std::string twice = "A GPU twice as fast makes the step " + figure(out.twice, widgets::times_unit) + " as fast";
  if (hip && in.launching.host != LaunchedBy::own)
    why = "HIP is assumed to launch as fast as CUDA" + (why.empty() ? "" : "; the step takes " + why) + ".";
  else
    why = twice + (why.empty() ? "" : "; the step takes " + why) + ".";
  return verdict_of(in, out) + "\n" + why;
}

/// One step over the batch, in both modes, on a faster GPU, and the launches alone.
void arrange_curves(const Inputs& in, const Run& run, Picture& p) {
  if (run.steps.empty()) return;
  const auto add = [&](std::string label, std::string info, Tint tint, bool dashed, double BatchSteps::*value) {
    widgets::Curve curve{
        .label = std::move(label), .info = std::move(info), .tint = tint, .dashed = dashed, .named = false};
    for (const BatchSteps& s : run.steps) curve.add(s.batch, s.*value);
    p.over_batch.push_back(std::move(curve));
  };
  add(p.modes[0].label, "simulated, launch by launch", Tint::yours(), false, &BatchSteps::now_s);
  if (!one_mode(in))
    add(p.modes[1].label, "simulated, launch by launch", Tint::series(2), false, &BatchSteps::beside_s);
  add("on a GPU twice as fast", "every kernel half as long, the same launches", Tint::yours(), true,
      &BatchSteps::twice_s);
  add("launches alone", "launches x a launch", Tint(), true, &BatchSteps::host_s);
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.now.run.events.empty()) return p;
  const std::int64_t window_ns = std::max(first_layer_ns(run.now), first_layer_ns(run.beside));
  p.window_s = static_cast<double>(window_ns) * 1e-9;
  const auto graph = [](models::LaunchMode m) {
    return m == models::LaunchMode::graph || m == models::LaunchMode::compiled_graph;
  };
  const auto between_ns = [&](models::LaunchMode m) {
    return std::llround((graph(m) ? run.host.graph_between_s : run.host.between_s) * 1e9);
  };
  p.modes[0] = conveyors_of(p, run.now, window_ns, between_ns(in.mode), graph(in.mode));
  p.modes[1] = conveyors_of(p, run.beside, window_ns, between_ns(in.beside), graph(in.beside));
  p.twice = faster_of(p, run.twice, out, window_ns, between_ns(in.mode), graph(in.mode));
  add_sums(p, p.modes[0], run.now, run.host, in.mode, window_ns);
  add_sums(p, p.modes[1], run.beside, run.host, in.beside, window_ns);
  add_sums(p, p.twice, run.twice, run.host, in.mode, window_ns);
  name_conveyors(p.modes[0], in, in.mode, in.sync, run.hip);
  name_conveyors(p.modes[1], in, in.beside, in.beside_sync, run.hip);
  p.with_ghost = p.modes[0].device;
  for (widgets::TimelineSpan span : p.twice.device)
    if (span.mark == TimelineMark::pale) {
      span.depth = 1;
      p.with_ghost.push_back(span);
    }
  arrange_curves(in, run, p);
  p.answer = answer_of(in, out, run.hip);
  return p;
}

}  // namespace chapters::framework::launch
