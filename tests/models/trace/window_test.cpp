#include "models/trace/measure/window.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/trace/writers/sample.h"
#include "tests/models/trace/written.h"

// Figures are worked out by hand from the intervals in `recording`, in microseconds since 100.

using namespace models::trace;

namespace {

/// Stream 7: work 0-10, 30-40, 50-55, 100-110; stream 20: a collective 5-20; stream 24: a copy 40-45.
/// The work at 30 is called at 25, on a thread of autograd's; that at 100 at 2, inside the optimizer.
const char* const window_recording =
    R"({"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":99,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":100,"dur":1,"args":{"correlation":5}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":101,"dur":0.5,"args":{"correlation":3}},
{"ph":"X","cat":"user_annotation","name":"Optimizer.step#AdamW.step","pid":9,"tid":9,"ts":101.8,"dur":5,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":102,"dur":1,"args":{"correlation":4}},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: MmBackward0",)"
    R"("pid":9,"tid":10,"ts":124,"dur":4,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":10,"ts":125,"dur":1,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"gemm_a",)"
    R"("pid":0,"tid":7,"ts":100,"dur":10,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce",)"
    R"("pid":0,"tid":20,"ts":105,"dur":15,"args":{"device":0,"stream":20,"correlation":5}},
{"ph":"X","cat":"kernel","name":"Gemm_b",)"
    R"("pid":0,"tid":7,"ts":130,"dur":10,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":24,"ts":140,"dur":5,"args":{"device":0,"stream":24}},
{"ph":"X","cat":"kernel","name":"norm","pid":0,"tid":7,"ts":150,"dur":5,"args":{"device":0,"stream":7,"correlation":3}},
{"ph":"X","cat":"kernel","name":"adam","pid":0,"tid":7,"ts":200,"dur":10,"args":{"device":0,"stream":7,"correlation":4}}
]})";

Trace opened_window() {
  auto read = read_trace(window_recording, "test");
  REQUIRE(read);
  return std::move(*read);
}
constexpr std::int64_t at(double us) { return static_cast<std::int64_t>((us + 100) * 1000); }

}  // namespace

