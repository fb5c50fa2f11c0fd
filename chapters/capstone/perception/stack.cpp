#include "chapters/capstone/perception/stack.h"

#include <algorithm>
#include <cmath>

#include "models/realtime/jitter_summary.h"
#include "widgets/number/number.h"

namespace chapters::capstone::perception {
namespace {

using models::StackResource, models::StackRole, models::StackTask;

/// The source of jitter that a hot day turns on and locked clocks turn off.
constexpr std::string_view throttling = "Thermal throttle";

bool is_network(const StackTask& t) { return t.role != StackRole::classic; }

/// Compiles the networks that `which` picks. Returns whether one was found that was not compiled before.
template <class Which>
bool compile(const Settings& settings, Stack& stack, Which which) {
  bool any = false;
  stack.compiled.resize(stack.tasks.size());
  for (std::size_t i = 0; i < stack.tasks.size(); ++i) {
    StackTask& t = stack.tasks[i];
    if (stack.compiled[i] || !is_network(t) || !which(t)) continue;
    t.duration_s *= t.tuned_s / std::max(1e-9, t.duration_s);
    if (stack.int8) t.duration_s /= settings.int8_speedup;
    stack.compiled[i] = any = true;
  }
  return any;
}

/// The classic task that is first or last in a frame, or none.
StackTask* classic_end(Stack& stack, bool first) {
  for (std::size_t k = 0; k < stack.tasks.size(); ++k) {
    StackTask& t = stack.tasks[first ? k : stack.tasks.size() - 1 - k];
    if (!is_network(t)) return &t;
  }
  return nullptr;
}

/// The last network that is neither an encoder nor a head: the forecast.
std::size_t forecast_of(const Stack& stack) {
  std::size_t found = stack.tasks.size();
  for (std::size_t i = 0; i < stack.tasks.size(); ++i)
    if (stack.tasks[i].role == StackRole::network) found = i;
  return found;
}

models::JitterSource* source_named(Stack& stack, std::string_view name) {
  for (models::JitterSource& s : stack.sources)
    if (s.name == name) return &s;
  return nullptr;
}

/// Switches sources off; whether one of them was on.
bool silence(Stack& stack, std::initializer_list<std::string_view> names) {
  bool any = false;
  for (const std::string_view name : names)
    if (models::JitterSource* s = source_named(stack, name); s != nullptr && s->on) {
      s->on = false;
      any = true;
    }
  return any;
}

std::string tune(StackTask* task) {
  if (task == nullptr || task->tuned_s >= task->duration_s) return "It is tuned already: there is nothing left to win.";
  task->duration_s = task->tuned_s;
  return "";
}

std::string switch_on(bool& what, const char* already) {
  if (what) return already;
  what = true;
  return "";
}

std::string to_int8(const Settings& settings, Stack& stack) {
  if (stack.int8) return "The engines run in 8-bit integers already.";
  if (std::find(stack.compiled.begin(), stack.compiled.end(), true) == stack.compiled.end())
    return "Only a compiled engine runs in 8-bit integers: compile a network first.";
  stack.int8 = true;
  for (std::size_t i = 0; i < stack.tasks.size(); ++i)
    if (stack.compiled[i]) stack.tasks[i].duration_s /= settings.int8_speedup;
  return "";
}

std::string to_dla(const Settings& settings, Stack& stack) {
  if (stack.units[static_cast<std::size_t>(StackResource::dla)] < 1) return "This chip has no DLA.";
  for (StackTask& t : stack.tasks) {
    if (t.role != StackRole::head || t.resource != StackResource::gpu) continue;
    t.resource = StackResource::dla;
    t.duration_s *= settings.dla_slowdown;
    t.tuned_s *= settings.dla_slowdown;
    return "";
  }
  return "No head is left on the GPU.";
}

std::string to_pinned(const Settings& settings, Stack& stack) {
  models::JitterSource* s = source_named(stack, "Memory contention");
  if (s == nullptr || !s->on || s->size_s <= settings.pinned_contention_s)
    return "Nothing contends for memory here: there is nothing to win.";
  s->size_s = settings.pinned_contention_s;
  return "";
}

}  // namespace

std::vector<StackTask> car_tasks() {
  std::vector<StackTask> tasks = models::example_stack();
  for (StackTask& t : tasks)
    if (t.name == "Tracking") t.duration_s = t.tuned_s = 2e-3;
  return tasks;
}

std::vector<models::JitterSource> car_sources() {
  std::vector<models::JitterSource> sources = models::example_sources();
  set_throttling(sources, false);
  return sources;
}

void set_throttling(std::vector<models::JitterSource>& sources, bool on) {
  const auto is_it = [](const models::JitterSource& s) { return s.name == throttling; };
  auto found = std::find_if(sources.begin(), sources.end(), is_it);
  if (found == sources.end()) {
    if (!on) return;
    const std::vector<models::JitterSource> examples = models::example_sources();
    found = sources.insert(found, *std::find_if(examples.begin(), examples.end(), is_it));
  }
  found->on = on;
}

std::string apply(const Settings& settings, Move move, Stack& stack) {
  const auto compiled = [&](bool done) {
    return done ? std::string{} : std::string("It is compiled already: there is nothing left to win.");
  };
  switch (move) {
    case Move::engine_backbone:
      return compiled(compile(settings, stack, [](const StackTask& t) { return t.role == StackRole::encoder; }));
    case Move::engine_heads:
      return compiled(compile(settings, stack, [](const StackTask& t) { return t.role == StackRole::head; }));
    case Move::engine_prediction:
      return compiled(compile(settings, stack, [](const StackTask& t) { return t.role == StackRole::network; }));
    case Move::int8:
      return to_int8(settings, stack);
    case Move::camera:
      return tune(classic_end(stack, true));
    case Move::planning:
      return tune(classic_end(stack, false));
    case Move::fusion:
      return switch_on(stack.fusion, "Heads reuse features already.");
    case Move::alternate:
      if (forecast_of(stack) == stack.tasks.size()) return "No network forecasts in this stack.";
      return switch_on(stack.alternate, "The forecast runs for every second frame already.");
    case Move::dla:
      return to_dla(settings, stack);
    case Move::pools:
      return silence(stack, {"Allocation", "Garbage collection"}) ? "" : "Nothing is allocated in the loop here.";
    case Move::pinned:
      return to_pinned(settings, stack);
    case Move::clocks:
      if (stack.clocks) return "Clocks are locked already.";
      silence(stack, {throttling, "Scheduler"});
      stack.clocks = true;
      return "";
    case Move::skip:
      return switch_on(stack.skip, "Frames are dropped already while the stack is busy.");
    case Move::pipelining:
      return switch_on(stack.pipelining, "A frame starts before the one before has ended already.");
    case Move::parallel_heads:
      return switch_on(stack.parallel_heads, "The heads run at the same time already.");
    case Move::shared_backbone:
      break;
  }
  return switch_on(stack.shared_backbone, "All heads share one encoder already.");
}

namespace {

constexpr std::size_t steady_frames = 8;

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// The graph of a frame. Of a forecast that runs for every second frame, that with it.
models::Result<models::TaskGraph> graph_of(const Settings& settings, const Stack& stack) {
  return models::stack_graph(stack.tasks, stack.units,
                             {.shared_backbone = stack.shared_backbone,
                              .temporal_fusion = stack.fusion,
                              .parallel_heads = stack.parallel_heads,
                              .temporal_saving = settings.fusion_saving});
}

/// What the schedule says of a frame: found on an empty machine, and from it to the next where one always waits.
struct FrameTimes {
  double lone_s = 0, beat_s = 0;
  std::vector<double> work_ns;  ///< by resource, over its units
  models::GraphSchedule lone;
};

models::Result<FrameTimes> times_of(const models::TaskGraph& graph, bool pipelined) {
  using Made = models::Result<FrameTimes>;
  auto lone = models::schedule_frames(graph, {.frames = 1});
  if (!lone) return Made::fail(lone.error);
  FrameTimes out{.work_ns = models::work_per_unit_ns(graph), .lone = std::move(*lone)};
  out.beat_s = out.lone_s = seconds_of(out.lone.frames[0].latency_ns());
  if (pipelined) {
    const auto rate = models::sustained_rate_hz(graph, {.pipelined = true});
    if (!rate) return Made::fail(rate.error);
    out.beat_s = *rate > 0 ? 1 / *rate : 0;
  }
  return Made::ok(std::move(out));
}

/// Every second frame of a stack that forecasts for the other half alone: the same tasks, the forecast in no time.
models::Result<FrameTimes> light_times(const Settings& settings, const Stack& stack) {
  Stack other = stack;
  other.tasks[forecast_of(stack)].duration_s = 0;
  const auto graph = graph_of(settings, other);
  if (!graph) return models::Result<FrameTimes>::fail(graph.error);
  return times_of(*graph, stack.pipelining);
}

/// A frame in which features cannot be reused, beyond one in which they can.
double redone_s(const Settings& settings, const Stack& stack, double latency_s) {
  Stack other = stack;
  other.fusion = false;
  const auto graph = graph_of(settings, other);
  if (!graph) return 0;
  const auto s = models::schedule_frames(*graph, {.frames = 1});
  return s ? std::max(0.0, seconds_of(s->frames[0].latency_ns()) - latency_s) : 0;
}

struct Scheduled {
  Outcome outcome;
  FrameTimes full;   ///< a frame with all its tasks
  FrameTimes light;  ///< one without its forecast; the same as `full` where every frame has one
};

void fill_path(const models::GraphSchedule& s, const std::vector<std::size_t>& chain, Outcome& out) {
  for (const std::size_t i : chain) {
    const models::GraphSegment& g = s.segments[i];
    const double seconds = seconds_of(g.end_ns - g.start_ns);
    if (!out.path.empty() && out.path.back().task == g.task)
      out.path.back().seconds += seconds;
    else if (g.end_ns > g.start_ns)
      out.path.push_back({g.task, seconds});
  }
}

std::string pile_up(const Settings& settings, const std::vector<double>& work_ns) {
  const auto busiest = std::max_element(work_ns.begin(), work_ns.end()) - work_ns.begin();
  return "A frame asks the " + std::string(models::stack_resource_names[static_cast<std::size_t>(busiest)]) + " for " +
         widgets::format_text(work_ns[static_cast<std::size_t>(busiest)] * 1e-9, "s") + " and a new one comes every " +
         widgets::format_text(1 / settings.rate_hz, "s") + ": frames would pile up without end.";
}

Scheduled schedule(const Settings& settings, const Stack& stack, Frame* frame) {
  Scheduled out;
  Outcome& f = out.outcome;
  const auto graph = graph_of(settings, stack);
  if (!graph) return {.outcome = {.bounce = graph.error}};
  auto full = times_of(*graph, stack.pipelining);
  if (!full) return {.outcome = {.bounce = full.error}};
  auto light = stack.alternate ? light_times(settings, stack) : full;
  if (!light) return {.outcome = {.bounce = light.error}};
  out.full = std::move(*full);
  out.light = std::move(*light);
  std::vector<double> work_ns = out.full.work_ns;  // in the mean of both kinds of frames
  for (std::size_t r = 0; r < work_ns.size(); ++r) {
    work_ns[r] = (work_ns[r] + out.light.work_ns[r]) / 2;
    f.asked[r] = work_ns[r] * 1e-9 * settings.rate_hz;
  }
  f.latency_s = out.full.lone_s;
  f.beat_s = (out.full.beat_s + out.light.beat_s) / 2;
  if (stack.pipelining) {
    if (f.beat_s > 1 / settings.rate_hz * (1 + 1e-9)) {
      f.bounce = pile_up(settings, work_ns);
      return out;
    }
    const auto period_ns = static_cast<std::int64_t>(std::llround(1e9 / settings.rate_hz));
    const auto many =
        models::schedule_frames(*graph, {.frames = steady_frames, .period_ns = period_ns, .pipelined = true});
    // Where full frames alone would pile up, one that comes after a light one finds the machine as an empty one is.
    if (many && out.full.beat_s * settings.rate_hz <= 1 + 1e-9)
      f.latency_s = seconds_of(many->frames.back().latency_ns());
  }
  const models::GraphSchedule& lone = out.full.lone;
  const auto chain = models::critical_chain(*graph, lone, 0);
  fill_path(lone, chain, f);
  if (frame != nullptr) *frame = {*graph, lone, chain, models::task_float_ns(*graph, lone, 0)};
  return out;
}

/// What disturbs the frames, with what fusion and a forecast every second frame add to it.
models::JitterInputs jitter_of(const Settings& settings, const Stack& stack, const Scheduled& s) {
  models::JitterInputs in{
      .base_s = std::max(1e-6, s.full.beat_s),
      .rate_hz = settings.rate_hz,
      .frames = settings.frames,
      .seed = settings.seed,
      .sources = stack.sources,
      .policy = stack.skip || !stack.pipelining ? models::JitterPolicy::skip : models::JitterPolicy::wait,
      .each_off = false};
  in.every_second_saves_s = std::clamp(s.full.beat_s - s.light.beat_s, 0.0, in.base_s);
  in.spread = std::min(0.28, settings.spread * (stack.clocks ? 0.5 : 1) * s.outcome.latency_s / in.base_s);
  using enum models::JitterPattern;
  using enum models::JitterShape;
  if (stack.fusion)
    in.sources.push_back({"Features made anew", true, random, settings.fusion_redone, 100, constant,
                          redone_s(settings, stack, s.full.lone_s)});
  return in;
}

/// From the shutter to a plan, frame by frame.
void answer_frames(const Settings& settings, const Stack& stack, const Scheduled& s, models::JitterRun& run,
                   Outcome& out) {
  const double period_s = 1 / settings.rate_hz;
  const auto n = static_cast<std::int64_t>(run.response_s.size());
  // What a plan takes beyond its frame's turn in the queue, of a full frame and of a light one.
  const double full_s = stack.pipelining ? s.outcome.latency_s - s.full.beat_s : 0;
  const double light_s = stack.pipelining ? s.outcome.latency_s - (s.full.lone_s - s.light.lone_s) - s.light.beat_s : 0;
  // Every second frame that is run is a light one; the last is known from how many there are.
  const std::int64_t runs = std::count_if(run.fate.begin(), run.fate.end(),
                                          [](models::FrameFate fate) { return fate != models::FrameFate::skipped; });
  bool light = runs % 2 == 0;
  double next_s = s.outcome.latency_s;  // of the plan made next, from that frame's shutter
  double sum_s = 0;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    float& response = run.response_s[static_cast<std::size_t>(i)];
    if (run.fate[static_cast<std::size_t>(i)] == models::FrameFate::skipped) {
      ++out.unseen;
      next_s += period_s;
    } else {
      next_s = static_cast<double>(response) + (light ? light_s : full_s);
      light = !light;
    }
    response = static_cast<float>(next_s);
    out.late += next_s > period_s * (1 + 1e-9);
    out.worst_s = std::max(out.worst_s, next_s);
    sum_s += next_s;
  }
  out.mean_s = sum_s / static_cast<double>(n);
}

}  // namespace

