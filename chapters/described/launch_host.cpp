#include "chapters/described/launch_host.h"

#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters {
namespace {

const Choices& launch_host_choices() {
  static const Choices choices = choices_in_order<LaunchedBy::own>(
      {{"h100_qwen", "Recorded: H100, Qwen", "16.7 \xC2\xB5s per launch; with the profiler and Python's stacks on."},
       {"h100_timesformer", "Recorded: H100, TimeSformer", "41 \xC2\xB5s per launch, with the profiler on."},
       {"a100", "Recorded: A100", "30 \xC2\xB5s per launch, with the profiler on."},
       {"v100", "Recorded: V100, ResNet", "39 \xC2\xB5s per launch, with the profiler on."},
       {"own", "My own", "Your own time from launch to launch."}});
  return choices;
}

}  // namespace

void describe_launch_host(Fields& f, LaunchHostInputs& in) {
  f.choice("host", in.host, launch_host_choices(), "Host", "Whose times of launching kernel by kernel are used.");
  f.real("launch_s", in.launch_s, {"Time per launch", "s"},
         "From one launch of the host to its next, Python and dispatch included.",
         {.range = {1e-6, 2e-4, Scale::log}, .when = {"host", "own"}});
  f.real("latency_s", in.latency_s, {"On its way", "s"}, "From the end of a launch to its kernel on an idle device.",
         {.range = {1e-7, 5e-5, Scale::log}, .when = {"host", "own"}});
  f.real("between_s", in.between_s, {"Between kernels", "s"}, "On the device, when both were there.",
         {.range = {1e-7, 2e-5, Scale::log}, .when = {"host", "own"}});
}

void describe_graph_launches(Fields& f, LaunchHostInputs& in) {
  f.real("graph_launch_s", in.graph_launch_s, {"Launch of a graph", "s"},
         "What the host takes for all kernels of a step. Assumed.", {.range = {1e-6, 1e-3, Scale::log}});
  f.real("graph_between_s", in.graph_between_s, {"Gap in a graph", "s"},
         "Between two kernels of a graph. Assumed; recorded graphs on an MI300 have a median of 0.",
         {.range = {1e-8, 2e-5, Scale::log}});
  f.real("least_kernel_s", in.least_kernel_s, {"Smallest kernel", "s"},
         "However little it does: 1.6 \xC2\xB5s are the shortest hundredth of an H100 recording.",
         {.range = {1e-7, 2e-5, Scale::log}});
}

models::LaunchHost host_of(const LaunchHostInputs& in) {
  models::LaunchHost host{.launch_s = in.launch_s, .latency_s = in.latency_s, .between_s = in.between_s};
  if (in.host != LaunchedBy::own) {
    const models::RecordedLaunches& r = models::recorded_launches()[static_cast<std::size_t>(in.host)];
    host = {.launch_s = r.interval_s, .latency_s = r.latency_s, .between_s = r.between_s};
  }
  host.graph_launch_s = in.graph_launch_s;
  host.graph_between_s = in.graph_between_s;
  return host;
}

void link_launch_host(LinkWriter& link, const LaunchHostInputs& in) {
  link.choice("host", launch_host_choices()[static_cast<std::size_t>(in.host)].id);
  link.number("launch_s", in.launch_s);
  link.number("latency_s", in.latency_s);
  link.number("between_s", in.between_s);
  link.number("graph_launch_s", in.graph_launch_s);
  link.number("graph_between_s", in.graph_between_s);
  link.number("least_kernel_s", in.least_kernel_s);
}

models::Phase phase_of(LaunchedPhase phase) {
  return phase == LaunchedPhase::decode ? models::Phase::decode : models::Phase::prefill;
}

void describe_launched_phase(Fields& f, LaunchedPhase& phase, std::string_view help) {
  static const Choices launched = [] {
    Choices out = shared::phases();
    std::erase_if(out, [](const Choice& c) { return c.id == "train"; });
    return out;
  }();
  f.choice("phase", phase, launched, "Phase", help, shared::detail::details("workload.phase", {}));
}

}  // namespace chapters
