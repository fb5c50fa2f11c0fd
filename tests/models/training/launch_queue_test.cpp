#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/trace/measure/metrics.h"
#include "models/training/launch_queue.h"
#include "models/training/step_simulation.h"
#include "tests/models/trace/files.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using support::near;

namespace {

/// So many kernels of one length in so many layers.
LaunchList equal_kernels(std::int64_t layers, std::int64_t a_layer, std::int64_t duration_ns) {
  LaunchList list;
  list.layers = layers;
  for (std::int64_t l = 0; l < layers; ++l)
    for (std::int64_t k = 0; k < a_layer; ++k)
      list.kernels.push_back({duration_ns, 0, static_cast<std::int32_t>(l + 1)});
  list.kernels_s = static_cast<double>(layers * a_layer * duration_ns) * 1e-9;
  return list;
}
void check_sum(const LaunchRun& r) {
  CHECK(r.busy_ns + r.host_wait_ns + r.between_ns == r.end_ns - r.origin_ns);
  for (std::size_t i = 1; i < r.events.size(); ++i) CHECK(r.events[i].start_ns >= r.events[i - 1].end_ns);
}

}  // namespace

TEST_CASE("launch queue: the slower of host and device sets the pace, and busy and idle add up") {
  const LaunchHost host{.launch_s = 10e-6, .latency_s = 2e-6, .between_s = 1e-6};
  const LaunchRun slow_host = run_launches(equal_kernels(10, 40, 3000), host, LaunchMode::eager, LaunchSync::none);
  check_sum(slow_host);
  CHECK(slow_host.end_ns - slow_host.origin_ns == 400 * 10000);  // a launch each 10 us
  CHECK(slow_host.most_queued == 1);
  // Twice as fast a device changes nothing.
  const LaunchRun faster = run_launches(equal_kernels(10, 40, 1500), host, LaunchMode::eager, LaunchSync::none);
  CHECK(faster.end_ns - faster.origin_ns == slow_host.end_ns - slow_host.origin_ns);
  const LaunchRun slow_device = run_launches(equal_kernels(10, 40, 30000), host, LaunchMode::eager, LaunchSync::none);
  check_sum(slow_device);
  CHECK(slow_device.end_ns - slow_device.origin_ns == 400 * 31000);
  CHECK(slow_device.host_wait_ns == 0);
  CHECK(slow_device.most_queued > 300);
  const LaunchRun graph = run_launches(equal_kernels(10, 40, 3000), host, LaunchMode::graph, LaunchSync::none);
  check_sum(graph);
  CHECK(graph.end_ns - graph.origin_ns == 400 * 4000);
  CHECK(graph.launches == 1);
}

TEST_CASE("launch queue: a queue of so many holds the host back, and a sync drains it") {
  LaunchHost host{.launch_s = 1e-6, .latency_s = 2e-6, .between_s = 1e-6, .queue_depth = 16};
  const LaunchRun held = run_launches(equal_kernels(10, 40, 9000), host, LaunchMode::eager, LaunchSync::none);
  check_sum(held);
  CHECK(held.most_queued <= 17);
  CHECK(held.end_ns - held.origin_ns == 400 * 10000);
  host.queue_depth = 1024;
  const LaunchRun read = run_launches(equal_kernels(10, 40, 9000), host, LaunchMode::eager, LaunchSync::layer);
  check_sum(read);
  // Each layer: the host comes back 2 us after it, launches in 1 us, and the kernel begins 2 us later: 5 in place of 1.
  CHECK(read.end_ns - read.origin_ns == 10 * (40 * 10000 + 4000));
  const LaunchRun once = run_launches(equal_kernels(10, 40, 9000), host, LaunchMode::eager, LaunchSync::step);
  CHECK(once.end_ns - once.origin_ns == 400 * 10000 + 4000);
}

TEST_CASE("launch queue: Llama's eager layer is 40 kernels, its compiled one fewer, and a batch covers the launches") {
  const LanguageModel& model = models_test::shipped_model("llama-3-8b");
  const Machine h100{.peak_flops_per_s = 989.4e12, .bandwidth_bytes_per_s = 3.35e12};
  const Workload decode{.phase = Phase::decode, .context = 4096};
  const auto eager = launch_list(model.architecture, decode, h100, false, 1.5e-6);
  REQUIRE(eager);
  CHECK(eager->layers == 32);
  CHECK(eager->kernels.size() == 32 * 40 + 1 + 8 + 1);  // embedding, last norm, logits
  const auto compiled = launch_list(model.architecture, decode, h100, true, 1.5e-6);
  REQUIRE(compiled);
  CHECK(compiled->kernels.size() < eager->kernels.size() / 2);
  const LaunchHost host{.launch_s = 8e-6, .latency_s = 1.4e-6, .between_s = 1.7e-6};
  const auto batch = batch_without_launch_cost(model.architecture, decode, h100, host, false, 1.5e-6);
  REQUIRE(batch);
  const auto cover = [&](std::int64_t b) {
    Workload w = decode;
    w.batch = b;
    const auto list = launch_list(model.architecture, w, h100, false, 1.5e-6);
    return list->kernels_s + static_cast<double>(list->kernels.size()) * (1.7e-6 - 8e-6);
  };
  CHECK(*batch > 1);
  CHECK(cover(*batch) >= 0);
  CHECK(cover(*batch - 1) < 0);
  CHECK(!launch_list(model.architecture, {.phase = Phase::train}, h100, false, 0));
}