models::JitterInputs disturbances_of(const Settings& settings, const Stack& stack) {
  return jitter_of(settings, stack, schedule(settings, stack, nullptr));
}

Outcome schedule_only(const Settings& settings, const Stack& stack, Frame* frame) {
  return schedule(settings, stack, frame).outcome;
}

Outcome simulate(const Settings& settings, const Stack& stack, Tail* tail, Frame* frame) {
  const Scheduled s = schedule(settings, stack, frame);
  Outcome out = s.outcome;
  if (!out.bounce.empty()) return out;
  auto run = models::run_jitter(jitter_of(settings, stack, s));
  if (!run) {
    out.bounce = run.error;
    return out;
  }
  answer_frames(settings, stack, s, *run, out);
  if (tail != nullptr) {
    tail->share.assign(tail_bins, 0);
    const float one = 1 / static_cast<float>(run->response_s.size());
    for (const float r : run->response_s)
      tail->share[std::min<std::size_t>(tail_bins - 1,
                                        static_cast<std::size_t>(static_cast<double>(r) / tail->bin_s))] += one;
  }
  out.p50_s = models::percentile_in_place(run->response_s, 0.5);
  out.p99_s = models::percentile_in_place(run->response_s, 0.99);
  out.p999_s = models::percentile_in_place(run->response_s, 0.999);
  return out;
}

}  // namespace chapters::capstone::perception