TEST_CASE("a window over everything adds up and names the causes of idle time") {
  const Trace t = opened_window();
  const auto extent = device_extent(t, 0);
  CHECK(extent.first_ns == at(0));
  CHECK(extent.last_ns == at(110));
  const auto m = measure_window(t, 0, extent.first_ns, extent.last_ns);
  CHECK(m.window_ns == 110'000);
  CHECK(m.busy_ns == 50'000);  // 0-20, 30-45, 50-55, 100-110
  CHECK(m.idle_ns == 60'000);
  CHECK(m.comp_ns == 35'000);
  CHECK(m.comm_ns == 15'000);
  CHECK(m.mem_ns == 5'000);
  CHECK(m.comp_and_comm_ns == 5'000);  // 5-10
  CHECK(m.exposed_comm_ns == 10'000);
  CHECK(m.exposed_mem_ns == 5'000);
  CHECK(m.idle.host_wait_ns == 10'000);   // 20-30: called at 25
  CHECK(m.idle.kernel_wait_ns == 5'000);  // 45-50: called long before, under 30 us
  CHECK(m.idle.other_ns == 45'000);       // 55-100: called long before, and not short
  CHECK(m.idle.gaps == 3);
  CHECK(std::abs(m.overlap_pct_of_comm() - 100.0 / 3) <= 1e-9);
}

TEST_CASE("a window over everything agrees with the metrics of the recording") {
  for (const std::string& text : models::sample_traces({
           .fault = models::SampleFault::hidden_sync,
         .ranks = 2,
         .steps = 2,
         .layers = 2,
       })) {
    const auto t = read_trace(text, "sample");
    REQUIRE(t);
    const Metrics all = measure(*t);
    REQUIRE(all.devices.size() == 1);
    const DeviceMetrics& d = all.devices[0];
    const auto x = device_extent(*t, d.device);
    const auto m = measure_window(*t, d.device, x.first_ns, x.last_ns);
    CHECK(m.window_ns == d.span_ns);
    trace_test::check_same_times(m, d);
  }
}

TEST_CASE("a window clips work at its ends, and judges a gap that it cuts by the whole gap") {
  const Trace t = opened_window();
  const auto inside = measure_window(t, 0, at(26), at(35));
  CHECK(inside.events == 1);
  CHECK(inside.busy_ns == 5'000);
  CHECK(inside.idle_ns == 4'000);
  CHECK(inside.idle.host_wait_ns == 4'000);  // the gap began at 20, and the call came at 25
  const auto tail = measure_window(t, 0, at(52), at(60));
  CHECK(tail.busy_ns == 3'000);
  CHECK(tail.idle.other_ns == 5'000);  // 45 us long in all
  const auto empty = measure_window(t, 0, at(60), at(60));
  CHECK(empty.window_ns == 0);
  CHECK(empty.idle_ns == 0);
  CHECK(measure_window(t, 5, at(0), at(110)).busy_ns == 0);  // no such device
}

TEST_CASE("the profile of a recording gives each part's busy share") {
  const auto share = busy_profile(opened_window(), 0, at(0), at(110), 11);
  const std::vector<double> expected{1, 1, 0, 1, 0.5, 0.5, 0, 0, 0, 0, 1};
  REQUIRE(share.size() == expected.size());
  for (std::size_t i = 0; i < share.size(); ++i) CHECK(std::abs(share[i] - expected[i]) <= 1e-9);
}

TEST_CASE("a device's queue is the sum of its streams'") {
  const Trace t = opened_window();
  const auto queue = device_queue(t, 0);
  REQUIRE_FALSE(queue.empty());
  std::int64_t most = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    most = std::max(most, queue[i].length);
    if (i > 0) CHECK(queue[i - 1].time_ns < queue[i].time_ns);
  }
  CHECK(most == 3);  // at 2 the collective, norm and adam have been called and none has started
  CHECK(queue.back().length == 0);
}

TEST_CASE("a search finds either case, and an empty one nothing") {
  const Trace t = opened_window();
  const auto wanted = matching_strings(t, " gemm ");
  std::vector<std::string> found;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) found.push_back(t.strings[i]);
  CHECK(found == std::vector<std::string>{"gemm_a", "Gemm_b"});
  CHECK(matching_strings(t, "  ").empty());
}

TEST_CASE("the launching thread tells forward, backward and optimizer apart") {
  const Trace t = opened_window();
  const auto parts = parts_of(t);
  for (std::size_t i = 0; i < t.events.size(); ++i) {
    const auto name = t.name(t.events[i]);
    if (name == "gemm_a" || name == "norm") CHECK(parts[i] == Part::forward);
    if (name == "Gemm_b") CHECK(parts[i] == Part::backward);
    if (name == "adam") CHECK(parts[i] == Part::optimizer);
  }
}

TEST_CASE("forward and backward on one thread are told apart by autograd's spans") {
  // As PyTorch 1.8 recorded it: one thread calls both. The call at 30 lies inside the engine's span, those at 10 and 50
  // do not.
  std::string text = "[";
  for (int i = 1; i <= 5; i += 2)
    text += R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":)" +
            std::to_string(10 * i) + R"(,"dur":1,"args":{"correlation":)" + std::to_string(i) + R"(}},)" +
            R"({"ph":"X","cat":"kernel","name":"k)" + std::to_string(i) + R"(","pid":0,"tid":7,"ts":)" +
            std::to_string(10 * i + 5) + R"(,"dur":3,"args":{"device":0,"stream":7,"correlation":)" +
            std::to_string(i) + "}},";
  text += R"({"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: MmBackward",)"
          R"("pid":9,"tid":9,"ts":25,"dur":10},{"ph":"X","cat":"cpu_op",)"
          R"("name":"autograd::engine::evaluate_function: MmBackward","pid":9,"tid":9,"ts":26,"dur":1}])";
  const auto t = read_trace(text, "test");
  REQUIRE(t);
  const auto parts = parts_of(*t);
  for (std::size_t i = 0; i < t->events.size(); ++i) {
    const auto name = t->name(t->events[i]);
    if (name == "k1" || name == "k5") CHECK(parts[i] == Part::forward);
    if (name == "k3") CHECK(parts[i] == Part::backward);
  }
}

TEST_CASE("the slowest rank is the one that computes longest, not the one whose step is longest") {
  std::vector<RankStep> steps;
  const double comp[] = {10, 10, 12.5, 10};
  for (std::uint32_t row = 0; row < 4; ++row)
    for (std::uint32_t step = 0; step < 3; ++step)
      steps.push_back({
          .row = row,
          .step = step,
          .step_s = row == 0 ? 20.1 : 20,
          .comp_s = comp[row],
      });
  const auto slow = slowest_rank(steps);
  CHECK(slow.row == 2);
  CHECK(std::abs(slow.excess - 0.25) <= 1e-12);
  CHECK(slowest_rank({steps.begin(), steps.begin() + 3}).row == -1);  // one rank has nobody to be slower than
}

TEST_CASE("a made-up run is the same each time, and keeps the rules of queues and collectives") {
  using models::SampleFault;
  for (const SampleFault fault :
       {SampleFault::none, SampleFault::hidden_sync, SampleFault::data_starved, SampleFault::launch_bound,
        SampleFault::exposed_communication, SampleFault::straggler}) {
    const models::SampleRun run{
        .fault = fault,
        .ranks = 3,
        .steps = 2,
        .layers = 2,
    };
    const auto texts = models::sample_traces(run);
    CHECK(texts == models::sample_traces(run));
    std::vector<std::vector<std::int64_t>> ends;
    for (const auto& text : texts) {
      const auto t = read_trace(text, "sample");
      REQUIRE(t);
      CHECK(t->losses.empty());
      ends.emplace_back();
      for (const Event& e : t->events) {
        if (e.cls == EventClass::communication) ends.back().push_back(e.end_ns());
        if (on_device(e.cls)) {
          REQUIRE(e.link != none);
          CHECK(t->events[e.link].start_ns < e.start_ns);
        }
      }
      for (const Track& track : t->tracks)
        if (track.kind == TrackKind::stream)
          for (std::uint32_t i = track.first + 1; i < track.first + track.count; ++i)
            CHECK(t->events[i - 1].end_ns() <= t->events[i].start_ns);
    }
    CHECK(ends[0].size() == 4);  // a bucket a layer and step
    CHECK(ends[0] == ends[1]);   // a collective ends everywhere at once
    CHECK(ends[0] == ends[2]);
  }
}