TEST_CASE("launch queue: what is measured of a recording is what its host was made with") {
  StepSetup setup;
  setup.launch_s = 20e-6;
  setup.layers = 4;
  setup.kernels_per_layer = 8;
  setup.buckets = 1;
  setup.ranks = 1;
  setup.sync_every = 0;
  setup.loader.workers = 2;
  setup.optimizer = OptimizerCode::fused;
  const auto run = simulate_steps(setup, {.steps = 6, .record_from = 2, .record_traces = true});
  REQUIRE(run);
  const trace::Metrics m = trace::measure(run->traces[0]);
  REQUIRE(m.devices.size() == 1);
  CHECK(m.devices[0].pace.interval_ns == 20'000);
  CHECK(m.devices[0].pace.call_ns == 10'000);  // the second half of each launch is the call
}

TEST_CASE("launch queue: its constants are those of the recordings") {
  for (const RecordedLaunches& r : recorded_launches()) {
    const std::filesystem::path path = trace_test::real_traces() / (std::string(r.file) + ".json.gz");
    if (trace_test::real_traces().empty() || !std::filesystem::exists(path)) continue;
    const auto found = trace::read_trace(support::read_text(path), r.file);
    REQUIRE(found);
    CAPTURE(r.file);
    const trace::Metrics m = trace::measure(*found);
    REQUIRE(!m.devices.empty());
    std::int64_t lead = 0;
    for (const trace::StreamMetrics& s : m.devices[0].streams) lead = std::max(lead, s.queue_max);
    CHECK(lead == r.lead);
    // A kernel whose launch began on a drained stream says how long it was on its way; one that had been there for
    // 20 us, how far apart two kernels stand.
    std::vector<double> way_s, apart_s;
    for (const trace::Track& t : found->tracks) {
      if (t.kind != trace::TrackKind::stream) continue;
      std::int64_t before_ns = -1;
      for (std::uint32_t i = t.first; i < t.first + t.count; ++i) {
        const trace::Event& e = found->events[i];
        if (e.cls != trace::EventClass::computation && e.cls != trace::EventClass::communication) continue;
        if (e.link != trace::none && before_ns >= 0) {
          const trace::Event& call = found->events[e.link];
          const std::int64_t waited_ns = e.start_ns - call.end_ns();
          if (call.start_ns > before_ns)
            way_s.push_back(static_cast<double>(waited_ns) * 1e-9);
          else if (waited_ns > 20'000 && e.start_ns >= before_ns)
            apart_s.push_back(static_cast<double>(e.start_ns - before_ns) * 1e-9);
        }
        before_ns = std::max(before_ns, e.end_ns());
      }
    }
    std::sort(way_s.begin(), way_s.end());
    std::sort(apart_s.begin(), apart_s.end());
    REQUIRE((!way_s.empty() && !apart_s.empty()));
    CHECK(std::abs(way_s[way_s.size() / 2] - r.latency_s) <= 0.15e-6);
    CHECK(std::abs(apart_s[apart_s.size() / 2] - r.between_s) <= 0.15e-6);
    CHECK(near(static_cast<double>(m.devices[0].pace.call_ns) * 1e-9, r.call_s, 0.01));
    CHECK(near(static_cast<double>(m.devices[0].pace.interval_ns) * 1e-9, r.interval_s, 0.01));
  }
}

TEST_CASE("launch queue: the waits of a group of operations add up, and a layer ends with its last kernel") {
  const LaunchHost host{.launch_s = 10e-6, .latency_s = 2e-6, .between_s = 1e-6};
  LaunchList list = equal_kernels(3, 4, 3000);
  list.operations = {{.name = "norm", .group = OperationGroup::norm},
                     {.name = "gate", .group = OperationGroup::output}};
  // Of each layer two short kernels of a norm, then a long product and one that waits behind it.
  for (std::size_t i = 0; i < list.kernels.size(); ++i) {
    list.kernels[i].operation = i % 4 < 2 ? 0 : 1;
    if (i % 4 == 2) list.kernels[i].duration_ns = 25000;
  }
  const LaunchRun run = run_launches(list, host, LaunchMode::eager, LaunchSync::step);
  const auto ends = layer_ends(list, run);
  REQUIRE(ends.size() == 3);
  CHECK(ends[0] == run.events[3].end_ns);
  CHECK(ends[2] == run.end_ns);
  const auto dry = dry_stretches(list, run, host, LaunchMode::eager, 1);
  REQUIRE(dry.size() == 2);
  CHECK(dry[0].group == OperationGroup::norm);
  CHECK(dry[0].kernels == 2);
  CHECK(dry[0].begin_ns == run.origin_ns);
  // The first kernel waits for the host that waited for the step before (2), launched (10), and its way (2): 14 us;
  // the second for the launch that follows 10 us later, of which the first one's 3 us are work.
  CHECK(dry[0].idle_ns == 14000 + 7000);
  CHECK(dry[0].end_ns - dry[0].begin_ns == 14000 + 3000 + 7000 + 3000);
  CHECK(dry[1].kernels == 1);  // the product; what follows it was there in time
  CHECK(dry[1].idle_ns == 7000);
  std::int64_t idle = 0;
  for (const DryStretch& d : dry_stretches(list, run, host, LaunchMode::eager, 3)) idle += d.idle_ns;
  CHECK(idle >= run.host_wait_ns);
  CHECK(idle <= run.host_wait_ns + run.between_ns);
}
